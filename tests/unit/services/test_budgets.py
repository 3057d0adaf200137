"""Budgets: what is reserved, what is spent, and that no number of jobs at once outspends one."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from datetime import date, timedelta
from typing import Any

import pytest

from tests.unit.services.world import World, working
from uketsuke.domain.failure import AttemptFailed, ErrorClass
from uketsuke.domain.job import Job, LeasedJob, Usage
from uketsuke.domain.lane import parse_lane
from uketsuke.domain.lifecycle import JobState
from uketsuke.domain.price import Expected, Price
from uketsuke.services.execute import Attempt, Worker
from uketsuke.services.knock import BUDGET_WAIT, Done, KnockAgain
from uketsuke.services.sweep import sweep

# A micro-dollar a token: what a job is expected to use is what it is expected to cost, and one.
PRICES = {
    parse_lane("extractive-e5"): Price(
        as_of=date(2026, 11, 29), source="", input_per_million=10**6, output_per_million=10**6
    )
}
COST = 100
EXPECTED = Expected(input_tokens=COST - 1, calls=1)
DAY = timedelta(days=1)


def a_world(budget: int | None = None, **settings: Any) -> World:
    return World(prices=PRICES, daily_budget_micros=budget, **settings)


@pytest.fixture
def world() -> Iterator[World]:
    """A world whose tenants may spend as much a day as three jobs cost."""
    world = a_world(3 * COST)
    yield world
    world.close()


def costing(micros: int = COST, seconds: float = 1, error: Exception | None = None) -> Worker:
    """Work that costs so much, and then gives a result or fails."""

    async def work(attempt: Attempt) -> Mapping[str, object]:
        attempt.tally.usage = Usage(
            asked_model="m", input_tokens=7, cost_micros=micros, charged_micros=micros
        )
        await asyncio.sleep(seconds)
        if error:
            raise error
        return {"summary": "short"}

    return work


async def submitted(world: World, **changes: Any) -> Job:
    return await world.submitted(**{"expected": EXPECTED, "deadline": 3 * DAY, **changes})


async def leased(world: World, job: Job) -> LeasedJob:
    """Lease a job as a Worker would that then says nothing more."""
    token = world.ports.dice.entropy(8).hex()
    found = await world.ports.jobs.lease(
        [job.key], token=token, duration=world.settings.lease, alone=True
    )
    lease = found[job.key]
    assert isinstance(lease, LeasedJob)
    return lease


def spent(world: World, tenant: str = "acme", day: str = "2026-11-29") -> int:
    sql = "SELECT coalesce(sum(charged_micros), 0) FROM usage_days WHERE tenant_id = ? AND day = ?"
    (sum_,) = world.connection.execute(sql, (tenant, day)).fetchone()
    return int(sum_)


def reserved(world: World) -> list[tuple[str, int]]:
    rows = world.rows("SELECT id, reserved_micros FROM jobs WHERE reserved_micros IS NOT NULL")
    return [(row["id"], row["reserved_micros"]) for row in rows]


def letters(world: World) -> list[tuple[str, str, str]]:
    rows = world.rows("SELECT road, class, code FROM dead_letters")
    return [(row["road"], row["class"], row["code"]) for row in rows]


def test_a_running_job_has_what_it_may_cost_reserved_until_it_ends(world: World) -> None:
    async def main() -> None:
        job = await submitted(world)
        seen = []

        async def look(attempt: Attempt) -> Any:
            seen.append((reserved(world), attempt.leased.reserved_micros))
            return await costing(40)(attempt)

        assert await world.consumed([job], look) == [Done()]

        assert seen == [([(job.id, COST)], COST)]
        assert reserved(world) == []
        assert (await world.now(job)).charged_micros == spent(world) == 40

    world.run(main())


def test_without_a_budget_nothing_is_reserved() -> None:
    world = a_world()

    async def main() -> None:
        job = await submitted(world)
        lease = await leased(world, job)

        assert (lease.reserved_micros, lease.funds) == (None, None)

    world.run(main())
    world.close()


def test_what_the_days_budget_can_never_allow_fails_and_says_why(world: World) -> None:
    async def main() -> None:
        job = await submitted(world, expected=Expected(input_tokens=3 * COST, calls=1))

        assert await world.consumed([job], costing()) == [Done()]

        job = await world.now(job)
        assert (job.state, job.error_class) == (JobState.FAILED, ErrorClass.BUDGET)
        assert (job.error_code, job.attempts) == ("budget_exceeded", 0)

    world.run(main())
    assert letters(world) == [("budget", "budget", "budget_exceeded")]


def test_a_budget_that_is_spent_is_whole_again_the_next_day(world: World) -> None:
    async def main() -> None:
        for _ in range(3):
            await world.consumed([await submitted(world)], costing())
        late = await submitted(world)
        assert await world.consumed([late], costing()) == [Done()]
        assert (await world.now(late)).state is JobState.FAILED

        await asyncio.sleep(DAY.total_seconds() / 2)
        job = await submitted(world)
        await world.consumed([job], costing())

        assert (await world.now(job)).state is JobState.SUCCEEDED

    world.run(main())
    assert (spent(world), spent(world, day="2026-11-30")) == (3 * COST, COST)


def test_an_unknown_price_fails_where_a_budget_binds(world: World) -> None:
    async def main() -> None:
        bound = await submitted(world, kind="unheard-of")
        assert await world.ports.costs.fail_over_budget(bound.key)

        assert (await world.now(bound)).error_code == "price_unknown"

    world.run(main())
    assert letters(world) == [("budget", "budget", "price_unknown")]


def test_a_budget_that_others_have_reserved_lets_a_job_wait_and_spends_no_attempt(
    world: World,
) -> None:
    async def main() -> None:
        others = [await submitted(world) for _ in range(3)]
        job = await submitted(world)
        at_work = asyncio.ensure_future(world.consumed(others, costing(10, seconds=30)))
        await asyncio.sleep(1)

        assert await world.consumed([job], costing()) == [KnockAgain(after=BUDGET_WAIT)]
        waiting = await world.now(job)
        assert (waiting.state, waiting.attempts) == (JobState.ACCEPTED, 0)
        assert waiting.due_at > waiting.created_at + timedelta(seconds=10)
        await at_work
        await world.consumed([job], costing())

        assert (await world.now(job)).state is JobState.SUCCEEDED

    world.run(main())
    assert letters(world) == []


def test_one_wave_does_not_reserve_more_than_there_is(world: World) -> None:
    async def main() -> None:
        jobs = [await submitted(world) for _ in range(6)]
        at_once: list[int] = []

        async def look(attempt: Attempt) -> Any:
            at_once.append(sum(micros for _, micros in reserved(world)))
            return await costing()(attempt)

        await world.consumed(jobs, look)

        assert at_once == [3 * COST] * 3

    world.run(main())
    assert spent(world) == 3 * COST


def test_one_that_is_too_dear_for_the_day_stops_none_behind_it(world: World) -> None:
    async def main() -> None:
        dear = await submitted(world, expected=Expected(input_tokens=10**6, calls=1))
        jobs = [dear, *[await submitted(world) for _ in range(3)]]

        await world.consumed(jobs, costing())

        states = [(await world.now(job)).state for job in jobs]
        assert states == [JobState.FAILED, *[JobState.SUCCEEDED] * 3]

    world.run(main())


def test_another_tenants_budget_is_untouched(world: World) -> None:
    async def main() -> None:
        world.connection.execute(
            "INSERT INTO tenants (id, created_at, daily_budget_micros) VALUES ('rich', 0, ?)",
            (1000 * COST,),
        )
        poor = [await submitted(world) for _ in range(4)]
        rich = [await submitted(world, tenant_id="rich") for _ in range(5)]

        await world.consumed([*poor, *rich], costing())

    world.run(main())
    assert (spent(world), spent(world, "rich")) == (3 * COST, 5 * COST)


def test_a_thousand_jobs_at_once_never_outspend_a_budget() -> None:
    """Forty events lease what they can; each has its own waves, and none knows of the others."""
    budget = 137 * COST + 50
    world = a_world(budget, first_wake=timedelta(minutes=5))
    most = [0]

    async def work(attempt: Attempt) -> Any:
        held = sum(micros for _, micros in reserved(world))
        most[0] = max(most[0], spent(world) + held)
        return await costing(COST, seconds=3)(attempt)

    async def main() -> None:
        jobs = [await submitted(world) for _ in range(1000)]
        batches = [jobs[at : at + 25] for at in range(0, 1000, 25)]
        while batches:
            await asyncio.gather(*(world.consumed(batch, work) for batch in batches))
            waiting = {row["id"] for row in world.rows(_LIVE)}
            left = [[job for job in batch if job.id in waiting] for batch in batches]
            batches = [batch for batch in left if batch]
            await asyncio.sleep(BUDGET_WAIT.total_seconds() + 1)

    world.run(main())
    ended = {row["state"]: row["n"] for row in world.rows(_BY_STATE)}
    codes = {row["error_code"] for row in world.rows("SELECT error_code FROM jobs")}
    charged = spent(world)
    world.close()

    assert most[0] <= budget
    assert charged == 137 * COST
    assert ended == {"succeeded": 137, "failed": 863}
    assert codes == {None, "budget_exceeded"}


_LIVE = "SELECT id FROM jobs WHERE finished_at IS NULL"
_BY_STATE = "SELECT state, count(*) AS n FROM jobs GROUP BY state"


@pytest.mark.parametrize("max_cost", [COST, None])
def test_what_a_dead_worker_had_reserved_counts_as_spent(max_cost: int | None) -> None:
    world = a_world(3 * COST if max_cost is None else None)

    async def main() -> None:
        job = await submitted(world, max_cost_micros=max_cost)
        await leased(world, job)
        await asyncio.sleep(61)
        await sweep(world.ports)

        job = await world.now(job)
        assert (job.state, job.charged_micros, job.unknown_costs) == (JobState.RETRYING, COST, 1)
        assert spent(world) == COST
        assert reserved(world) == []

        await world.consumed([job], costing())
        after = await world.now(job)
        told = (after.state, after.error_code)
        succeeded = (JobState.SUCCEEDED, None)
        # The job's own maximum was used up by the attempt that nobody can account for.
        assert told == ((JobState.FAILED, "budget_exceeded") if max_cost else succeeded)

    world.run(main())
    world.close()


def test_what_a_budget_binds_is_taken_back_before_it_is_worked_again(world: World) -> None:
    async def main() -> None:
        job = await submitted(world)
        await leased(world, job)
        await asyncio.sleep(61)

        assert await world.consumed([job], costing()) == [KnockAgain(after=timedelta(seconds=1))]
        assert await world.consumed([job], costing()) == [Done()]

        assert (await world.now(job)).charged_micros == spent(world) == 2 * COST

    world.run(main())


def test_failed_attempts_count_for_the_jobs_own_maximum(world: World) -> None:
    failure = AttemptFailed(ErrorClass.TIMEOUT, "provider_timed_out")

    async def main() -> None:
        job = await submitted(world, max_cost_micros=2 * COST - 1)
        await world.consumed([job], costing(COST, error=failure))
        retrying = await world.now(job)
        await asyncio.sleep((retrying.due_at - retrying.created_at).total_seconds())
        await world.consumed([job], costing())

        after = await world.now(job)
        assert (after.state, after.error_code) == (JobState.FAILED, "budget_exceeded")
        assert (after.attempts, after.attempts_cost_micros) == (1, COST)

    world.run(main())
    assert letters(world) == [("budget", "budget", "budget_exceeded")]


def test_a_settle_whose_answer_was_lost_counts_once(world: World) -> None:
    async def main() -> None:
        job = await submitted(world)
        world.database.failing = [("late_writes", "after"), ("late_writes", "after")]

        assert await world.consumed([job], costing()) == [Done()]

        assert (await world.now(job)).charged_micros == COST

    world.run(main())
    ((row),) = world.rows("SELECT attempts, cost_micros, charged_micros FROM usage_days")
    assert row == {"attempts": 1, "cost_micros": COST, "charged_micros": COST}


def test_a_result_that_another_attempt_adopts_is_charged_once(world: World) -> None:
    async def main() -> None:
        job = await submitted(world)
        world.database.failing = [("late_writes", "before")] * 100
        await world.consumed([job], costing(60))
        world.database.failing = []
        await asyncio.sleep(61)
        await sweep(world.ports)
        await world.consumed([job], working(result=AssertionError("it was paid for")))

        job = await world.now(job)
        assert job.state is JobState.SUCCEEDED
        # The lost attempt's reservation; its true cost is told once, by the attempt that adopted.
        assert (job.charged_micros, job.attempts_cost_micros) == (COST, 60)

    world.run(main())
    assert spent(world) == COST


def test_a_clock_past_midnight_moves_no_reservation(world: World) -> None:
    """What runs over midnight is reserved on both days and spent on the one it ends on."""

    async def main() -> None:
        await asyncio.sleep(DAY.total_seconds() / 2 - 30)
        jobs = [await submitted(world) for _ in range(3)]
        at_work = asyncio.ensure_future(world.consumed(jobs, costing(seconds=40)))
        await asyncio.sleep(35)

        late = await submitted(world)
        assert await world.consumed([late], costing()) == [KnockAgain(after=BUDGET_WAIT)]
        await at_work

    world.run(main())
    assert (spent(world), spent(world, day="2026-11-30")) == (0, 3 * COST)


@pytest.mark.parametrize(("to", "raised"), [(2 * COST, True), (2 * COST + 1, False)])
def test_a_reservation_is_raised_as_far_as_the_budget_goes(
    world: World, to: int, *, raised: bool
) -> None:
    async def main() -> None:
        lease = await leased(world, await submitted(world))
        await leased(world, await submitted(world))
        ask = world.ports.costs.raise_reservation

        for _ in range(2):  # a lost answer is asked again
            answer = await ask(lease.job.key, token=lease.token, to_micros=to)
            assert answer is raised
        assert await ask(lease.job.key, token="another", to_micros=1) is False

        assert dict(reserved(world))[lease.job.id] == (to if raised else COST)

    world.run(main())
