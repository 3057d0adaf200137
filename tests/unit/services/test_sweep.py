"""The sweep: bounded, safe beside another one and after one that died, and no flood."""

from __future__ import annotations

import asyncio
import itertools
from datetime import timedelta

import pytest

from tests.unit.services.world import World, working
from uketsuke.domain.job import Job
from uketsuke.services.sweep import sweep
from uketsuke.services.upload import upload


async def leased_and_lost(world: World, count: int) -> list[Job]:
    """Jobs whose workers vanished without a word."""
    jobs = [await world.submitted() for _ in range(count)]
    for start in range(0, count, 1000):
        wave = [job.key for job in jobs[start : start + 1000]]
        await world.ports.jobs.lease(wave, token="gone", duration=timedelta(seconds=1), alone=False)
    world.queue.sent.clear()
    return jobs


def test_a_backlog_of_ten_thousand_expired_leases_is_worked_off_in_bounded_ticks(
    world: World,
) -> None:
    async def main() -> None:
        await leased_and_lost(world, 10_000)
        await asyncio.sleep(61)
        calls = []
        for _ in range(6):
            world.database.calls = 0
            await sweep(world.ports)
            calls.append(world.database.calls)

        assert len(world.queue.sent) == len({body["job"] for body in world.queue.sent}) == 10_000
        assert max(calls) <= 60
        states = world.rows("SELECT state, count(*) AS jobs FROM jobs GROUP BY state")
        assert states == [{"state": "retrying", "jobs": 10_000}]

    world.run(main())


def test_two_sweeps_at_once_send_each_job_once(world: World) -> None:
    async def main() -> None:
        await leased_and_lost(world, 300)
        await asyncio.sleep(61)

        await asyncio.gather(sweep(world.ports), sweep(world.ports))

        assert len(world.queue.sent) == len({body["job"] for body in world.queue.sent}) == 300

    world.run(main())


def test_a_sweep_that_died_half_way_is_followed_by_one_that_finishes(world: World) -> None:
    async def main() -> None:
        await leased_and_lost(world, 300)
        await asyncio.sleep(61)
        dying = asyncio.ensure_future(sweep(world.ports))
        await asyncio.sleep(0.0035)
        dying.cancel()
        # Its code is gone with its isolate: the duty's lease stays until it expires.
        world.connection.execute("UPDATE duties SET leased_until = leased_until + 300000")
        await asyncio.wait([dying])

        for _ in range(20):
            await asyncio.sleep(60)
            await sweep(world.ports)

        assert len({body["job"] for body in world.queue.sent}) == 300

    world.run(main())


def test_one_failing_duty_stops_no_other(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    async def main() -> None:
        await upload(b"x", tenant_id="acme", content_type="x/y", length=1, ports=world.ports)
        await asyncio.sleep(timedelta(days=31).total_seconds())
        world.database.failing = [("wake_at <=", "before")]

        await sweep(world.ports)

        assert world.blobs.kept == {}

    world.run(main())
    assert world.rows("SELECT * FROM inputs") == []
    assert '"duty_failed"' in capsys.readouterr().out


def test_a_queue_that_is_behind_is_not_flooded(world: World) -> None:
    async def main() -> None:
        jobs = await leased_and_lost(world, 5)
        world.queue.waiting = 5000
        await asyncio.sleep(61)

        await sweep(world.ports)
        assert world.queue.sent == []
        world.queue.waiting = 0
        await asyncio.sleep(120)
        await sweep(world.ports)

        assert len(world.queue.sent) == len(jobs)

    world.run(main())


def test_a_job_that_nobody_takes_is_sent_ever_more_rarely(world: World) -> None:
    sent_at: list[float] = []

    async def main() -> None:
        await world.submitted()
        world.queue.sent.clear()
        for _ in range(55):
            await asyncio.sleep(60)
            await sweep(world.ports)
            sent_at.extend(world.loop.time() for _ in world.queue.sent)
            world.queue.sent.clear()

    world.run(main())
    gaps = [later - earlier for earlier, later in itertools.pairwise(sent_at)]
    assert len(sent_at) <= 6
    assert gaps == sorted(gaps)


def test_a_send_that_fails_is_tried_again_later(world: World) -> None:
    async def main() -> None:
        await leased_and_lost(world, 3)
        world.queue.away = True
        await asyncio.sleep(61)
        await sweep(world.ports)
        world.queue.away = False
        await asyncio.sleep(120)

        await sweep(world.ports)

        assert len(world.queue.sent) == 3

    world.run(main())


def test_what_has_expired_is_purged_with_its_objects(world: World) -> None:
    async def main() -> None:
        large = {"summary": "x" * 5000}
        job = await world.submitted(content="long " * 2000)
        await world.consumed([job], working(result=large))
        retried = await world.submitted()
        await world.consumed([retried], working(result=ConnectionError()))
        await asyncio.sleep(5)
        await world.consumed([retried], working())
        world.blobs.kept[f"acme/{retried.id}/result-1-orphan"] = b"left by a lost attempt"
        await asyncio.sleep(timedelta(days=29).total_seconds())
        await sweep(world.ports)
        assert len(world.blobs.kept) == 3
        await asyncio.sleep(timedelta(days=2).total_seconds())

        await sweep(world.ports)

    world.run(main())
    assert world.blobs.kept == {}
    for table in ("jobs", "submissions", "attempts"):
        assert world.rows(f"SELECT * FROM {table}") == []  # noqa: S608


def test_a_purge_does_so_much_a_tick_and_the_rest_in_the_next(world: World) -> None:
    async def main() -> None:
        for number in range(510):
            job = await world.submitted()
            await world.consumed([job], working())
            if number == 0:
                stray = "acme/stray"
                world.blobs.kept[stray] = b"another's"
            await upload(b"x", tenant_id="acme", content_type="x/y", length=1, ports=world.ports)
        await asyncio.sleep(timedelta(days=31).total_seconds())

        await sweep(world.ports)
        left = [world.rows(f"SELECT id FROM {table}") for table in ("jobs", "inputs")]  # noqa: S608
        await sweep(world.ports)

        assert [len(rows) for rows in left] == [10, 10]
        assert world.rows("SELECT id FROM jobs") == world.rows("SELECT id FROM inputs") == []
        assert list(world.blobs.kept) == [stray]

    world.run(main())
