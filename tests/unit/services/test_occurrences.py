"""What schedules start: each occurrence once, whatever fails, dies, comes late or comes twice."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest

from tests.unit.services.test_run import Pieces
from tests.unit.services.world import START, World
from uketsuke.domain.cron import parse
from uketsuke.domain.job import InputForm, InputPlace, Job
from uketsuke.domain.lifecycle import Engine, JobState, Origin
from uketsuke.domain.price import Expected
from uketsuke.domain.schedule import NewSchedule, Overlap, Schedule, ScheduleKey
from uketsuke.services.occurrences import order_in
from uketsuke.services.ports import InstanceState
from uketsuke.services.run import run_instance
from uketsuke.services.sweep import sweep

LIMITS = {"summarize": timedelta(hours=1)}
KEY = ScheduleKey("acme", "nightly")
# Long enough for every duty's pauses, and shorter than the minute between two ticks.
SETTLED = 20.0


@pytest.fixture
def world() -> Any:
    world = World()
    yield world
    world.close()


def let_run(world: World, work: Pieces) -> None:
    async def run(payload: Mapping[str, object], steps: Any) -> object:
        order = await order_in(payload, steps=steps, limits=LIMITS, ports=world.ports)
        if order is None:
            return "skipped"
        return await run_instance(order, work, steps=steps, ports=world.ports)

    world.workflows.run = run


async def put(world: World, cron: str = "* * * * *", **changes: Any) -> Schedule:
    next_at = parse(cron, "UTC").next_after(world.ports.clock.now())
    values: dict[str, Any] = {
        "key": KEY,
        "generation": "g1",
        "cron": cron,
        "timezone": "UTC",
        "kind": "summarize",
        "params": {},
        "input": InputPlace(form=InputForm.TEXT, bytes=4),
        "content": '"text"',
        "run_key": "schedule:nightly",
        "overlap": Overlap.SKIP,
        "enabled": True,
        "next_at": next_at,
    }
    done = await world.ports.schedules.put(NewSchedule(**{**values, **changes}))
    assert done
    return done.schedule


async def tick(world: World) -> None:
    await sweep(world.ports, limits=LIMITS)


async def ticks(world: World, count: int) -> None:
    """So many minutes, with a tick at the begin of each."""
    for _ in range(count):
        await asyncio.sleep(60)
        await tick(world)


async def jobs(world: World) -> list[Job]:
    found = world.rows("SELECT id FROM jobs ORDER BY id")
    named = [await world.ports.jobs.find(row["id"], tenant_id="acme") for row in found]
    return [job for job in named if job]


def occurrences(world: World) -> list[tuple[str, str | None]]:
    found = world.rows("SELECT state, reason FROM occurrences ORDER BY due_at")
    return [(row["state"], row["reason"]) for row in found]


def test_an_occurrence_becomes_a_run_whose_first_step_writes_its_row(world: World) -> None:
    async def main() -> None:
        let_run(world, Pieces())
        await put(world, "1 12 * * *", expected=Expected(input_tokens=3))
        await ticks(world, 1)
        await asyncio.sleep(SETTLED)
        (running,) = await jobs(world)
        schedule = await world.ports.schedules.find(KEY)
        await asyncio.sleep(60)
        (done,) = await jobs(world)

        assert running.state is JobState.RUNNING
        assert (running.origin, running.engine) == (Origin.SCHEDULE, Engine.WORKFLOW)
        assert running.run_key == "schedule:nightly"
        assert running.expected == Expected(input_tokens=3)
        assert (done.state, done.attempts) == (JobState.SUCCEEDED, 1)
        assert schedule
        assert schedule.last
        assert schedule.last.job_id == running.id
        assert schedule.last.at == START + timedelta(minutes=1)
        assert schedule.next_at == START + timedelta(days=1, minutes=1)

    world.run(main())


def test_ticks_that_come_twice_at_once_or_again_start_each_occurrence_once(world: World) -> None:
    async def main() -> None:
        let_run(world, Pieces(seconds=1))
        await put(world)
        for _ in range(3):
            await asyncio.sleep(60)
            await asyncio.gather(tick(world), tick(world), tick(world))
            await tick(world)
        await asyncio.sleep(SETTLED)

        assert [job.state for job in await jobs(world)] == [JobState.SUCCEEDED] * 3
        assert len(world.workflows.instances) == 3

    world.run(main())


def test_after_an_outage_only_the_latest_missed_occurrence_is_started(world: World) -> None:
    async def main() -> None:
        let_run(world, Pieces(seconds=1))
        await put(world, "*/10 * * * *")
        await asyncio.sleep(3600 * 5 + 125)
        await tick(world)
        await asyncio.sleep(SETTLED)

        (job,) = await jobs(world)
        schedule = await world.ports.schedules.find(KEY)
        assert schedule
        assert schedule.last
        assert schedule.last.at == START + timedelta(hours=5)
        assert schedule.next_at == START + timedelta(hours=5, minutes=10)
        assert job.state is JobState.SUCCEEDED

    world.run(main())


def test_an_occurrence_is_skipped_while_an_earlier_run_is_live_and_says_so(world: World) -> None:
    async def main() -> None:
        let_run(world, Pieces(count=15, seconds=10))
        await put(world)
        await ticks(world, 3)
        await asyncio.sleep(SETTLED)

        (live,) = await jobs(world)
        schedule = await world.ports.schedules.find(KEY)
        assert live.state is JobState.RUNNING
        assert occurrences(world) == [
            ("started", None),
            ("skipped", "run_in_progress"),
            ("skipped", "run_in_progress"),
        ]
        assert schedule
        assert schedule.last
        assert (schedule.last.outcome, schedule.last.job_id) == ("skipped", None)

    world.run(main())


def test_overlap_is_allowed_where_the_schedule_says_so(world: World) -> None:
    async def main() -> None:
        let_run(world, Pieces(count=15, seconds=10))
        await put(world, overlap=Overlap.ALLOW, run_key=None)
        await ticks(world, 2)
        await asyncio.sleep(SETTLED)

        assert [job.state for job in await jobs(world)] == [JobState.RUNNING] * 2

    world.run(main())


@pytest.mark.parametrize("manual", [True, False])
def test_manual_and_scheduled_starts_guard_against_each_other(world: World, manual: bool) -> None:
    async def main() -> None:
        let_run(world, Pieces(count=15, seconds=10))
        await put(world, "1 12 * * *")
        changes = {
            "engine": Engine.WORKFLOW,
            "run_key": "schedule:nightly",
            "run_limit": timedelta(hours=1),
        }
        if manual:
            await world.submitted(**changes)
        await ticks(world, 1)
        await asyncio.sleep(SETTLED)
        if not manual:
            with pytest.raises(AssertionError):  # RunInProgress
                await world.submitted(**changes)

        (job,) = await jobs(world)
        assert job.origin is (Origin.API if manual else Origin.SCHEDULE)
        assert occurrences(world) == [
            ("skipped", "run_in_progress") if manual else ("started", None)
        ]

    world.run(main())


@pytest.mark.parametrize("away", [1, 2])
def test_an_instance_that_was_not_made_is_made_by_the_sweep(world: World, away: int) -> None:
    async def main() -> None:
        let_run(world, Pieces(seconds=1))
        await put(world, "1 12 * * *")
        world.workflows.away = True
        await ticks(world, away)
        world.workflows.away = False
        assert not await jobs(world)
        await ticks(world, 2)
        await asyncio.sleep(SETTLED)

        (job,) = await jobs(world)
        assert (job.state, job.attempts) == (JobState.SUCCEEDED, 1)
        assert occurrences(world) == [("started", None)]

    world.run(main())


def test_an_instance_whose_begin_was_lost_gets_its_row_from_the_sweep(world: World) -> None:
    """It is gone without a row: the job waits for a message, and runs under another name."""

    async def main() -> None:
        work = Pieces(seconds=1)
        let_run(world, work)
        await put(world, "1 12 * * *")
        world.database.failing = [("INSERT INTO jobs", "before")] * 4
        await ticks(world, 1)
        await asyncio.sleep(SETTLED)
        (instance,) = world.workflows.instances.values()
        assert instance.state is InstanceState.BROKEN
        assert not await jobs(world)
        for _ in range(3):
            await ticks(world, 1)
            messages, world.queue.sent[:] = list(world.queue.sent), []
            for _ in range(2):  # a message that is told to knock again is brought again
                await world.consumed(messages, None)  # type: ignore[arg-type]
                await asyncio.sleep(2)

        (job,) = await jobs(world)
        assert (job.state, job.attempts) == (JobState.SUCCEEDED, 1)
        assert work.paid_once
        history = await world.ports.jobs.attempts_of(job.key)
        assert [a.error_code for a in history] == ["run_not_started", None]

    world.run(main())


@pytest.mark.parametrize("how", ["before", "after"])
@pytest.mark.parametrize(
    "statement",
    ["INSERT INTO jobs", "UPDATE occurrences\n   SET state", "INSERT INTO occurrences"],
)
def test_a_lost_answer_starts_nothing_twice_and_loses_nothing(
    world: World, statement: str, how: str
) -> None:
    async def main() -> None:
        work = Pieces(seconds=1)
        let_run(world, work)
        await put(world, "1 12 * * *")
        world.database.failing = [(statement, how)]
        await ticks(world, 4)
        await asyncio.sleep(SETTLED)

        (job,) = await jobs(world)
        assert (job.state, job.attempts) == (JobState.SUCCEEDED, 1)
        assert occurrences(world) == [("started", None)]
        assert work.paid_once

    world.run(main())


def test_a_first_step_that_died_after_its_row_was_written_is_repeated_without_harm(
    world: World,
) -> None:
    async def main() -> None:
        work = Pieces(seconds=1)
        let_run(world, work)
        await put(world, "1 12 * * *", content='"' + "long " * 2000 + '"')
        world.database.failing = [("UPDATE occurrences\n   SET state", "before")] * 10
        await ticks(world, 1)
        await asyncio.sleep(1)
        (name,) = world.workflows.instances
        world.workflows.die(name)
        world.database.failing = []
        await ticks(world, 3)
        await asyncio.sleep(SETTLED)

        (job,) = await jobs(world)
        assert (job.state, job.attempts) == (JobState.SUCCEEDED, 1)
        assert occurrences(world) == [("started", None)]
        assert list(world.blobs.kept) == [job.input.object_key]

    world.run(main())


@pytest.mark.parametrize(
    ("after", "reason"),
    [
        ("deleted", "schedule_deleted"),
        ("made anew", "schedule_deleted"),
        ("disabled", "schedule_disabled"),
        ("kind", "kind_unknown"),
    ],
)
def test_an_occurrence_that_cannot_start_has_a_reason(
    world: World, after: str, reason: str
) -> None:
    async def main() -> None:
        let_run(world, Pieces())
        await put(world, "1 12 * * *", kind="gone" if after == "kind" else "summarize")
        world.workflows.away = True
        await ticks(world, 1)
        world.workflows.away = False
        if after == "disabled":
            await put(world, "1 12 * * *", enabled=False, next_at=None)
        elif after != "kind":
            await world.ports.schedules.delete(KEY)
        if after == "made anew":
            await put(world, "1 12 * * *", generation="g2")
        await ticks(world, 2)
        await asyncio.sleep(SETTLED)

        assert not await jobs(world)
        assert occurrences(world) == [("skipped", reason)]

    world.run(main())


def test_a_job_that_has_its_row_is_started_whatever_became_of_its_schedule(world: World) -> None:
    async def main() -> None:
        let_run(world, Pieces(seconds=1))
        await put(world, "1 12 * * *")
        world.database.failing = [("UPDATE occurrences\n   SET state", "before")] * 10
        await ticks(world, 1)
        await asyncio.sleep(1)
        (name,) = world.workflows.instances
        world.workflows.die(name)
        world.database.failing = []
        await world.ports.schedules.delete(KEY)
        await ticks(world, 3)
        await asyncio.sleep(SETTLED)

        (job,) = await jobs(world)
        assert (job.state, job.attempts) == (JobState.SUCCEEDED, 1)

    world.run(main())


def test_a_disabled_schedule_starts_nothing(world: World) -> None:
    async def main() -> None:
        let_run(world, Pieces())
        await put(world, enabled=False, next_at=None)
        await ticks(world, 3)

        assert not occurrences(world)

    world.run(main())


def test_a_schedule_that_is_made_anew_within_its_minute_names_other_jobs(world: World) -> None:
    async def main() -> None:
        let_run(world, Pieces(seconds=1))
        await put(world)
        await ticks(world, 1)
        await world.ports.schedules.delete(KEY)
        await put(world, generation="g2")
        await ticks(world, 1)
        await asyncio.sleep(SETTLED)

        assert len({job.id for job in await jobs(world)}) == 2

    world.run(main())


def test_a_schedule_that_cannot_be_read_any_more_stands_in_nobodys_way(world: World) -> None:
    async def main() -> None:
        let_run(world, Pieces(seconds=1))
        broken = ScheduleKey("acme", "a-zone-that-went")
        await put(world, key=broken, timezone="Atlantis/Capital", run_key="schedule:other")
        await put(world)
        await ticks(world, 2)
        await asyncio.sleep(SETTLED)

        assert len(await jobs(world)) == 2

    world.run(main())


def test_hundreds_of_schedules_that_are_due_at_once_are_all_started(world: World) -> None:
    async def main() -> None:
        let_run(world, Pieces(count=1, seconds=1))
        for number in range(250):
            await put(
                world,
                key=ScheduleKey("acme", f"s-{number}"),
                overlap=Overlap.ALLOW,
                run_key=None,
            )
        await ticks(world, 1)
        await asyncio.sleep(SETTLED)

        assert len(await jobs(world)) == 250

    world.run(main())
