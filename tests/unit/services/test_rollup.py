"""Figures over time: equal to a count of all rows, whatever sweeps do meanwhile."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from tests.support.counted import ATTEMPTS, JOBS, counted, without_waits
from tests.unit.services.world import START, World, working
from uketsuke.domain.failure import AttemptFailed, ErrorClass
from uketsuke.domain.job import Job
from uketsuke.domain.lifecycle import JobState
from uketsuke.domain.rollup import Point, Step
from uketsuke.domain.tally import Counts, Figure, Tally, added
from uketsuke.services.cancel import cancel
from uketsuke.services.metrics import overview
from uketsuke.services.rollup import roll_up
from uketsuke.services.sweep import sweep

REFUSAL = AttemptFailed(ErrorClass.REFUSED, "provider_refused")
OUTAGE = AttemptFailed(ErrorClass.UNAVAILABLE, "provider_unavailable")


async def points(world: World, step: Step) -> list[Point]:
    look = await world.ports.metrics.look(
        step, stretch=step.length, count=10_000, duties=("roll_up",)
    )
    return list(look.points)


async def told(world: World, step: Step) -> dict[str, dict[str, int]]:
    """What all points of a step add up to, by kind."""
    kinds: dict[str, dict[str, int]] = {}
    for point in await points(world, step):
        if point.kind:
            kinds[point.kind] = added(kinds.get(point.kind, {}), point.counts)
    return {kind: without_waits(counts) for kind, counts in kinds.items()}


async def totals(world: World) -> dict[str, dict[str, int]]:
    reading, _ = await world.ports.metrics.read()
    return {kind: without_waits(counts) for kind, counts in reading.rolled.totals.items()}


def brute_force(world: World) -> dict[str, dict[str, int]]:
    return counted(world.rows(JOBS), world.rows(ATTEMPTS))


async def all_that_was(world: World) -> Counts:
    reading, _ = await world.ports.metrics.read()
    return added(*reading.rolled.totals.values())


async def mixed(world: World) -> None:
    """Jobs of every end: some at once, some after retries, some with no attempt at all."""
    good, bad = await world.submitted(), await world.submitted(kind="embed")
    await world.consumed([good], working(3))
    await world.consumed([bad], working(0.3, result=REFUSAL))
    again = await world.submitted()
    await world.consumed([again], working(result=OUTAGE))
    await asyncio.sleep(120)
    await world.consumed([again], working(12), number=2)
    spent = await world.submitted(max_attempts=1, kind="embed")
    await world.consumed([spent], working(result=OUTAGE))
    unwanted = await world.submitted(kind="report")
    await cancel(unwanted, ports=world.ports)
    await world.submitted(deadline=timedelta(seconds=10))
    await died(world, await world.submitted())
    await world.submitted(kind="report")


async def died(world: World, job: Job) -> None:
    """Lease the job for a worker that is never heard of again."""
    lease = timedelta(seconds=1)
    await world.ports.jobs.lease([job.key], token=job.id, duration=lease, alone=False)


@pytest.mark.parametrize("sweeps", [1, 3])
def test_points_equal_a_count_of_all_rows_however_often_it_is_swept(
    world: World, sweeps: int
) -> None:
    async def main() -> None:
        for _ in range(4):
            await mixed(world)
            for _ in range(sweeps):
                await sweep(world.ports)
            await asyncio.sleep(1000)
        await sweep(world.ports)
        await roll_up(world.ports)

        expected = brute_force(world)
        assert {Figure.RETRIED, Figure.FAILED_ATTEMPTS} <= expected["summarize"].keys()
        assert "failed.deadline" in expected["summarize"]
        for step in Step:
            assert await told(world, step) == expected
        assert await totals(world) == expected

    world.run(main())


@pytest.mark.parametrize("how", ["before", "after"])
@pytest.mark.parametrize("where", ["INSERT INTO metrics_state", "FROM ends_days", "SET done_at"])
def test_a_sweep_that_dies_in_the_middle_loses_nothing_and_adds_nothing_twice(
    world: World, where: str, how: str
) -> None:
    async def main() -> None:
        for _ in range(3):
            await mixed(world)
            world.database.failing.append((where, how))
            await sweep(world.ports)
            await asyncio.sleep(400)
        world.database.failing.clear()
        await sweep(world.ports)
        await roll_up(world.ports)

        assert await told(world, Step.MINUTE) == brute_force(world)

    world.run(main())


def test_two_roll_ups_at_once_count_each_job_once(world: World) -> None:
    async def main() -> None:
        await mixed(world)

        await asyncio.gather(*(roll_up(world.ports) for _ in range(3)))

        assert await told(world, Step.DAY) == brute_force(world)

    world.run(main())


@pytest.mark.parametrize("days", [-3, 3])
def test_a_clock_that_is_wrong_for_a_while_counts_nothing_twice(world: World, days: int) -> None:
    async def main() -> None:
        for _ in range(4):  # what happened on the days that are looked at again
            await mixed(world)
            await roll_up(world.ports)
            await asyncio.sleep(timedelta(days=1).total_seconds())
        for ahead in (timedelta(days=days), timedelta()):
            world.ahead = ahead
            for _ in range(3):
                await mixed(world)
                await roll_up(world.ports)
        await roll_up(world.ports)

        assert await totals(world) == brute_force(world)

    world.run(main())


def test_what_is_dated_after_now_is_not_of_the_last_hour(world: World) -> None:
    async def main() -> None:
        world.ahead = timedelta(days=1)
        await mixed(world)
        await roll_up(world.ports)
        world.ahead = timedelta()
        await world.submitted()

        hour = (await overview(world.ports)).hour
        assert hour.of(Figure.ACCEPTED) == 1
        assert hour.finished == 0

    world.run(main())


def test_counters_do_not_go_down_when_somebody_corrects_a_days_sums(world: World) -> None:
    async def main() -> None:
        await mixed(world)
        await roll_up(world.ports)
        before = brute_force(world)
        world.connection.execute("UPDATE usage_days SET attempts = 1, succeeded = 0, retried = 0")
        await roll_up(world.ports)

        assert await totals(world) == before
        assert await told(world, Step.MINUTE) == before

    world.run(main())


def test_what_happened_while_no_sweep_came_for_days_is_dated_late_and_is_there(
    world: World,
) -> None:
    async def main() -> None:
        await roll_up(world.ports)
        await mixed(world)
        await asyncio.sleep(timedelta(days=5).total_seconds())
        await roll_up(world.ports)
        await mixed(world)
        await roll_up(world.ports)

        assert await told(world, Step.HOUR) == brute_force(world)
        days = {point.at.day for point in await points(world, Step.DAY) if point.kind}
        assert days == {(START + timedelta(days=5)).day}

    world.run(main())


def test_a_purge_takes_nothing_from_the_figures(world: World) -> None:
    async def main() -> None:
        await mixed(world)
        await sweep(world.ports)
        before = brute_force(world)
        await asyncio.sleep(timedelta(days=31).total_seconds())
        for _ in range(3):
            await sweep(world.ports)

        assert len(world.rows(JOBS)) < before["summarize"]["accepted"]
        now = await told(world, Step.DAY)
        assert now["embed"] == before["embed"]
        assert now["summarize"]["succeeded"] == before["summarize"]["succeeded"]

    world.run(main())


def test_a_wait_is_from_when_the_job_was_due_to_its_attempt(world: World) -> None:
    async def main() -> None:
        late = await world.submitted()
        await asyncio.sleep(30)
        await world.consumed([late], working(result=OUTAGE))
        waiting = await world.now(late)
        assert waiting.state is JobState.RETRYING
        due_in = (waiting.due_at - world.ports.clock.now()).total_seconds()
        await asyncio.sleep(due_in + 7)
        await world.consumed([late], working(70), number=2)
        await roll_up(world.ports)

        tally = Tally(counts=await all_that_was(world))
        assert tally.waits.counts == {50_000: 1, 10_000: 1}
        assert 37_000 <= tally.waits.total / timedelta(milliseconds=1) < 37_500
        assert tally.runs.counts[100_000] == 1

    world.run(main())


def test_a_job_that_is_taken_over_has_waited_since_its_holder_was_last_heard_of(
    world: World,
) -> None:
    async def main() -> None:
        job = await world.submitted()
        await died(world, job)
        await asyncio.sleep(1000)
        await world.ports.jobs.lease(
            [job.key], token="next", duration=timedelta(seconds=60), alone=True
        )
        await asyncio.sleep(60)
        await sweep(world.ports)

        tally = Tally(counts=await all_that_was(world))
        assert sum(tally.waits.counts.values()) == 2
        assert tally.waits.total < timedelta(seconds=1)

    world.run(main())


def test_old_points_go_and_what_is_wanted_stays(world: World) -> None:
    async def steps() -> dict[str, int]:
        sql = "SELECT step, count(DISTINCT at) AS points FROM metrics_points GROUP BY step"
        return {row["step"]: row["points"] for row in world.rows(sql)}

    async def main() -> None:
        await mixed(world)
        await roll_up(world.ports)
        await asyncio.sleep(timedelta(hours=47).total_seconds())
        await roll_up(world.ports)
        assert await steps() == {"minute": 2, "hour": 2, "day": 2}
        await asyncio.sleep(timedelta(hours=2).total_seconds())
        await roll_up(world.ports)
        assert await steps() == {"minute": 2, "hour": 3, "day": 2}
        await asyncio.sleep(timedelta(days=60).total_seconds())
        await roll_up(world.ports)
        assert await steps() == {"minute": 1, "hour": 1, "day": 3}

    world.run(main())


def test_a_roll_up_of_a_quiet_minute_writes_little(world: World) -> None:
    async def main() -> None:
        await mixed(world)
        await roll_up(world.ports)
        before = world.rows("SELECT * FROM metrics_points")
        await asyncio.sleep(60)
        await roll_up(world.ports)

        new = [row for row in world.rows("SELECT * FROM metrics_points") if row not in before]
        assert {row["kind"] for row in new} == {""}
        assert len(new) <= 3

    world.run(main())


def test_before_the_first_roll_up_that_has_no_state_all_is_new(world: World) -> None:
    async def main() -> None:
        await mixed(world)
        world.connection.execute("DELETE FROM metrics_state")
        await roll_up(world.ports)

        assert await told(world, Step.MINUTE) == brute_force(world)

    world.run(main())
