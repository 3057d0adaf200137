"""Five hundred jobs at a model that turns them away: no second storm, and none is lost."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest

from tests.unit.services.crowd import Crowd, Model, Refusal, with_real_dice
from tests.unit.services.world import World
from uketsuke.services.sweep import sweep

JOBS = 500
AT_ONCE = 5 * 6  # consumers, and the jobs that each works at once


async def stormed(world: World, model: Model) -> Counter[str]:
    with_real_dice(world)
    jobs = [await world.submitted() for _ in range(JOBS)]
    return await Crowd(world, model).work(jobs)


def test_a_throttled_model_meets_one_storm_then_probes_then_a_fair_rate(world: World) -> None:
    model = Model(refusal=Refusal(429, until=40, retry_after=10))

    ends = world.run(stormed(world, model))

    assert ends == {"succeeded": JOBS}
    refused = [at for at, status in model.calls if status == 429]
    start = refused[0]
    first = [at for at in refused if at < start + 10]
    assert len(first) <= AT_ONCE
    # Parked for 10, 10 (asked for), 20 (the fourth failure doubles past that): one asks each time.
    assert 2 <= len(refused) - len(first) <= 3
    assert model.statuses.count(200) == JOBS
    fair = JOBS / world.settings.lane_spread.total_seconds()
    assert model.busiest(5) <= 2 * 5 * fair
    assert model.busiest(1) <= 4 * fair
    assert world.rows("SELECT * FROM lanes") == []
    assert {row["attempts"] for row in world.rows("SELECT attempts FROM jobs")} == {1}


def test_a_rotated_key_costs_one_job_and_the_others_wait_for_it(world: World) -> None:
    model = Model(refusal=Refusal(401, until=200))

    ends = world.run(stormed(world, model))

    assert ends == {"succeeded": JOBS - 1, "failed": 1}
    (letter,) = world.rows("SELECT * FROM dead_letters")
    assert (letter["road"], letter["class"]) == ("permanent", "denied")
    refused = model.statuses.count(401)
    assert refused <= AT_ONCE + 3  # and a probe after one minute, two, four
    assert model.statuses.count(200) == JOBS - 1
    assert world.rows("SELECT * FROM lanes") == []


@pytest.mark.parametrize("lost", ["before", "after"])
def test_a_rotated_key_costs_at_most_one_job_though_the_database_falters(
    world: World, lost: str
) -> None:
    world.database.failing = [("INSERT INTO lanes", lost)]
    model = Model(refusal=Refusal(404, until=30, code="model_not_found"))

    async def main() -> Counter[str]:
        jobs = [await world.submitted() for _ in range(20)]
        return await Crowd(world, model, consumers=2).work(jobs)

    ends = world.run(main())

    assert ends == {"succeeded": 19, "failed": 1}


def test_jobs_whose_messages_are_lost_are_found_when_their_lane_is_open(world: World) -> None:
    model = Model(refusal=Refusal(429, until=5, retry_after=20))

    async def main() -> None:
        jobs = [await world.submitted() for _ in range(20)]
        crowd = Crowd(world, model)
        asyncio.get_running_loop().call_later(10, crowd.waiting.clear)
        await crowd.work(jobs)
        for _ in range(4):
            await asyncio.sleep(60)
            await sweep(world.ports)
        sent = {str(body["job"]) for body in world.queue.sent}
        left = [job for job in jobs if job.id in sent]
        await Crowd(world, model).work(left)
        assert {(await world.now(job)).state for job in jobs} == {"succeeded"}
        assert left

    world.run(main())
