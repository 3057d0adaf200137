"""Calls within budgets: what each costs, what a lost one counts as, when one is not made."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

import pytest

from tests.unit.providers.talking import TalkingHttp, deploy
from tests.unit.providers.test_work import work
from tests.unit.services.test_budgets import PRICES, letters, reserved, spent
from tests.unit.services.world import World
from uketsuke.domain.failure import ErrorClass
from uketsuke.domain.job import Job
from uketsuke.domain.lifecycle import Engine, JobState
from uketsuke.domain.price import Expected
from uketsuke.kinds.kind import Chat, Work
from uketsuke.kinds.registry import KINDS
from uketsuke.providers.work import call_expects
from uketsuke.services.ports import HttpAnswer, Unavailable
from uketsuke.services.sweep import sweep

PIECE = "One more sentence of a long story. " * 160  # 5,600 characters: a call a piece
CALL = 12  # what one costs: ten tokens in, two out
AMPLE = Expected(input_tokens=10**6, output_tokens=10**6, calls=10)


@dataclass
class FaultyHttp(TalkingHttp):
    """It fails as told, call by call; None answers."""

    faults: list[HttpAnswer | Exception | None] = field(default_factory=list)

    async def post(
        self, url: str, *, headers: Mapping[str, str], body: bytes, timeout: timedelta
    ) -> HttpAnswer:
        answer = await super().post(url, headers=headers, body=body, timeout=timeout)
        fault = self.faults.pop(0) if self.faults else None
        if isinstance(fault, Exception):
            raise fault
        return fault or answer


def refusal(status: int, code: str) -> HttpAnswer:
    body = f'{{"error": {{"code": "{code}", "message": ""}}}}'
    return HttpAnswer(status=status, headers={}, body=body.encode())


GARBAGE = HttpAnswer(status=200, headers={}, body=b"garbage")
FILTERED = HttpAnswer(
    status=200,
    headers={},
    body=b'{"choices": [{"finish_reason": "content_filter", "message": {"content": null}}]}',
)


@pytest.fixture
def world() -> Iterator[World]:
    world = World(prices=PRICES, daily_budget_micros=10**8)
    yield world
    world.close()


async def submitted(world: World, **changes: Any) -> Job:
    return await world.submitted(**{"expected": AMPLE, "content": PIECE * 3, **changes})


def test_an_attempt_costs_what_its_calls_do(world: World) -> None:
    http = FaultyHttp()

    job = world.run(_worked(world, http))

    assert job.state is JobState.SUCCEEDED
    assert job.usage is not None
    assert job.usage.whole_cost == job.attempts_cost_micros == CALL * len(http.calls)
    assert job.charged_micros == spent(world) == CALL * len(http.calls)


async def _worked(world: World, http: FaultyHttp, **changes: Any) -> Job:
    return await work(world, http, await submitted(world, **changes))


@pytest.mark.parametrize(
    ("fault", "unknown"),
    [
        (refusal(429, "rate_limit_exceeded"), False),
        (refusal(503, "overloaded"), False),
        (refusal(400, "content_filter"), False),
        (GARBAGE, True),
        (FILTERED, True),
        (TimeoutError(), True),
        (Unavailable(), True),
    ],
    ids=["throttled", "overloaded", "refused", "garbage", "filtered", "timeout", "cut off"],
)
def test_a_failure_keeps_what_its_finished_calls_cost_and_a_lost_call_counts_as_its_estimate(
    world: World, fault: HttpAnswer | Exception, *, unknown: bool
) -> None:
    job = world.run(_worked(world, FaultyHttp(faults=[None, fault])))

    assert job.state in (JobState.RETRYING, JobState.FAILED)
    assert job.usage is not None
    assert job.usage.cost_micros == CALL
    assert (job.usage.whole_cost is None, bool(job.unknown_costs)) == (unknown, unknown)
    # Nearly the whole piece, at half its bytes, and what may be written: far more than it cost.
    assert job.charged_micros == CALL if not unknown else job.charged_micros > 100 * CALL
    assert job.charged_micros == spent(world)


def test_a_call_that_a_cancel_cuts_off_counts_as_its_estimate(world: World) -> None:
    async def main() -> Job:
        job = await submitted(world)
        http = FaultyHttp(seconds=50)
        at_work = asyncio.ensure_future(work(world, http, job))
        await asyncio.sleep(60)
        await world.ports.jobs.request_cancel(job.key)
        return await at_work

    job = world.run(main())

    assert job.state is JobState.CANCELED
    assert (job.unknown_costs, job.attempts_cost_micros) == (1, CALL)
    assert job.charged_micros > 100 * CALL


def test_a_job_stops_before_the_call_that_would_pass_its_maximum(world: World) -> None:
    http = FaultyHttp(usage={"prompt_tokens": 5000, "completion_tokens": 0})
    expected = Expected(input_tokens=6000, calls=4)  # too little, for what the answers use

    job = world.run(_worked(world, http, max_cost_micros=12_000, expected=expected))

    assert (job.state, job.error_class) == (JobState.FAILED, ErrorClass.BUDGET)
    assert (job.error_code, len(http.calls)) == ("budget_exceeded", 2)
    assert job.charged_micros == 10_000
    assert letters(world) == [("budget", "budget", "budget_exceeded")]


def test_an_attempt_that_needs_more_than_it_reserved_raises_that_within_the_days_budget() -> None:
    world = World(prices=PRICES, daily_budget_micros=12_000)
    http = FaultyHttp(usage={"prompt_tokens": 5000, "completion_tokens": 0})
    expected = Expected(input_tokens=100, calls=1)
    raised: list[int] = []

    async def main() -> Job:
        job = await submitted(world, expected=expected)
        at_work = asyncio.ensure_future(work(world, http, job))
        while not at_work.done():
            raised.extend(micros for _, micros in reserved(world) if micros not in raised)
            await asyncio.sleep(0.1)
        return await at_work

    job = world.run(main())

    assert (job.error_code, len(http.calls)) == ("budget_exceeded", 2)
    assert len(raised) == 2
    assert 101 < raised[0] < raised[1] <= 12_000
    assert spent(world) == 10_000
    world.close()


def test_what_is_free_is_free_even_if_nobody_answers() -> None:
    free = {lane: _free(price) for lane, price in PRICES.items()}
    world = World(prices=free, daily_budget_micros=0)

    job = world.run(_worked(world, FaultyHttp(faults=[None, TimeoutError()])))

    assert (job.state, job.unknown_costs) == (JobState.RETRYING, 0)
    assert (job.attempts_cost_micros, job.charged_micros) == (0, 0)
    world.close()


def _free(price: Any) -> Any:
    return type(price)(as_of=price.as_of, source="", input_per_million=0, output_per_million=0)


RUN = {"engine": Engine.WORKFLOW, "run_limit": timedelta(hours=1)}


def test_a_run_reserves_when_its_instance_begins(world: World) -> None:
    deploy(world, http := FaultyHttp())

    async def main() -> Job:
        job = await submitted(world, **RUN)
        assert reserved(world) == []
        await asyncio.sleep(2)
        assert reserved(world) == [(job.id, RESERVED)]
        await asyncio.sleep(30)
        return await world.now(job)

    job = world.run(main())

    assert job.state is JobState.SUCCEEDED
    assert reserved(world) == []
    assert job.attempts_cost_micros == spent(world) == CALL * len(http.calls)


def test_a_run_over_its_budget_fails_without_a_call(world: World) -> None:
    deploy(world, http := FaultyHttp())

    async def main() -> Job:
        job = await submitted(world, max_cost_micros=10, **RUN)
        await asyncio.sleep(5)
        return await world.now(job)

    job = world.run(main())

    assert (job.state, job.error_code) == (JobState.FAILED, "budget_exceeded")
    assert http.calls == []
    assert letters(world) == [("budget", "budget", "budget_exceeded")]


def test_a_run_waits_for_what_another_has_reserved_and_spends_no_attempt() -> None:
    world = World(prices=PRICES, daily_budget_micros=3 * 10**6)
    deploy(world, FaultyHttp(seconds=8))

    async def main() -> tuple[Job, Job]:
        first, second = [await submitted(world, **RUN) for _ in range(2)]
        await asyncio.sleep(2)
        waiting = await world.now(second)
        assert (waiting.state, waiting.error_code) == (JobState.RETRYING, "budget_reserved")
        assert waiting.attempts == 0
        await asyncio.sleep(60)
        await world.consumed([second], _never)
        await asyncio.sleep(60)
        return await world.now(first), await world.now(second)

    for job in world.run(main()):
        assert (job.state, job.attempts) == (JobState.SUCCEEDED, 1)
    world.close()


async def _never(_: object) -> Any:
    raise AssertionError("it runs on its Workflow")


def test_the_steps_that_a_lost_run_has_kept_are_in_its_account_and_in_no_other(
    world: World,
) -> None:
    deploy(world, http := FaultyHttp())

    async def main() -> Job:
        job = await submitted(world, **RUN)
        await asyncio.sleep(1.5)  # one call has been made, and another is under way
        await _lose(world, job)
        return await _next_attempt(world, job)

    job = world.run(main())

    assert (job.state, job.attempts) == (JobState.SUCCEEDED, 2)
    assert costs_of_attempts(world) == [CALL, (len(http.calls) - 2) * CALL]
    # The call that was under way when it was lost is within what it had reserved.
    assert job.charged_micros == spent(world) == RESERVED + (len(http.calls) - 2) * CALL


def test_a_run_that_adopts_an_earlier_ones_result_has_used_nothing_itself(world: World) -> None:
    deploy(world, http := FaultyHttp())

    async def main() -> Job:
        job = await submitted(world, **RUN)
        world.database.failing = [("late_writes", "before")] * 100
        await asyncio.sleep(30)
        world.database.failing = []
        await _lose(world, job)
        return await _next_attempt(world, job)

    job = world.run(main())

    assert (job.state, job.attempts) == (JobState.SUCCEEDED, 2)
    assert costs_of_attempts(world) == [len(http.calls) * CALL, 0]
    assert job.charged_micros == spent(world) == RESERVED


def test_an_earlier_attempts_result_that_the_sweep_settles_counts_once(world: World) -> None:
    deploy(world, http := FaultyHttp())

    async def main() -> Job:
        job = await submitted(world, **RUN)
        world.database.failing = [("late_writes", "before")] * 200
        await asyncio.sleep(30)
        await _lose(world, job)
        await world.consumed([job], _never)
        await asyncio.sleep(70)  # the second attempt finds the result, and cannot tell either
        world.database.failing = []
        await sweep(world.ports)
        return await world.now(job)

    job = world.run(main())

    assert (job.state, job.attempts) == (JobState.SUCCEEDED, 2)
    assert costs_of_attempts(world) == [len(http.calls) * CALL, 0]
    assert job.charged_micros == spent(world) == RESERVED


def test_a_call_that_is_being_kept_is_seen_by_one_that_begins_beside_it(world: World) -> None:
    """Of two calls at once there is room for one, and nothing is under way between them."""
    one = call_expects(["s", "t"], 10)
    room = one.input_tokens + one.output_tokens + 1 + CALL - 1

    async def twice(work: Work, _params: object) -> dict[str, object]:
        async def late() -> str:
            await asyncio.sleep(1.5)  # the first has its answer, and is being kept
            return await work.chat(Chat(step="b", system="s", user="t", max_output_tokens=10))

        first = work.chat(Chat(step="a", system="s", user="t", max_output_tokens=10))
        await asyncio.gather(first, late())
        return {}

    kinds = {"summarize": replace(KINDS["summarize"], run=twice)}
    deploy(world, http := FaultyHttp(), kinds)

    async def main() -> Job:
        world.database.failing = [("INTO checkpoints", "before")] * 2
        expected = Expected(input_tokens=room - 1, calls=1)
        job = await submitted(world, **RUN, max_cost_micros=room, expected=expected)
        await asyncio.sleep(60)
        return await world.now(job)

    job = world.run(main())

    assert (job.error_code, len(http.calls)) == ("budget_exceeded", 1)


RESERVED = 2 * 10**6 + 10


async def _lose(world: World, job: Job) -> None:
    """Let a run die where nothing wakes it, until the sweep gives it up."""
    name = f"{job.id}-1"
    world.workflows.die(name)
    world.workflows.deaf.add(name)
    for _ in range(4):
        await asyncio.sleep(70)
        await sweep(world.ports)
    assert (await world.now(job)).error_code == "worker_crashed"


async def _next_attempt(world: World, job: Job) -> Job:
    await world.consumed([job], _never)
    await asyncio.sleep(30)
    return await world.now(job)


def costs_of_attempts(world: World) -> list[int]:
    sql = "SELECT coalesce(usage ->> 'cost_micros', 0) AS cost FROM attempts ORDER BY number"
    return [row["cost"] for row in world.rows(sql)]


@pytest.mark.parametrize("free", [False, True])
def test_a_life_that_goes_on_counts_the_call_that_an_earlier_one_may_have_made(
    *, free: bool
) -> None:
    prices = {lane: _free(price) if free else price for lane, price in PRICES.items()}
    world = World(prices=prices, daily_budget_micros=10**8)
    deploy(world, http := FaultyHttp())

    async def main() -> Job:
        job = await submitted(world, **RUN)
        await asyncio.sleep(1.5)  # the second call is under way
        world.workflows.die(f"{job.id}-1")
        await asyncio.sleep(70)
        await sweep(world.ports)
        await asyncio.sleep(30)
        return await world.now(job)

    job = world.run(main())

    assert (job.state, job.attempts) == (JobState.SUCCEEDED, 1)
    assert job.unknown_costs == (not free)
    known = 0 if free else (len(http.calls) - 1) * CALL
    assert job.attempts_cost_micros == known
    assert job.charged_micros == 0 if free else job.charged_micros > known + 100 * CALL
    world.close()


def test_a_life_that_had_no_money_for_a_call_has_made_none() -> None:
    world = World(prices=PRICES, daily_budget_micros=1000)
    deploy(world, http := FaultyHttp())

    async def main() -> Job:
        job = await submitted(world, **RUN, expected=Expected(input_tokens=99, calls=1))
        await asyncio.sleep(0.005)  # it has begun, and has not come to its first call
        assert reserved(world) == [(job.id, 100)]
        world.workflows.die(f"{job.id}-1")
        await asyncio.sleep(70)
        await sweep(world.ports)
        await asyncio.sleep(30)
        return await world.now(job)

    job = world.run(main())

    assert (job.error_code, len(http.calls)) == ("budget_exceeded", 0)
    assert job.charged_micros == spent(world) <= 100
    world.close()


def test_a_run_that_a_parked_lane_turns_away_has_called_nobody(world: World) -> None:
    throttled = refusal(429, "rate_limit_exceeded")
    deploy(world, http := FaultyHttp(faults=[throttled]))

    async def main() -> Job:
        first = await submitted(world, **RUN)
        await asyncio.sleep(5)
        assert (await world.now(first)).error_code == "provider_throttled"
        second = await submitted(world, **RUN)
        await asyncio.sleep(5)
        return await world.now(second)

    job = world.run(main())

    assert (job.error_code, len(http.calls)) == ("lane_parked", 1)
    assert (job.charged_micros, job.unknown_costs) == (0, 0)


def test_a_try_in_doubt_counts_though_the_life_that_made_it_died_later(world: World) -> None:
    deploy(world, FaultyHttp(faults=[Unavailable()]))

    async def main() -> Job:
        job = await submitted(world, **RUN)
        # Until the plan and a call are kept. Time is virtual: looking again costs nothing.
        while len(await world.ports.runs.checkpoints(job.key)) < 2:  # noqa: ASYNC110
            await asyncio.sleep(0.5)
        return await _living_on(world, job)

    job = world.run(main())

    assert job.state is JobState.SUCCEEDED
    assert job.usage is not None
    assert job.usage.unknown_calls == 2  # that try, and what was under way at the death
    assert job.charged_micros == spent(world) > 200 * CALL


def test_each_life_that_was_lost_counts_once_however_many_follow(world: World) -> None:
    deploy(world, FaultyHttp())

    async def main() -> Job:
        job = await submitted(world, **RUN)
        await asyncio.sleep(1.5)  # the second call is under way
        world.workflows.die(f"{job.id}-1")
        await asyncio.sleep(60)
        await sweep(world.ports)
        await asyncio.sleep(1.5)  # it was made again, and the third is under way
        return await _living_on(world, job)

    job = world.run(main())

    assert (job.state, job.attempts) == (JobState.SUCCEEDED, 1)
    assert job.usage is not None
    assert job.usage.unknown_calls == 2


async def _living_on(world: World, job: Job) -> Job:
    """Let a run die, and its next life work to the end."""
    world.workflows.die(f"{job.id}-1")
    await asyncio.sleep(70)
    await sweep(world.ports)
    await asyncio.sleep(60)
    return await world.now(job)
