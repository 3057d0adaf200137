"""Bulk redrives in trouble: whatever dies, is away or in the way, each letter is redriven once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from datetime import timedelta

import pytest

from tests.unit.services.bulk import (
    an_act,
    ask,
    bury,
    drive,
    failing,
    look,
    planner,
    redriven_once,
    started,
    state,
    tick,
    work,
)
from tests.unit.services.world import World
from uketsuke.domain.bulk_redrive import Figures, LetterFilter, RedriveState
from uketsuke.services.purge import purge_jobs
from uketsuke.services.redrives import drive_redrives


@pytest.mark.parametrize("after", [0.003, 0.007, 0.02, 0.033, 0.0345])
def test_a_tick_that_died_anywhere_is_followed_by_one_that_goes_on(
    world: World, after: float
) -> None:
    async def main() -> None:
        await bury(world, 40)
        name = await ask(world, rate_per_minute=30, canary=0)
        await asyncio.sleep(60)
        dying = asyncio.ensure_future(drive_redrives(world.ports, planner=planner(world)))
        await asyncio.sleep(after)
        dying.cancel()
        await asyncio.wait([dying])
        assert redriven_once(world) == await started(world, name) <= 30
        await drive(world, name)

        assert (await look(world, name)).figures == Figures(started=40, succeeded=40)
        assert redriven_once(world) == 40

    world.run(main())


def test_sweeps_at_the_same_time_redrive_nothing_twice_and_keep_the_rate(world: World) -> None:
    async def main() -> None:
        await bury(world, 50)
        name = await ask(world, rate_per_minute=15)
        for minute in range(1, 5):
            await asyncio.sleep(60)
            # As if the duty's lease had run out under a sweep that still goes on.
            drives = [drive_redrives(world.ports, planner=planner(world)) for _ in range(3)]
            await asyncio.gather(*drives)
            await work(world)
            assert redriven_once(world) == await started(world, name) <= 3 + 15 * minute
        await drive(world, name)

        assert (await look(world, name)).figures == Figures(started=50, succeeded=50)

    world.run(main())


@pytest.mark.parametrize("how", ["before", "after"])
@pytest.mark.parametrize(
    "part",
    [
        "INSERT INTO jobs",
        "SET paced_at",
        "SET turn",
        "SET seen_at",
        "SELECT id FROM redrives WHERE id",
        "AS inline_input",
        "SET state = 'running'",
        "SET state = 'done'",
        "ORDER BY looked_at",
    ],
)
def test_a_database_that_is_away_anywhere_loses_nothing_and_redrives_nothing_twice(
    world: World, part: str, how: str
) -> None:
    async def main() -> None:
        await bury(world, 8)
        name = await ask(world, rate_per_minute=4)
        world.database.failing = [(part, how)]
        await drive(world, name)

        shown = await look(world, name)
        assert world.database.failing == []
        assert shown.redrive.state is RedriveState.DONE
        assert shown.figures == Figures(started=8, succeeded=8)
        assert redriven_once(world) == 8

    world.run(main())


def test_bulk_redrives_share_a_tick_and_none_waits_for_another(world: World) -> None:
    async def main() -> None:
        await bury(world, 400)
        await bury(world, 20, tenant_id="other")
        many = await ask(world, LetterFilter(tenant_id="acme"), rate_per_minute=600, canary=0)
        few = await ask(world, LetterFilter(tenant_id="other"), rate_per_minute=600, canary=0)
        world.database.calls = 0
        await tick(world)

        assert await started(world, few) == 20
        assert 300 < await started(world, many) < 400
        assert world.database.calls < 800

    world.run(main())


def test_figures_outlive_the_jobs_that_they_are_of(world: World) -> None:
    async def main() -> None:
        await bury(world, 10)
        done = await ask(world, canary=0)
        await drive(world, done, failing((0,)))
        await bury(world, 6)
        stopped = await ask(world)
        await tick(world)
        await world.ports.redrives.stop(stopped, act=an_act(world))
        await work(world)
        await tick(world)
        before = [await look(world, name) for name in (done, stopped)]
        await asyncio.sleep(world.settings.keep_results.total_seconds() + 60)
        await purge_jobs(world.ports)

        assert world.rows("SELECT id FROM jobs") == []
        assert [await look(world, name) for name in (done, stopped)] == before
        assert before[0].figures == Figures(started=10, succeeded=9, failed=1)
        assert before[1].figures == Figures(started=3, succeeded=3)

    world.run(main())


def test_jobs_that_are_purged_before_it_has_ended_stay_in_its_figures() -> None:
    world = World(keep_results=timedelta(minutes=20))

    async def main() -> None:
        await bury(world, 40)
        world.connection.execute("UPDATE jobs SET expires_at = expires_at + 86400000")
        name = await ask(world, rate_per_minute=1, canary=0)
        await drive(world, name, failing((3, 4)))

        assert len(world.rows("SELECT id FROM jobs WHERE origin = 'redrive'")) < 25
        assert (await look(world, name)).figures == Figures(started=40, succeeded=38, failed=2)

    world.run(main())


def test_what_another_has_finished_or_a_person_stopped_meanwhile_is_left_alone(
    world: World,
) -> None:
    async def main() -> None:
        await bury(world, 2)
        done = await ask(world, canary=0)
        await tick(world)
        await work(world)
        await asyncio.gather(a_drive(), after(0.0015, a_drive()))
        assert await state(world, done) is RedriveState.DONE

        await bury(world, 2)
        stopped = await ask(world, canary=0)
        await asyncio.sleep(60)
        # After the claim of the minute's time, and before the letters are looked for.
        stop = world.ports.redrives.stop(stopped, act=an_act(world))
        await asyncio.gather(a_drive(), after(0.0015, stop))
        assert (await look(world, stopped)).figures == Figures()
        assert redriven_once(world) == 2

    async def after(seconds: float, doing: Awaitable[object]) -> None:
        await asyncio.sleep(seconds)
        await doing

    def a_drive() -> Awaitable[int]:
        return drive_redrives(world.ports, planner=planner(world))

    world.run(main())
