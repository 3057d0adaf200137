"""One way to break each of the doctor's invariants by hand, past every statement of ours.

Each returns the id under which the offender must be found.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

from tests.contract.factories import new_job
from tests.unit.services.world import World, working
from uketsuke.adapters.sql.schedules import PINNED
from uketsuke.domain.job import InputForm, InputPlace, Job, LeasedJob, Redriving, Upload
from uketsuke.domain.lifecycle import Engine, Origin
from uketsuke.domain.schedule import NewSchedule, Overlap, ScheduleKey
from uketsuke.services.ports import AcceptedNew
from uketsuke.services.redrive import new_act

Break = Callable[[World], Awaitable[str]]
_HOUR_MS = 3_600_000


@contextlib.contextmanager
def unchecked(world: World) -> Iterator[None]:
    """Let rows in that the tables' CHECK constraints keep out."""
    world.connection.execute("PRAGMA ignore_check_constraints = ON")
    yield
    world.connection.execute("PRAGMA ignore_check_constraints = OFF")


def sql(world: World, text: str, *params: Any) -> None:
    with unchecked(world):
        world.connection.execute(text, params)


def change(world: World, job: Job, changes: str) -> str:
    text = f"UPDATE jobs SET {changes} WHERE tenant_id = ? AND id = ?"  # noqa: S608 - ours
    sql(world, text, *job.key)
    return job.id


def changing(changes: str, *, of: Callable[[World], Awaitable[Job]]) -> Break:
    """A job of some sort whose columns are changed by hand."""

    async def broken(world: World) -> str:
        return change(world, await of(world), changes)

    return broken


async def waiting(world: World) -> Job:
    return await world.submitted(run_key="nightly")


async def running(world: World, **changes: Any) -> Job:
    job = await world.submitted(**changes)
    lease = world.settings.lease
    found = await world.ports.jobs.lease([job.key], token="t", duration=lease, alone=False)
    assert isinstance(found[job.key], LeasedJob)
    return await world.now(job)


async def run_started(world: World) -> Job:
    """A run whose instance waits for room."""
    world.workflows.full = True
    return await world.submitted(engine=Engine.WORKFLOW)


async def succeeded(world: World) -> Job:
    job = await world.submitted()
    await world.consumed([job], working())
    return await world.now(job)


async def failed(world: World) -> Job:
    job = await world.submitted(max_attempts=1)
    await world.consumed([job], working(result=ValueError()))
    return await world.now(job)


def letter_of(job: Job) -> str:
    return f"dl_{job.id[4:]}"


async def redriven(world: World) -> tuple[Job, Job]:
    """A failed job and its redrive."""
    old = await failed(world)
    act = new_act("key-1", reason="the provider is back", request_id="r-1", ports=world.ports)
    origin = Redriving(letter_id=letter_of(old), job_id=old.id, redrives=1, act=act)
    new = new_job(old.tenant_id, redriving=origin, origin=Origin.REDRIVE)
    admission = await world.ports.jobs.accept(new)
    assert isinstance(admission, AcceptedNew)
    return old, admission.job


async def uploaded(world: World) -> str:
    upload = Upload(
        ref=f"in_{'1' * 26}",
        tenant_id="acme",
        object_key="acme/in_1/x",
        bytes=4,
        sha256="0" * 64,
        content_type="text/plain",
        expires_at=world.ports.clock.now(),
    )
    await world.ports.inputs.record(upload, keep=world.settings.keep_inputs)
    return upload.ref


async def scheduled(world: World) -> tuple[str, str]:
    """A schedule that names an upload: the ids of both."""
    ref = await uploaded(world)
    new = NewSchedule(
        key=ScheduleKey("acme", "nightly"),
        generation="g",
        cron="0 0 * * *",
        timezone="UTC",
        kind="summarize",
        params={},
        input=InputPlace(form=InputForm.REF, bytes=4, refs=(ref,)),
        content=None,
        run_key="schedule:nightly",
        overlap=Overlap.SKIP,
        enabled=True,
        next_at=None,
    )
    assert await world.ports.schedules.put(new)
    return "acme/nightly", ref


async def run_key_held_twice(world: World) -> str:
    await waiting(world)
    second = await world.submitted()
    return change(world, second, "run_key = 'nightly'")


async def id_in_two_tenants(world: World) -> str:
    job = await world.submitted()
    second = await world.submitted(tenant_id="other")
    change(world, second, f"id = '{job.id}'")
    return job.id


async def ended_twice(world: World) -> str:
    job = await succeeded(world)
    sql(
        world,
        "INSERT INTO attempts (tenant_id, job_id, number, lease_token, started_at, ended_at,"
        " outcome, state) VALUES (?, ?, 2, 'late', 1, 1, 'failed', 'failed')",
        *job.key,
    )
    return job.id


async def attempt_without_row(world: World) -> str:
    job = await succeeded(world)
    sql(world, "DELETE FROM attempts WHERE tenant_id = ? AND job_id = ?", *job.key)
    return job.id


async def without_letter(world: World) -> str:
    job = await failed(world)
    sql(world, "DELETE FROM dead_letters WHERE id = ?", letter_of(job))
    return job.id


async def letter_of_unfailed(world: World) -> str:
    job = await failed(world)
    change(world, job, "state = 'canceled'")
    return letter_of(job)


async def misnamed_letter(world: World) -> str:
    job = await failed(world)
    sql(world, "UPDATE dead_letters SET id = 'dl_x' WHERE id = ?", letter_of(job))
    return "dl_x"


async def redriven_without_job(world: World) -> str:
    old, new = await redriven(world)
    sql(world, "DELETE FROM jobs WHERE tenant_id = ? AND id = ?", *new.key)
    return letter_of(old)


async def links_that_differ(world: World) -> str:
    old, new = await redriven(world)
    change(world, old, "redriven_to = NULL")
    change(world, new, "redriven_from = 'job_x'")
    return letter_of(old)


async def open_letter_with_redrive(world: World) -> str:
    job = await failed(world)
    change(world, job, "redriven_to = 'job_x'")
    return letter_of(job)


async def redrive_without_letter(world: World) -> str:
    _, new = await redriven(world)
    second = await world.submitted()
    return change(world, second, f"redriven_from = '{new.redriven_from}', origin = 'redrive'")


async def unexplained_letter(world: World) -> str:
    job = await failed(world)
    sql(
        world,
        "UPDATE dead_letters SET status = 'discarded', resolved_by = 'key-1', resolved_at = 1,"
        " reason = 'why' WHERE id = ?",
        letter_of(job),
    )
    return letter_of(job)


async def undone_act(world: World) -> str:
    old, _ = await redriven(world)
    undo = "status = 'open', redriven_to = NULL, resolved_at = NULL, resolved_by = NULL"
    sql(world, f"UPDATE dead_letters SET {undo}, reason = NULL")  # noqa: S608 - ours
    change(world, old, "redriven_to = NULL")
    return letter_of(old)


async def bulk_redrive(world: World, **changes: Any) -> str:
    values = {
        "id": "rd_1", "state": "done", "reason": "why", "rate_per_minute": 1, "canary": 0,
        "total": 1, "created_at": _now(world), "created_by": "key-1", "request_id": "r",
        "all_seen": 1, "paced_at": 1, "looked_at": _now(world), "finished_at": 1, "closed_at": 1,
        "started": 0, "succeeded": 0, "failed": 0, "canceled": 0, **changes,
    }  # fmt: skip
    marks = ", ".join("?" * len(values))
    text = f"INSERT INTO redrives ({', '.join(values)}) VALUES ({marks})"  # noqa: S608 - ours
    sql(world, text, *values.values())
    return "rd_1"


async def bulk_redrive_left(world: World) -> str:
    gone = dict.fromkeys(("finished_at", "closed_at", "started", "succeeded", "failed", "canceled"))
    return await bulk_redrive(world, state="running", looked_at=1, **gone)


async def letter_of_no_bulk(world: World) -> str:
    await redriven(world)
    sql(world, "UPDATE dead_letters SET redrive_id = 'rd_x'")
    return "rd_x"


async def wrong_figures(world: World) -> str:
    await redriven(world)
    sql(world, "UPDATE dead_letters SET redrive_id = 'rd_1'")
    return await bulk_redrive(world, started=99)


async def lost_trigger(world: World) -> str:
    sql(world, "DROP TRIGGER attempts_usage_days")
    return "attempts_usage_days"


async def stray_alert(world: World) -> str:
    sql(
        world,
        "INSERT INTO alerts (name, state, looked_at, since, fired_at)"
        " VALUES ('gone', 'firing', 1, 1, 1)",
    )
    return "gone"


async def object_gone(world: World) -> str:
    job = await succeeded(world)
    place = """'{"attempt": 1, "bytes": 9, "object_key": "acme/x", "content_type": "a/b"}'"""
    return change(world, job, f"result = {place}")


async def submission_left(world: World) -> str:
    job = await succeeded(world)
    for table in ("attempts WHERE job_id", "jobs WHERE id"):
        sql(world, f"DELETE FROM {table} = ?", job.id)  # noqa: S608 - ours
    sql(world, "DELETE FROM usage_days")
    return job.id


async def rows_left(world: World) -> str:
    job = await succeeded(world)
    for table in ("submissions WHERE job_id", "jobs WHERE id"):
        sql(world, f"DELETE FROM {table} = ?", job.id)  # noqa: S608 - ours
    sql(world, "DELETE FROM usage_days")
    return job.id


async def job_without_submission(world: World) -> str:
    job = await world.submitted()
    sql(world, "DELETE FROM submissions WHERE job_id = ?", job.id)
    return job.id


async def short_lived_input(world: World) -> str:
    ref = await uploaded(world)
    job = await world.submitted(form=InputForm.REF, content=None, refs=(ref,))
    sql(world, "UPDATE inputs SET expires_at = ?", _now(world) + 60_000)
    return job.id


async def unpinned_schedule(world: World) -> str:
    schedule, _ = await scheduled(world)
    sql(world, "UPDATE inputs SET expires_at = ?", _now(world) + 60_000)
    return schedule


async def pin_of_nobody(world: World) -> str:
    _, ref = await scheduled(world)
    sql(world, "DELETE FROM schedules")
    job = await succeeded(world)
    change(world, job, f"expires_at = {PINNED}")
    return ref


async def usage_that_differs(world: World) -> str:
    await succeeded(world)
    sql(world, "UPDATE usage_days SET attempts = attempts + 1 WHERE model = 'm'")
    return "acme/2026-11-29/summarize//m"


async def sweep_that_stopped(world: World) -> str:
    job = await world.submitted(deadline=world.settings.default_deadline)
    await asyncio.sleep(1200)
    return job.id


async def duty_not_done(world: World) -> str:
    await world.ports.sweeping.claim_duty("wake", token="t", lease=world.settings.lease)
    await world.ports.sweeping.finish_duty("wake", token="t", done=True)
    await asyncio.sleep(3600)
    return "wake"


async def duty_held_for_good(world: World) -> str:
    until = _now(world) + 1000 * _HOUR_MS
    sql(world, "INSERT INTO duties (name, lease_token, leased_until) VALUES ('x', 't', ?)", until)
    return "x"


async def overdue_schedule(world: World) -> str:
    schedule, _ = await scheduled(world)
    sql(world, "UPDATE schedules SET next_at = 1")
    return schedule


async def occurrence_left(world: World) -> str:
    sql(
        world,
        "INSERT INTO occurrences (tenant_id, schedule, generation, due_at, job_id, state,"
        " recorded_at) VALUES ('acme', 'nightly', 'g', 1, 'job_x', 'recorded', 1)",
    )
    return "job_x"


async def started_nothing(world: World) -> str:
    schedule, _ = await scheduled(world)
    told = "last_at = ?, last_outcome = 'started', last_job_id = 'job_x'"
    sql(world, f"UPDATE schedules SET {told}", _now(world))  # noqa: S608 - ours
    return schedule


async def doomed(world: World) -> str:
    sql(world, "INSERT INTO doomed_instances (id, doomed_at) VALUES ('job_x-1', 1)")
    return "job_x-1"


async def probe_of_nobody(world: World) -> str:
    now = _now(world)
    sql(
        world,
        "INSERT INTO lanes VALUES ('p/m', ?1, ?1, ?1 + 60000, 'throttled', 'c', 1, 1, 'f', 'acme',"
        " 'job_x', 't')",
        now,
    )
    return "p/m"


def _now(world: World) -> int:
    return int(world.ports.clock.now().timestamp() * 1000)


BREAKS: dict[str, Break] = {
    "job_past_its_end": changing("deadline_at = 1", of=waiting),
    "running_without_lease": changing("lease_token = NULL, leased_until = NULL", of=running),
    "lease_without_run": changing("lease_token = 't', leased_until = 1", of=waiting),
    "lease_over_for_long": changing("leased_until = 1", of=running),
    "lease_too_long": changing(f"leased_until = leased_until + {_HOUR_MS}", of=running),
    "ended_job_still_live": changing("live_run_key = 'k', wake_at = 1", of=succeeded),
    "state_and_times": changing("finished_at = NULL, expires_at = NULL", of=failed),
    "end_unexplained": changing("error_class = NULL", of=failed),
    "live_job_without_wake": changing("wake_at = NULL", of=waiting),
    "run_key_not_held": changing("live_run_key = NULL", of=waiting),
    "run_key_held_twice": run_key_held_twice,
    "job_id_in_two_tenants": id_in_two_tenants,
    "ended_twice": ended_twice,
    "attempts_beyond_max": changing("attempts = 9", of=waiting),
    "attempt_rows": attempt_without_row,
    "attempts_add_up": changing("attempts = 0", of=succeeded),
    "crashed_in_company": changing("error_class = 'crashed', leased_alone = 0", of=failed),
    "failed_without_letter": without_letter,
    "letter_of_unfailed_job": letter_of_unfailed,
    "letter_misnamed": misnamed_letter,
    "redriven_without_job": redriven_without_job,
    "redrive_links": links_that_differ,
    "open_letter_with_redrive": open_letter_with_redrive,
    "redrive_without_letter": redrive_without_letter,
    "letter_unexplained": unexplained_letter,
    "act_undone": undone_act,
    "redrive_left": bulk_redrive_left,
    "redrive_unknown": letter_of_no_bulk,
    "redrive_figures": wrong_figures,
    "result_missing": attempt_without_row,
    "result_object_missing": object_gone,
    "object_of_another_tenant": changing(
        """input = '{"form": "text", "bytes": 1, "object_key": "other/x"}'""", of=waiting
    ),
    "job_without_submission": job_without_submission,
    "submission_without_job": submission_left,
    "rows_outlive_job": rows_left,
    "content_past_retention": changing("expires_at = 1", of=succeeded),
    "input_expires_early": short_lived_input,
    "schedule_input_not_kept": unpinned_schedule,
    "pin_without_schedule": pin_of_nobody,
    "reserved_without_run": changing("reserved_micros = 5", of=waiting),
    "job_cost_disagrees": changing("charged_micros = 7", of=succeeded),
    "usage_day_disagrees": usage_that_differs,
    "wake_overdue": sweep_that_stopped,
    "duty_overdue": duty_not_done,
    "duty_lease_stuck": duty_held_for_good,
    "schedule_overdue": overdue_schedule,
    "occurrence_left": occurrence_left,
    "started_without_job": started_nothing,
    "doomed_left": doomed,
    "probe_of_nobody": probe_of_nobody,
    "guard_missing": lost_trigger,
    "alert_stray": stray_alert,
}


async def sweep_that_never_ran(world: World) -> str:
    await world.submitted()
    await asyncio.sleep(1200)
    return "sweep"


async def upload_of_another(world: World) -> str:
    ref = await uploaded(world)
    sql(world, "UPDATE inputs SET object_key = 'other/x'")
    return ref


async def occurrence_of_no_job(world: World) -> str:
    sql(
        world,
        "INSERT INTO occurrences (tenant_id, schedule, generation, due_at, job_id, state,"
        " recorded_at) VALUES ('acme', 'nightly', 'g', ?1, 'job_x', 'started', ?1)",
        _now(world),
    )
    return "acme/nightly"


async def half_resolved_letter(world: World) -> str:
    job = await failed(world)
    sql(world, "UPDATE dead_letters SET resolved_at = 1 WHERE id = ?", letter_of(job))
    return letter_of(job)


async def lost_bulk_redrive(world: World) -> str:
    sql(
        world,
        "INSERT INTO audit VALUES ('au_1', 1, 'key-1', 'redrive.started', 'rd_x', NULL, 'why',"
        " 'r', '{}')",
    )
    return "rd_x"


async def alert_from_the_future(world: World) -> str:
    sql(
        world,
        "INSERT INTO alerts (name, state, looked_at) VALUES ('sweep_lag_seconds', 'ok', ?)",
        _now(world) + _HOUR_MS,
    )
    return "sweep_lag_seconds"


# Other ways to break the same checks.
MORE: list[tuple[str, Break]] = [
    ("duty_overdue", sweep_that_never_ran),
    ("live_job_without_wake", changing(f"wake_at = {PINNED}", of=waiting)),
    ("live_job_without_wake", changing(f"wake_at = {PINNED}", of=running)),
    ("object_of_another_tenant", upload_of_another),
    ("started_without_job", occurrence_of_no_job),
    ("letter_unexplained", half_resolved_letter),
    ("act_undone", lost_bulk_redrive),
    ("alert_stray", alert_from_the_future),
]
