"""A parked lane: who is turned away, who probes it, what opens it, and what a run does about it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest

from tests.unit.services.crowd import Model, Refusal, deliver, worker_at
from tests.unit.services.test_run import ended
from tests.unit.services.world import World
from uketsuke.domain.failure import ErrorClass
from uketsuke.domain.job import InputForm, Job
from uketsuke.domain.lane import Capability, parse_lane
from uketsuke.domain.lifecycle import Engine, JobState
from uketsuke.services.cancel import cancel
from uketsuke.services.knock import Done, KnockAgain
from uketsuke.services.run import read_order, run_instance
from uketsuke.services.sweep import sweep

THROTTLED = Refusal(429, until=5, retry_after=30)
LONG_TEXT = "One more sentence of a long story. " * 500


def lanes_of(world: World) -> list[dict[str, Any]]:
    return world.rows("SELECT * FROM lanes")


def now_ms(world: World) -> float:
    return world.ports.clock.now().timestamp() * 1000


async def parked(world: World, model: Model) -> Job:
    """Let one job be turned away, at the very begin; return it. Its lane is parked for 30 s."""
    model.refusal = THROTTLED
    job = await world.submitted()
    await deliver(world, model, [job])
    return job


async def probing(world: World, model: Model) -> tuple[Job, asyncio.Task[Any]]:
    """Park the lane, wait until its time is over, and let a slow job begin to try it out."""
    await parked(world, model)
    await asyncio.sleep(31)
    model.seconds = 20
    probe = await world.submitted()
    work = asyncio.ensure_future(deliver(world, model, [probe]))
    await asyncio.sleep(1)
    return probe, work


def test_whoever_parked_a_lane_comes_first_and_the_others_later(world: World) -> None:
    async def main() -> None:
        first = await parked(world, Model())
        other = await world.submitted()
        (verdict,) = await deliver(world, Model(), [other])

        due = {job.id: (await world.now(job)).due_at for job in (first, other)}
        assert due[other.id] - due[first.id] == timedelta(seconds=30)  # half of the spread
        assert isinstance(verdict, KnockAgain)
        assert timedelta(seconds=60) < verdict.after < timedelta(seconds=62)
        now = await world.now(other)
        assert (now.state, now.attempts, now.attempt_no) == (JobState.ACCEPTED, 0, 0)

    world.run(main())


def test_a_job_that_asks_another_model_is_not_held_up(world: World) -> None:
    async def main() -> None:
        await parked(world, Model())
        texts = await world.submitted(kind="embed", form=InputForm.TEXTS, content=["one"])

        assert await deliver(world, Model(), [texts]) == [Done()]
        assert (await world.now(texts)).state is JobState.SUCCEEDED

    world.run(main())


def test_a_job_of_little_time_is_worked_when_the_lane_opens(world: World) -> None:
    async def main() -> None:
        model = Model()
        await parked(world, model)
        short = await world.submitted(deadline=timedelta(seconds=50))
        (verdict,) = await deliver(world, model, [short])
        assert isinstance(verdict, KnockAgain)
        await asyncio.sleep(verdict.after.total_seconds())

        assert await deliver(world, model, [short]) == [Done()]
        assert (await world.now(short)).state is JobState.SUCCEEDED

    world.run(main())


def test_a_job_whose_time_ends_before_the_park_does_fails_at_its_deadline(world: World) -> None:
    async def main() -> None:
        model = Model()
        await parked(world, model)
        short = await world.submitted(deadline=timedelta(seconds=10))
        (verdict,) = await deliver(world, model, [short])
        assert isinstance(verdict, KnockAgain)
        assert verdict.after < timedelta(seconds=12)
        await asyncio.sleep(verdict.after.total_seconds())
        await deliver(world, model, [short])

        failed = await world.now(short)
        assert (failed.state, failed.error_class) == (JobState.FAILED, ErrorClass.DEADLINE)

    world.run(main())


def test_a_long_park_leaves_its_jobs_to_the_sweep(world: World) -> None:
    async def main() -> None:
        model = Model(refusal=Refusal(429, code="insufficient_quota", retry_after=3000))
        first, other = (
            await world.submitted(deadline=timedelta(hours=3)),
            await world.submitted(deadline=timedelta(hours=3)),
        )
        assert await deliver(world, model, [first]) == [Done()]
        assert await deliver(world, model, [other]) == [Done()]
        model.refusal = None
        await asyncio.sleep(3031)

        await sweep(world.ports)

        assert {body["job"] for body in world.queue.sent} == {first.id, other.id}
        assert await deliver(world, model, [first]) == [Done()]
        assert lanes_of(world) == []

    world.run(main())


def test_while_one_probes_no_other_is_leased_and_its_answer_opens_the_lane(world: World) -> None:
    async def main() -> None:
        model = Model()
        probe, work = await probing(world, model)
        other = await world.submitted()
        (verdict,) = await deliver(world, model, [other])

        assert isinstance(verdict, KnockAgain)
        assert (await world.now(other)).attempt_no == 0
        assert await work == [Done()]
        assert (await world.now(probe)).state is JobState.SUCCEEDED
        assert lanes_of(world) == []

    world.run(main())


def test_a_probe_of_many_calls_opens_the_lane_with_its_first(world: World) -> None:
    async def main() -> None:
        model = Model()
        await parked(world, model)
        await asyncio.sleep(31)
        model.seconds = 10
        long = await world.submitted(content=LONG_TEXT)
        work = asyncio.ensure_future(deliver(world, model, [long]))
        await asyncio.sleep(11)

        assert lanes_of(world) == []
        assert (await world.now(long)).state is JobState.RUNNING
        assert await work == [Done()]

    world.run(main())


def test_a_probe_that_is_canceled_leaves_the_lane_to_the_next(world: World) -> None:
    async def main() -> None:
        model = Model()
        probe, work = await probing(world, model)
        await cancel(await world.now(probe), ports=world.ports)
        await work
        assert (await world.now(probe)).state is JobState.CANCELED
        assert len(lanes_of(world)) == 1

        assert await deliver(world, model, [await world.submitted()]) == [Done()]
        assert lanes_of(world) == []

    world.run(main())


def test_a_probe_whose_worker_dies_leaves_the_lane_when_its_lease_ends(world: World) -> None:
    async def main() -> None:
        model = Model()
        _, work = await probing(world, model)
        work.cancel()
        other = await world.submitted()
        (turned_away,) = await deliver(world, model, [other])
        assert isinstance(turned_away, KnockAgain)
        await asyncio.sleep(61)

        assert await deliver(world, model, [other]) == [Done()]
        assert (await world.now(other)).state is JobState.SUCCEEDED

    world.run(main())


@pytest.mark.parametrize(
    ("status", "code", "opened"),
    [(400, "content_filter", True), (413, None, True), (422, None, True), (503, None, False)],
)
def test_an_answer_about_its_own_input_opens_the_lane_and_an_outage_does_not(
    world: World, status: int, code: str | None, opened: bool
) -> None:
    async def main() -> None:
        model = Model()
        await parked(world, model)
        await asyncio.sleep(31)
        model.refusal = Refusal(status, code=code)
        await deliver(world, model, [await world.submitted()])

        assert (lanes_of(world) == []) is opened

    world.run(main())


def test_a_probe_that_times_out_leaves_the_lane_to_the_next(world: World) -> None:
    async def main() -> None:
        model = Model()
        await parked(world, model)
        model.hangs_until = 40
        await asyncio.sleep(31)
        await deliver(world, model, [await world.submitted()])
        (lane,) = lanes_of(world)
        assert lane["failures"] == 1

        assert await deliver(world, model, [await world.submitted()]) == [Done()]
        assert lanes_of(world) == []

    world.run(main())


@pytest.mark.parametrize(
    ("refusal", "waits", "first"),
    [
        (Refusal(403), [60, 120, 240, 480, 960, 1920, 3600], JobState.FAILED),
        (Refusal(429), [5, 10, 20, 40, 80, 160, 300], JobState.RETRYING),
        (Refusal(429, code="insufficient_quota"), [600, 1200, 2400, 3600], JobState.RETRYING),
        (Refusal(429, code="insufficient_quota", retry_after=9), [9] * 3, JobState.RETRYING),
    ],
)
def test_a_failed_probe_makes_the_park_longer_each_time(
    world: World, refusal: Refusal, waits: list[int], first: JobState
) -> None:
    async def main() -> None:
        model = Model(refusal=refusal)
        jobs = [await world.submitted(deadline=timedelta(days=1)) for _ in waits]
        parks = []
        for job in jobs:
            await deliver(world, model, [job])
            (lane,) = lanes_of(world)
            parks.append(round((lane["parked_until"] - now_ms(world)) / 1000))
            await asyncio.sleep(parks[-1] + 1)

        assert parks == waits
        states = [(await world.now(job)).state for job in jobs]
        assert states == [first] + [JobState.RETRYING] * (len(waits) - 1)
        assert (await world.now(jobs[-1])).attempts == 0

    world.run(main())


def test_a_park_that_nobody_came_back_to_counts_for_nothing(world: World) -> None:
    async def main() -> None:
        model = Model()
        await parked(world, model)
        await asyncio.sleep(2 * 3600)
        jobs = [await world.submitted() for _ in range(5)]

        assert await deliver(world, model, jobs) == [Done()] * 5

    world.run(main())


def test_a_model_of_a_provider_that_is_not_there_parks_its_lane() -> None:
    world = World(**{"kind_models": _elsewhere()})

    async def main() -> None:
        model = Model()
        first, other = await world.submitted(), await world.submitted()
        await deliver(world, model, [first])
        await deliver(world, model, [other])

        assert (await world.now(first)).error_code == "model_not_found"
        assert (await world.now(other)).state is JobState.ACCEPTED
        assert model.calls == []

    world.run(main())
    world.close()


def _elsewhere() -> Mapping[str, Any]:
    return {"summarize": {Capability.CHAT: parse_lane("workers_ai/@cf/some/model")}}


@pytest.mark.parametrize("statement", ["INSERT INTO lanes", "DELETE FROM lanes"])
def test_a_store_that_is_away_costs_no_job(world: World, statement: str) -> None:
    """Neither when the lane is to be parked, nor when it is to be opened."""

    async def main() -> None:
        model = Model(refusal=Refusal(401, until=5))
        away = [(statement, "before")] * 2
        world.database.failing = away if statement.startswith("INSERT") else []
        job = await world.submitted()
        await deliver(world, model, [job])
        state = (await world.now(job)).state
        if statement.startswith("INSERT"):
            assert (state, lanes_of(world)) == (JobState.RETRYING, [])
            return
        world.database.failing = away
        await asyncio.sleep(61)
        probe = await world.submitted(content="short")
        assert await deliver(world, model, [probe]) == [Done()]
        assert (await world.now(probe)).state is JobState.SUCCEEDED
        assert len(lanes_of(world)) == 1

    world.run(main())


async def started(world: World, model: Model, **changes: Any) -> Job:
    """Start a run on a Workflow, at this model; runs do not ask for a lease."""

    async def run(order: Mapping[str, object], steps: Any) -> object:
        work = worker_at(world, model)
        return await run_instance(read_order(order), work, steps=steps, ports=world.ports)

    world.workflows.run = run
    changes = {"engine": Engine.WORKFLOW, "run_limit": timedelta(hours=1), **changes}
    return await world.submitted(**changes)


def test_a_run_waits_for_its_lane_without_asking(world: World) -> None:
    async def main() -> None:
        model = Model()
        await parked(world, model)
        run = await started(world, model)
        await asyncio.sleep(2)

        waiting = await world.now(run)
        assert waiting.state is JobState.RETRYING
        assert (waiting.error_class, waiting.error_code) == (ErrorClass.THROTTLED, "lane_parked")
        assert waiting.attempts == 0
        assert len(model.calls) == 1
        (lane,) = lanes_of(world)
        assert lane["failures"] == 1

        done = await ended(world, run)
        assert (done.state, done.attempts) == (JobState.SUCCEEDED, 1)
        assert model.keys[-1].endswith(".0")  # nobody had said no to it
        assert lanes_of(world) == []

    world.run(main())


def test_a_run_that_is_turned_away_parks_the_lane_for_others(world: World) -> None:
    async def main() -> None:
        model = Model(refusal=THROTTLED)
        run = await started(world, model)
        await asyncio.sleep(2)
        other = await world.submitted()
        await deliver(world, model, [other])

        assert len(lanes_of(world)) == 1
        assert (await world.now(other)).attempt_no == 0
        assert (await ended(world, run)).state is JobState.SUCCEEDED

    world.run(main())


def test_a_runs_first_good_call_opens_the_lane_and_not_its_end(world: World) -> None:
    async def main() -> None:
        model = Model()
        await parked(world, model)
        await asyncio.sleep(31)
        model.seconds = 10
        run = await started(world, model, content=LONG_TEXT)
        await asyncio.sleep(9)
        assert len(lanes_of(world)) == 1
        await asyncio.sleep(2)

        assert lanes_of(world) == []
        assert (await world.now(run)).state is JobState.RUNNING
        assert (await ended(world, run)).state is JobState.SUCCEEDED

    world.run(main())


def test_a_run_goes_on_though_the_store_does_not_tell_of_its_lane(world: World) -> None:
    async def main() -> None:
        world.database.failing = [("SET probe_tenant = ?2", "before")]
        run = await started(world, Model())

        assert (await ended(world, run)).state is JobState.SUCCEEDED

    world.run(main())
