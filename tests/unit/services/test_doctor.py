"""Each invariant is broken by hand, seen, mended where a machine may, and sound again."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from tests.unit.services import breakage
from tests.unit.services.breakage import BREAKS, MORE, Break, change, sql
from tests.unit.services.world import World, working
from uketsuke.adapters.sql import doctor as doctor_module
from uketsuke.adapters.sql.doctor import CHECKS
from uketsuke.adapters.sql.doctor_content import SAMPLED
from uketsuke.domain.audit import Act
from uketsuke.domain.diagnosis import MOST_COUNTED, MOST_NAMED, MOST_REPAIRED, Finding, Repaired
from uketsuke.domain.job import Job
from uketsuke.domain.lifecycle import JobState
from uketsuke.services.doctor import examine, repair
from uketsuke.services.ports import InstanceState, Unavailable
from uketsuke.services.redrive import new_act
from uketsuke.services.sweep import sweep

REPAIRABLE = [name for name, check in CHECKS.items() if check.repair]
BY_HAND = [name for name, check in CHECKS.items() if not check.repair]

# What each invariant of the lifecycle comes to in rows. What is in none of these sets cannot be
# seen in a store: the adapter's module says so by the invariant's number.
INVARIANTS = {
    1: {"job_past_its_end", "live_job_without_wake", "wake_overdue", "duty_overdue"},
    2: {"running_without_lease", "lease_without_run", "lease_over_for_long", "lease_too_long"},
    3: {
        "ended_twice", "result_missing", "result_object_missing", "failed_without_letter",
        "letter_of_unfailed_job", "letter_misnamed", "redrive_links", "redrive_without_letter",
        "redriven_without_job", "open_letter_with_redrive", "act_undone",
    },
    4: {"run_key_not_held", "run_key_held_twice", "ended_job_still_live"},
    5: {"attempts_beyond_max", "attempt_rows", "attempts_add_up"},
    6: {"object_of_another_tenant", "job_id_in_two_tenants"},
    8: {"crashed_in_company"},
}  # fmt: skip


def act_of(world: World) -> Act:
    return new_act("key-1", reason="why not", request_id="r-1", ports=world.ports)


async def ask(world: World, name: str) -> Finding:
    (finding,) = await examine(name, ports=world.ports)
    return finding


async def mend(world: World, name: str) -> Repaired:
    return await repair(name, act=act_of(world), ports=world.ports)


async def offending(world: World) -> Sequence[str]:
    return [f.question.name for f in await examine(ports=world.ports) if not f.ok]


def audited(world: World) -> list[dict[str, Any]]:
    return world.rows("SELECT * FROM audit WHERE action = 'doctor.repaired'")


async def mixed(world: World) -> None:
    """Jobs in every state, some of them redriven, of two tenants; and a sweep."""
    for tenant in ("acme", "other"):
        await world.submitted(tenant_id=tenant, run_key="one")
        jobs = [await world.submitted(tenant_id=tenant) for _ in range(4)]
        await world.consumed(jobs[:2], working())
        await world.consumed(jobs[2:3], working(result=ValueError()))
        await world.ports.jobs.request_cancel(jobs[3].key)
    await breakage.redriven(world)
    await breakage.running(world)
    await breakage.run_started(world)
    await sweep(world.ports)


def test_every_check_can_be_broken_and_every_invariant_is_asked_or_told() -> None:
    assert BREAKS.keys() == CHECKS.keys()
    assert set().union(*INVARIANTS.values()) <= CHECKS.keys()
    told = doctor_module.__doc__ or ""
    for number in range(1, 9):
        assert number in INVARIANTS or f"({number}" in told


@pytest.mark.parametrize("name", CHECKS)
def test_a_check_says_what_holds_and_what_is_done(name: str) -> None:
    question = CHECKS[name].question

    assert question.holds.endswith(".")
    assert question.repair or question.by_hand
    assert all(text.endswith(".") for text in (question.repair, question.by_hand) if text)


def test_a_fresh_store_and_one_of_mixed_jobs_are_sound(world: World) -> None:
    async def story() -> None:
        assert await offending(world) == []
        await mixed(world)
        assert await offending(world) == []

    world.run(story())


@pytest.mark.parametrize("name", REPAIRABLE)
def test_what_is_broken_is_found_mended_and_found_sound(world: World, name: str) -> None:
    async def story() -> None:
        await mixed(world)
        expected = await BREAKS[name](world)
        found = await ask(world, name)
        assert (found.ok, expected in found.rows) == (False, True)

        mended = await mend(world, name)

        assert expected in mended.rows
        assert (mended.left, (await ask(world, name)).ok) == (0, True)
        (row,) = audited(world)
        assert (row["actor"], row["target"], row["reason"]) == ("key-1", name, "why not")
        assert json.loads(row["detail"]) == {"rows": list(mended.rows)}

    world.run(story())


@pytest.mark.parametrize("name", REPAIRABLE)
def test_a_repair_may_be_repeated_and_leaves_no_trace_of_nothing(world: World, name: str) -> None:
    async def story() -> None:
        await BREAKS[name](world)
        await mend(world, name)

        again = await mend(world, name)

        assert again == Repaired(rows=(), left=0)
        assert len(audited(world)) == 1

    world.run(story())


@pytest.mark.parametrize("name", REPAIRABLE)
def test_a_repair_that_comes_too_late_changes_nothing(world: World, name: str) -> None:
    """Somebody was quicker: what was an offender when it was looked for is none any more."""

    async def story() -> None:
        await BREAKS[name](world)
        offenders = await world.ports.doctor.repairable(name)
        await mend(world, name)
        before = world.rows("SELECT * FROM jobs ORDER BY id")

        mended = await world.ports.doctor.repair(name, offenders, act=act_of(world))

        assert (list(mended.rows), list(mended.jobs)) == ([], [])
        assert world.rows("SELECT * FROM jobs ORDER BY id") == before

    world.run(story())


@pytest.mark.parametrize("name", BY_HAND)
def test_what_no_machine_may_mend_is_found_and_left(world: World, name: str) -> None:
    async def story() -> None:
        await mixed(world)
        expected = await BREAKS[name](world)

        found, left = await ask(world, name), await world.ports.doctor.repairable(name)

        assert expected in found.rows
        assert not found.ok
        assert list(left) == []

    world.run(story())


@pytest.mark.parametrize(("name", "broken"), MORE)
def test_each_way_to_break_an_invariant_is_found(world: World, name: str, broken: Break) -> None:
    async def story() -> None:
        expected = await broken(world)
        assert expected in (await ask(world, name)).rows
        if name in REPAIRABLE:
            mended = await mend(world, name)
            assert (expected in mended.rows, mended.left) == (True, 0)

    world.run(story())


def test_an_overdue_job_ends_as_the_sweep_would_end_it(world: World) -> None:
    async def story() -> tuple[Job, Job, Job]:
        waits, wished = await breakage.waiting(world), await breakage.running(world)
        run = await breakage.run_started(world)
        await world.ports.jobs.request_cancel(wished.key)
        for job in (waits, wished, run):
            change(world, job, "deadline_at = 1")
        change(world, wished, "leased_until = 1")
        change(world, run, "leased_until = 1")
        await mend(world, "job_past_its_end")
        assert await offending(world) == []
        return await world.now(waits), await world.now(wished), await world.now(run)

    waits, wished, run = world.run(story())

    assert (waits.state, waits.error_class) == (JobState.FAILED, "deadline")
    assert wished.state is JobState.CANCELED
    assert (run.state, run.error_class) == (JobState.FAILED, "deadline")
    letters = world.rows("SELECT job_id, road FROM dead_letters ORDER BY job_id")
    assert [letter["job_id"] for letter in letters] == sorted([waits.id, run.id])
    assert {letter["road"] for letter in letters} == {"deadline"}
    assert world.rows("SELECT id FROM doomed_instances") == [{"id": f"{run.id}-1"}]


def test_the_log_tells_of_the_jobs_that_a_repair_moves(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    async def story() -> None:
        overdue, left = await breakage.waiting(world), await breakage.running(world)
        run = await breakage.run_started(world)
        for job in (overdue, run):
            change(world, job, "deadline_at = 1")
        for job in (left, run):
            change(world, job, "leased_until = 1")
        for name in ("job_past_its_end", "lease_over_for_long"):
            for _ in range(2):
                await mend(world, name)

    world.run(story())

    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    told = [(line["event"], line["transition"]) for line in lines if "transition" in line]
    assert told[-3:] == [*[("job_failed", "deadline_passed")] * 2, ("job_taken_back", "taken_back")]


def test_no_repair_touches_a_live_lease(world: World) -> None:
    async def story() -> tuple[Job, list[dict[str, Any]]]:
        job = await breakage.running(world)
        change(world, job, "deadline_at = 1")
        stray = await breakage.waiting(world)
        until = int(world.ports.clock.now().timestamp() * 1000) + 60_000
        change(world, stray, f"lease_token = 's', leased_until = {until}")
        before = world.rows("SELECT * FROM jobs ORDER BY id")
        for name in REPAIRABLE:
            assert (await mend(world, name)).rows == ()
        assert "job_past_its_end" in await offending(world)
        return job, before

    _, before = world.run(story())

    assert world.rows("SELECT * FROM jobs ORDER BY id") == before
    assert audited(world) == []


def test_a_job_that_was_taken_back_works_to_its_end(world: World) -> None:
    async def story() -> Job:
        job = await breakage.running(world)
        change(world, job, "lease_token = NULL, leased_until = NULL")
        await mend(world, "running_without_lease")
        await sweep(world.ports)
        await world.consumed([await world.now(job)], working())
        assert await offending(world) == []
        return await world.now(job)

    assert world.run(story()).state is JobState.SUCCEEDED


def test_a_run_started_is_left_to_the_sweep_which_asks_its_instance(world: World) -> None:
    async def story() -> list[dict[str, Any]]:
        job = await breakage.run_started(world)
        change(world, job, f"leased_until = 1, wake_at = wake_at + {3_600_000}")
        mended = await mend(world, "lease_over_for_long")
        assert mended.rows == [job.id]
        return world.rows("SELECT state, wake_at FROM jobs")

    (row,) = world.run(story())

    assert row["state"] == "running"
    assert row["wake_at"] <= world.ports.clock.now().timestamp() * 1000


def test_only_one_of_two_waiting_jobs_gets_the_run_key(world: World) -> None:
    async def story() -> list[str]:
        first, second = await world.submitted(), await world.submitted()
        for job in (first, second):
            change(world, job, "run_key = 'k'")
        mended = await mend(world, "run_key_not_held")
        assert mended.left == 1
        assert [first.id, second.id] == sorted([first.id, second.id])
        assert list(mended.rows) == [first.id]
        return list((await ask(world, "run_key_held_twice")).rows)

    assert len(world.run(story())) == 2


def test_what_is_gone_is_not_pinned_again(world: World) -> None:
    async def story() -> Repaired:
        await breakage.short_lived_input(world)
        sql(world, "UPDATE inputs SET expires_at = 1")
        return await mend(world, "input_expires_early")

    assert world.run(story()) == Repaired(rows=(), left=1)


def test_a_letter_that_has_gone_in_its_time_is_not_missed(world: World) -> None:
    async def story() -> Sequence[str]:
        await breakage.redriven(world)
        await breakage.without_letter(world)
        long_ago = world.settings.keep_dead_letters + timedelta(days=1)
        await asyncio.sleep(long_ago.total_seconds())
        sql(world, "DELETE FROM dead_letters")
        names = ("failed_without_letter", "redrive_without_letter")
        return [row for name in names for row in (await ask(world, name)).rows]

    assert world.run(story()) == []


def test_a_redriven_jobs_letter_is_not_written_anew(world: World) -> None:
    """It would be open: whoever redrives it has the work done twice."""

    async def story() -> None:
        old, _ = await breakage.redriven(world)
        unlinked, _ = await breakage.redriven(world)
        change(world, unlinked, "redriven_to = NULL")
        sql(world, "DELETE FROM dead_letters")
        sql(world, "DROP TRIGGER audit_is_not_deleted")
        sql(world, "DELETE FROM audit")
        assert set((await ask(world, "failed_without_letter")).rows) == {old.id, unlinked.id}

        assert await mend(world, "failed_without_letter") == Repaired(rows=(), left=2)

        assert world.rows("SELECT id FROM dead_letters") == []

    world.run(story())


def test_letters_that_went_while_they_were_kept_for_less_long_are_not_missed(world: World) -> None:
    async def story() -> Sequence[str]:
        await breakage.redriven(world)
        sql(world, "DELETE FROM dead_letters")
        names = ("failed_without_letter", "redrive_without_letter")
        return [row for name in names for row in (await ask(world, name)).rows]

    assert world.run(story()) == []


def test_what_rows_of_no_job_lead_to_goes_before_them(world: World) -> None:
    async def story() -> None:
        job = await breakage.failed(world)
        names = [f"acme/{job.id}/result-1-x", f"acme/{job.id}/step-x"]
        for name in (*names, "acme/job_y/input"):
            await world.blobs.put(name, b"content", content_type="text/plain")
        sql(world, "DELETE FROM jobs")
        world.blobs.away = True
        with pytest.raises(Unavailable):
            await mend(world, "rows_outlive_job")
        assert len(world.rows("SELECT * FROM attempts")) == 1
        world.blobs.away = False

        assert (await mend(world, "rows_outlive_job")).rows == [job.id]

        assert list(world.blobs.kept) == ["acme/job_y/input"]
        assert world.rows("SELECT * FROM attempts") == []

    world.run(story())


def test_an_object_whose_time_is_over_is_not_missed(world: World) -> None:
    """The purge takes it first, and the row when the database is back."""

    async def story() -> Finding:
        await breakage.object_gone(world)
        sql(world, "UPDATE jobs SET expires_at = 1")
        return await ask(world, "result_object_missing")

    assert world.run(story()).ok


def test_a_probe_whose_job_has_gone_in_its_time_is_not_missed(world: World) -> None:
    async def story() -> Finding:
        await breakage.probe_of_nobody(world)
        long_ago = int(world.settings.keep_results.total_seconds() * 1000)
        sql(world, "UPDATE lanes SET parked_at = parked_at - ?", long_ago)
        return await ask(world, "probe_of_nobody")

    assert world.run(story()).ok


def test_a_young_deployment_whose_sweep_broke_once_is_sound(world: World) -> None:
    async def story() -> Finding:
        await world.submitted()
        await world.ports.sweeping.claim_duty("wake", token="t", lease=world.settings.lease)
        await world.ports.sweeping.finish_duty("wake", token="t", done=False)
        return await ask(world, "duty_overdue")

    assert world.run(story()).ok


def test_all_is_asked_in_few_calls(world: World) -> None:
    """The platform bounds the calls of one request, on its smallest plan to 50."""

    async def story() -> int:
        for _ in range(12):
            await breakage.object_gone(world)
        before = world.database.calls
        await examine(ports=world.ports)
        return world.database.calls - before

    assert world.run(story()) + SAMPLED <= 25


def test_an_instance_that_lives_is_not_forgotten(world: World) -> None:
    async def story() -> Sequence[str]:
        await breakage.doomed(world)
        world.workflows.full = True
        await world.workflows.create("job_y-1", {})
        sql(world, "INSERT INTO doomed_instances (id, doomed_at) VALUES ('job_y-1', 1)")
        assert await world.ports.workflows.state("job_y-1") is not InstanceState.ABSENT
        return (await mend(world, "doomed_left")).rows

    assert world.run(story()) == ["job_x-1"]
    assert world.rows("SELECT id FROM doomed_instances") == [{"id": "job_y-1"}]


def test_a_storage_that_is_away_makes_no_finding_and_no_peace(world: World) -> None:
    async def story() -> Finding:
        await breakage.object_gone(world)
        world.blobs.away = True
        return await ask(world, "result_object_missing")

    found = world.run(story())

    assert (found.ok, found.unknown, found.count) == (False, True, 0)


def test_an_object_that_is_there_is_found(world: World) -> None:
    async def story() -> Finding:
        await breakage.object_gone(world)
        await world.blobs.put("acme/x", b"content", content_type="text/plain")
        return await ask(world, "result_object_missing")

    assert world.run(story()).ok


def test_counts_and_rows_and_repairs_are_bounded(world: World) -> None:
    many = 150
    for number in range(many):
        sql(
            world,
            "INSERT INTO submissions (tenant_id, request_key, job_id) VALUES ('acme', ?1, ?1)",
            f"job_{number:03d}",
        )

    async def story() -> tuple[Finding, Repaired, Repaired]:
        name = "submission_without_job"
        return await ask(world, name), await mend(world, name), await mend(world, name)

    found, first, second = world.run(story())

    assert (found.count, len(found.rows)) == (many, MOST_NAMED)
    assert (len(first.rows), first.left) == (MOST_REPAIRED, many - MOST_REPAIRED)
    assert (len(second.rows), second.left) == (many - MOST_REPAIRED, 0)


def test_a_count_stops_at_its_bound(world: World) -> None:
    world.connection.execute(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 12000)"
        " INSERT INTO inputs SELECT 'acme', 'in_' || i, 'acme/x', 1, '', 't', 1, 1 FROM n"
    )
    sql(
        world,
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)"
        " INSERT INTO submissions SELECT 'acme', 'k' || i, 'job_' || i, NULL, NULL FROM n",
    )

    found = world.run(ask(world, "content_past_retention"))

    assert found.count == MOST_COUNTED - 1  # the stretch of uploads ends first


def test_all_is_sound_after_the_runs_of_a_day_and_their_purge(world: World) -> None:
    async def story() -> None:
        for _ in range(3):
            await mixed(world)
            await asyncio.sleep(timedelta(hours=25).total_seconds())
            await sweep(world.ports)
        assert await offending(world) == []

    world.run(story())


def test_both_engines_are_looked_at(world: World) -> None:
    async def story() -> Sequence[str]:
        jobs = [await breakage.running(world), await breakage.run_started(world)]
        found = [change(world, job, "leased_until = 1") for job in jobs]
        assert sorted((await ask(world, "lease_over_for_long")).rows) == sorted(found)
        return found

    assert len(world.run(story())) == 2
