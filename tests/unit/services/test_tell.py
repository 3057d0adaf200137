"""Each transition of a job has its line, once, whoever makes it: the log alone tells its life."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime, timedelta
from typing import Any

import pytest

from tests.unit.services.test_run import Pieces, ended, started
from tests.unit.services.told import life_of, lines_in
from tests.unit.services.world import World, working
from uketsuke.domain.failure import AttemptFailed, ErrorClass
from uketsuke.domain.ids import letter_id
from uketsuke.domain.job import Job, Rework
from uketsuke.domain.lifecycle import Engine, JobEvent, JobState
from uketsuke.domain.trace import Span, attempt_span, read_traceparent
from uketsuke.services.cancel import cancel
from uketsuke.services.messages import message_for
from uketsuke.services.ports import Delivery, InstanceState
from uketsuke.services.redrive import Redriven, new_act, redrive_as_it_was
from uketsuke.services.revive import revive
from uketsuke.services.sweep import sweep
from uketsuke.telemetry import EventName

Scenario = Callable[[World], Awaitable[Job]]
SECOND = timedelta(seconds=1)
REFUSED = AttemptFailed(ErrorClass.REFUSED, "provider_refused")
UNAVAILABLE = AttemptFailed(ErrorClass.UNAVAILABLE, "provider_unavailable")
THROTTLED = AttemptFailed(ErrorClass.THROTTLED, "provider_throttled")
ASKED = Span.first(b"t" * 16, b"s" * 8)


async def lost(world: World, **changes: Any) -> Job:
    """A job whose worker has vanished without a word, and whose lease is over."""
    job = await world.submitted(**changes)
    await world.ports.jobs.lease([job.key], token="gone", duration=SECOND, alone=True)
    await asyncio.sleep(61)
    return job


async def worked(world: World, result: Exception | None = None, **changes: Any) -> Job:
    job = await world.submitted(**changes)
    await world.consumed([job], working(result=result))
    return job


async def taken_over(world: World) -> Job:
    job = await lost(world)
    await world.consumed([job], working())
    return job


async def swept(world: World, **changes: Any) -> Job:
    job = await lost(world, **changes)
    await sweep(world.ports)
    return job


async def found_complete(world: World) -> Job:
    job = await started(world, Pieces())
    await asyncio.sleep(35)
    world.database.failing = [("count(*)\n  FROM json_each", "before")] * 100
    await asyncio.sleep(80)
    world.database.failing = []
    world.workflows.instances[f"{job.id}-1"].state = InstanceState.COMPLETE
    return await ended(world, job)


async def wished_twice(world: World) -> Job:
    job = await world.submitted()
    work = asyncio.ensure_future(world.consumed([job], working(100)))
    await asyncio.sleep(1)
    for _ in range(2):
        await cancel(await world.now(job), ports=world.ports)
    await work
    return job


async def canceled_twice(world: World) -> Job:
    job = await world.submitted()
    for _ in range(2):
        await cancel(await world.now(job), ports=world.ports)
    return job


async def outlived(world: World) -> Job:
    run = {"engine": Engine.WORKFLOW, "run_key": "nightly", "run_limit": timedelta(minutes=2)}
    job = await world.submitted(**run)
    await asyncio.sleep(300)
    await world.submitted(**run)
    return job


async def overdue(world: World) -> Job:
    job = await world.submitted(deadline=5 * SECOND)
    await asyncio.sleep(6)
    await sweep(world.ports)
    return job


async def of_a_kind_that_is_gone(world: World) -> Job:
    job = await world.submitted(kind="gone")
    await world.consumed([job], working(), number=7)
    return job


TOLD: Mapping[JobEvent, tuple[Scenario, EventName, JobState]] = {
    JobEvent.LEASED: (worked, "job_leased", JobState.RUNNING),
    JobEvent.LEASED_AGAIN: (taken_over, "job_leased", JobState.RUNNING),
    JobEvent.COMPLETED: (worked, "job_succeeded", JobState.SUCCEEDED),
    JobEvent.FOUND_COMPLETE: (found_complete, "job_succeeded", JobState.SUCCEEDED),
    JobEvent.DEFERRED: (
        lambda world: worked(world, ConnectionError("canary")), "job_retrying", JobState.RETRYING,
    ),
    JobEvent.GAVE_UP: (lambda world: worked(world, REFUSED), "job_failed", JobState.FAILED),
    JobEvent.CANCEL_REQUESTED: (wished_twice, "job_cancel_requested", JobState.RUNNING),
    JobEvent.CANCELED: (canceled_twice, "job_canceled", JobState.CANCELED),
    JobEvent.TAKEN_BACK: (swept, "job_taken_back", JobState.RETRYING),
    JobEvent.ABANDONED: (
        lambda world: swept(world, max_attempts=1), "job_failed", JobState.FAILED,
    ),
    JobEvent.OUTLIVED: (outlived, "job_failed", JobState.FAILED),
    JobEvent.DEADLINE_PASSED: (overdue, "job_failed", JobState.FAILED),
    JobEvent.FOUND_HOPELESS: (of_a_kind_that_is_gone, "job_failed", JobState.FAILED),
}  # fmt: skip


@pytest.mark.parametrize("transition", TOLD)
def test_a_transition_is_told_once_with_its_job_and_its_state(
    world: World, capsys: pytest.CaptureFixture[str], transition: JobEvent
) -> None:
    scenario, name, state = TOLD[transition]

    job = world.run(_all_of(scenario(world)))

    lines = lines_in(capsys)
    (line,) = [line for line in life_of(job.id, lines) if line.get("transition") == transition]
    assert (line["event"], line["state"], line["tenant_id"]) == (name, state, "acme")
    assert "canary" not in repr(lines)
    if state is JobState.FAILED:
        letter = letter_id(job.id)
        assert line["dead_letter"] == letter
        assert world.rows(f"SELECT id FROM dead_letters WHERE id = '{letter}'")  # noqa: S608


async def _all_of(scenario: Awaitable[Job]) -> Job:
    return await scenario


def test_every_transition_but_those_of_time_alone_has_its_line() -> None:
    assert set(JobEvent) - set(TOLD) == {JobEvent.RENEWED, JobEvent.POSTPONED, JobEvent.NUDGED}


def test_a_life_is_told_in_order_within_one_trace_with_its_times(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    async def main() -> Job:
        job = await world.submitted(traceparent=ASKED.traceparent)
        await asyncio.sleep(5)
        await world.consumed([job], working(3, result=ConnectionError()))
        await asyncio.sleep(60)
        await world.consumed([job], working(2))
        return job

    job = world.run(main())
    life = life_of(job.id, lines_in(capsys))

    names = ["job_accepted", "job_leased", "job_retrying", "job_leased", "job_succeeded"]
    assert [line["event"] for line in life] == names
    assert [line.get("attempt") for line in life] == [None, 1, 1, 2, 2]
    assert {line["trace_id"] for line in life} == {ASKED.trace_id}
    assert life[0]["span_id"] == ASKED.span_id
    assert {line["parent_id"] for line in life[1:]} == {ASKED.span_id}
    _, first, retrying, second, done = life
    assert first["span_id"] == retrying["span_id"] != second["span_id"] == done["span_id"]
    assert 5000 <= first["queue_ms"] <= 5100
    assert (retrying["outcome"], retrying["error_class"]) == ("failed", "unknown")
    assert retrying["wait_ms"] == 2500
    assert 3000 <= retrying["duration_ms"] <= 3100
    took = datetime.fromisoformat(done["ended_at"]) - datetime.fromisoformat(done["started_at"])
    assert took == timedelta(milliseconds=done["duration_ms"])
    assert 57_000 <= second["queue_ms"] <= 57_600  # from when it was due, not from when it failed


def test_the_line_that_begins_an_attempt_names_the_message_that_led_to_it(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    world.run(_all_of(worked(world)))

    (leased,) = [line for line in lines_in(capsys) if line["event"] == "job_leased"]
    assert leased["messaging.system"] == "cloudflare_queues"
    assert (leased["messaging.destination.name"], leased["delivery"]) == ("jobs", 1)
    assert leased["messaging.message.id"].startswith("m-")


def test_an_attempt_that_the_provider_turned_away_is_told_as_given_back(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    job = world.run(_all_of(worked(world, THROTTLED)))

    last = life_of(job.id, lines_in(capsys))[-1]
    assert (last["event"], last["outcome"]) == ("job_deferred", "deferred")
    assert last["wait_ms"] > 0


def test_the_sweep_names_the_span_of_the_attempt_whose_holder_was_lost(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    job = world.run(_all_of(swept(world, traceparent=ASKED.traceparent)))

    (line,) = [line for line in lines_in(capsys) if line["event"] == "job_taken_back"]
    span = attempt_span(ASKED.traceparent, job_id=job.id, attempt=1)
    assert span
    assert (line["span_id"], line["parent_id"]) == (span.span_id, ASKED.span_id)
    assert 61_000 <= line["duration_ms"] <= 61_100


def test_a_run_is_accepted_leased_and_begun_within_one_trace(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    async def main() -> Job:
        job = await started(world, Pieces(), traceparent=ASKED.traceparent)
        return await ended(world, job)

    job = world.run(main())
    mine = [line for line in lines_in(capsys) if line.get("job_id") == job.id]

    assert [line["event"] for line in mine] == [
        "job_accepted", "job_leased", "run_began", "job_succeeded",
    ]  # fmt: skip
    assert {line["trace_id"] for line in mine} == {ASKED.trace_id}
    assert len({line["span_id"] for line in mine[1:]}) == 1
    order = world.workflows.instances[f"{job.id}-1"].order
    assert order["traceparent"] == ASKED.traceparent


def test_what_nobody_asked_for_within_a_trace_begins_its_own(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = (world.run(world.submitted(traceparent=None)) for _ in range(2))

    traces = [line["trace_id"] for line in lines_in(capsys)]
    for job, trace in zip((first, second), traces, strict=True):
        own = read_traceparent(message_for(job)["traceparent"])  # type: ignore[arg-type]  # is text
        assert own
        assert own.trace_id == trace
    assert traces[0] != traces[1]


def test_a_redrive_is_told_of_both_jobs(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    async def main() -> tuple[Job, Job]:
        job = await worked(world, UNAVAILABLE, max_attempts=1)
        letter = await world.ports.dead_letters.find(letter_id(job.id))
        assert letter
        act = new_act("ops", reason="canary", request_id="r", ports=world.ports)
        redriven = await redrive_as_it_was(
            letter,
            act=act,
            planner=lambda *_: Rework(engine=Engine.QUEUE, run_limit=SECOND, expected=None),
            ports=world.ports,
        )
        assert isinstance(redriven, Redriven), redriven
        return job, redriven.job

    before, after = world.run(main())
    lines = lines_in(capsys)
    (old,) = [line for line in lines if line["event"] == "job_redriven"]
    new = life_of(after.id, lines)[0]
    assert (old["job_id"], old["redriven_to"]) == (before.id, after.id)
    assert (new["origin"], new["redriven_from"]) == ("redrive", before.id)
    assert old["trace_id"] == new["trace_id"]
    assert "canary" not in repr(lines)


@pytest.mark.parametrize("by", ["consumer", "dead-letter queue"])
def test_a_message_that_names_no_job_is_told_with_its_trace_and_nothing_of_a_strangers(
    world: World, capsys: pytest.CaptureFixture[str], by: str
) -> None:
    job = "job_" + "0" * 26
    known = {"v": 1, "job": job, "tenant": "canary", "kind": "summarize"}
    bodies: list[object] = [{**known, "traceparent": ASKED.traceparent}, ["canary"]]

    async def main() -> None:
        if by == "consumer":
            await world.consumed(bodies, working(), number=9)
            return
        for body in bodies:
            await revive(Delivery(id="m", queue="q", number=1, body=body), ports=world.ports)

    world.run(main())
    lines = lines_in(capsys)
    assert {line["event"] for line in lines} == {"message_buried"}
    told = {line["error_code"]: (line.get("job_id"), line.get("trace_id")) for line in lines}
    assert told == {"job_unknown": (job, ASKED.trace_id), "body_undecodable": (None, None)}
    assert "canary" not in repr(lines)
