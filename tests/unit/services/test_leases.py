"""Keeping leases: renewal, progress, and stopping what may no longer be worked."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import timedelta

import pytest

from tests.unit.services.world import World, working
from uketsuke.domain.failure import ErrorClass
from uketsuke.domain.job import LeasedJob, Progress
from uketsuke.domain.lifecycle import JobState
from uketsuke.services.cancel import cancel
from uketsuke.services.execute import Attempt
from uketsuke.services.knock import Done, KnockAgain
from uketsuke.services.leases import LeaseKeeper, Stop


def test_work_that_outlasts_its_lease_keeps_it_by_renewing(world: World) -> None:
    async def main() -> None:
        job = await world.submitted()
        work = asyncio.ensure_future(world.consumed([job], working(200)))
        await asyncio.sleep(150)

        (verdict,) = await world.consumed([job], working(result=AssertionError()))

        assert isinstance(verdict, KnockAgain)
        assert await work == [Done()]
        done = await world.now(job)
        assert (done.state, done.attempts) == (JobState.SUCCEEDED, 1)

    world.run(main())


def test_progress_is_seen_while_the_work_goes_on(world: World) -> None:
    async def work(attempt: Attempt) -> Mapping[str, object]:
        for done in range(5):
            attempt.keeper.note_progress(attempt.leased.job.key, Progress(done=done, total=5))
            await asyncio.sleep(4)
        return {}

    async def main() -> None:
        job = await world.submitted()
        worked = asyncio.ensure_future(world.consumed([job], work))
        seen = []
        for _ in range(4):
            await asyncio.sleep(4)
            seen.append((await world.now(job)).progress)
        await worked

        assert [progress.done for progress in seen if progress] == [0, 1, 2, 3]
        assert (await world.now(job)).progress == Progress(done=5, total=5)

    world.run(main())


def test_a_worker_that_cannot_renew_stops_before_its_lease_ends(world: World) -> None:
    stopped_at: list[float] = []

    async def work(_: Attempt) -> Mapping[str, object]:
        try:
            await asyncio.sleep(1000)
        finally:
            stopped_at.append(world.loop.time())
        return {}

    async def main() -> None:
        job = await world.submitted()
        world.database.failing = [("SET leased_until", "before")] * 100

        verdicts = await world.consumed([job], work)

        assert isinstance(verdicts[0], KnockAgain)
        assert (await world.now(job)).state is JobState.RUNNING

    world.run(main())
    assert 50 < stopped_at[0] < 60


def test_an_attempt_that_was_taken_over_stops_and_writes_nothing(world: World) -> None:
    async def main() -> None:
        job = await world.submitted()
        work = asyncio.ensure_future(world.consumed([job], working(100)))
        await asyncio.sleep(5)
        world.connection.execute("UPDATE jobs SET leased_until = leased_until - 60000")
        await world.ports.jobs.take_back([job.key])

        verdicts = await work

        assert isinstance(verdicts[0], KnockAgain)
        after = await world.now(job)
        assert (after.state, after.error_class) == (JobState.RETRYING, ErrorClass.CRASHED)
        assert world.loop.time() < 100

    world.run(main())


def test_a_wish_to_cancel_stops_the_work(world: World) -> None:
    async def main() -> None:
        job = await world.submitted()
        work = asyncio.ensure_future(world.consumed([job], working(100)))
        await asyncio.sleep(5)
        assert (await cancel(job, ports=world.ports)).state is JobState.RUNNING

        assert await work == [Done()]

        assert (await world.now(job)).state is JobState.CANCELED
        assert world.loop.time() < 30

    world.run(main())


def test_a_deadline_that_passes_while_working_ends_the_job(world: World) -> None:
    async def main() -> None:
        job = await world.submitted(deadline=timedelta(seconds=50))

        assert await world.consumed([job], working(200)) == [Done()]

        after = await world.now(job)
        assert after.state is JobState.FAILED
        assert after.error_class in (ErrorClass.TIMEOUT, ErrorClass.DEADLINE)
        assert world.loop.time() < 60

    world.run(main())


def test_a_deadline_that_was_moved_meanwhile_is_noticed_at_a_renewal(world: World) -> None:
    async def main() -> None:
        job = await world.submitted()
        work = asyncio.ensure_future(world.consumed([job], working(200)))
        await asyncio.sleep(5)
        world.connection.execute("UPDATE jobs SET deadline_at = created_at + 1")

        assert await work == [Done()]

        after = await world.now(job)
        assert (after.state, after.error_class) == (JobState.FAILED, ErrorClass.DEADLINE)

    world.run(main())


def test_an_event_that_is_canceled_leaves_the_lease_to_expire(world: World) -> None:
    async def main() -> None:
        job = await world.submitted()
        work = asyncio.ensure_future(world.consumed([job], working(100)))
        await asyncio.sleep(5)
        work.cancel()
        await asyncio.wait([work])
        await asyncio.sleep(200)

        assert work.cancelled()
        assert (await world.now(job)).state is JobState.RUNNING

    world.run(main())


def test_a_keeper_that_meets_a_fault_of_ours_goes_on_keeping(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    async def main() -> None:
        job = await world.submitted()
        world.connection.execute(
            "CREATE TRIGGER refused BEFORE UPDATE ON jobs WHEN NEW.progress_done = 1 "
            "BEGIN SELECT raise(ABORT, 'no'); END"
        )

        async def work(attempt: Attempt) -> Mapping[str, object]:
            attempt.keeper.note_progress(job.key, Progress(done=1, total=3))
            await asyncio.sleep(30)
            attempt.keeper.note_progress(job.key, Progress(done=2, total=3))
            await asyncio.sleep(100)
            return {}

        assert await world.consumed([job], work) == [Done()]

    world.run(main())
    assert "unexpected_error" in capsys.readouterr().out


def test_work_that_begins_after_its_lease_was_lost_is_stopped_at_once(world: World) -> None:
    """A run reads what it has kept before it works: the lease may go meanwhile."""

    async def main() -> None:
        job = await world.submitted()
        found = await world.ports.jobs.lease(
            [job.key], token="t", duration=world.settings.lease, alone=True
        )
        leased = found[job.key]
        assert isinstance(leased, LeasedJob)
        keeper = LeaseKeeper(
            jobs=world.ports.jobs, clock=world.ports.clock, settings=world.settings
        )
        keeper.hold(leased, asked_at=world.ports.clock.monotonic())
        world.database.failing = [("UPDATE jobs", "before")] * 100
        beating = asyncio.ensure_future(keeper.run())
        await asyncio.sleep(60)

        work = asyncio.ensure_future(asyncio.sleep(100))
        keeper.watch(job.key, work)
        await asyncio.wait([work])

        assert work.cancelled()
        assert keeper.why_stopped(job.key) is Stop.LOST
        beating.cancel()

    world.run(main())
