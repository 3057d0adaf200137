"""Writes whose answer was lost, and results that were paid for while the database was away."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from tests.unit.services.world import World, working
from uketsuke.domain.lifecycle import JobState
from uketsuke.services.knock import Done, KnockAgain

CLAIM = "leased_alone = ?4"
SETTLE = "INSERT INTO attempts"


@pytest.mark.parametrize("how", ["before", "after"])
def test_a_claim_whose_answer_was_lost_is_asked_again_and_counts_once(
    world: World, how: str
) -> None:
    async def main() -> None:
        job = await world.submitted()
        world.database.failing = [(CLAIM, how)]

        assert await world.consumed([job], working()) == [Done()]

        done = await world.now(job)
        assert (done.state, done.attempts, done.attempt_no) == (JobState.SUCCEEDED, 1, 1)

    world.run(main())


def test_a_claim_that_never_gets_an_answer_is_left_to_its_lease(world: World) -> None:
    async def main() -> None:
        job = await world.submitted()
        world.database.failing = [(CLAIM, "after")] * 3

        (verdict,) = await world.consumed([job], working())
        assert verdict == KnockAgain(after=world.settings.lease)
        await asyncio.sleep(62)
        (verdict,) = await world.consumed([job], working())

        assert verdict == Done()
        assert (await world.now(job)).attempts == 2

    world.run(main())


@pytest.mark.parametrize("how", ["before", "after"])
def test_a_settle_whose_answer_was_lost_is_asked_about_and_written_once(
    world: World, how: str
) -> None:
    async def main() -> None:
        job = await world.submitted()
        world.database.failing = [("count(*)\n  FROM json_each", how)]

        assert await world.consumed([job], working()) == [Done()]
        assert (await world.now(job)).state is JobState.SUCCEEDED

    world.run(main())
    assert world.rows("SELECT * FROM counters") == []
    assert len(world.rows("SELECT * FROM attempts")) == 1


def test_a_result_that_cannot_be_written_is_kept_and_adopted_by_the_next_attempt(
    world: World,
) -> None:
    async def main() -> None:
        job = await world.submitted()
        world.database.failing = [("late_writes", "before")] * 1000

        (verdict,) = await world.consumed([job], working(result={"summary": "paid for"}))
        assert isinstance(verdict, KnockAgain)
        world.database.failing = []
        await asyncio.sleep(62)
        (verdict,) = await world.consumed([job], working(result=AssertionError("paid twice")))

        assert verdict == Done()
        done = await world.now(job)
        assert (done.state, done.attempts) == (JobState.SUCCEEDED, 2)
        assert done.usage
        assert done.usage.input_tokens == 7
        text = await world.ports.jobs.result_text(job.key, attempt=2)
        assert text == '{"summary":"paid for"}'

    world.run(main())


def test_a_large_result_that_cannot_be_written_is_adopted_where_it_lies(world: World) -> None:
    large = {"summary": "x" * 5000}

    async def main() -> None:
        job = await world.submitted()
        world.database.failing = [("late_writes", "before")] * 1000
        await world.consumed([job], working(result=large))
        world.database.failing = []
        await asyncio.sleep(62)

        await world.consumed([job], working(result=AssertionError("paid twice")))

        done = await world.now(job)
        assert done.state is JobState.SUCCEEDED
        assert done.result
        assert done.result.object_key in world.blobs.kept

    world.run(main())


def test_when_storage_is_away_too_the_work_is_done_again(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    async def main() -> None:
        job = await world.submitted()
        world.database.failing = [("late_writes", "before")] * 1000
        world.blobs.away = True
        await world.consumed([job], working())
        world.database.failing = []
        world.blobs.away = False
        await asyncio.sleep(62)

        await world.consumed([job], working())

        assert (await world.now(job)).state is JobState.SUCCEEDED

    world.run(main())
    assert "paid_result_lost" in capsys.readouterr().out


def test_a_failure_that_cannot_be_written_is_not_kept(world: World) -> None:
    async def main() -> None:
        job = await world.submitted()
        world.database.failing = [("late_writes", "before")] * 1000

        await world.consumed([job], working(result=ValueError()))

        assert world.blobs.kept == {}

    world.run(main())


def test_a_large_result_waits_for_storage_as_for_any_other_service(world: World) -> None:
    async def main() -> None:
        job = await world.submitted()
        world.blobs.away = True

        await world.consumed([job], working(result={"summary": "x" * 5000}))

        after = await world.now(job)
        assert (after.state, after.error_code) == (JobState.RETRYING, "storage_unavailable")

    world.run(main())


def test_a_message_is_brought_again_when_the_database_is_away_for_its_verdict(
    world: World,
) -> None:
    async def main() -> None:
        job = await world.submitted(deadline=timedelta(seconds=1))
        await asyncio.sleep(2)
        world.database.failing = [("FAIL", "before"), ("deadline_passed", "before")]
        world.database.failing = [("SET state = CASE WHEN cancel_requested_at IS NULL", "before")]

        (verdict,) = await world.consumed([job], working())

        assert verdict == KnockAgain(after=world.settings.lease)

    world.run(main())


def test_burying_waits_for_the_database(world: World) -> None:
    async def main() -> None:
        world.database.failing = [("INSERT INTO dead_letters", "before")]

        assert await world.consumed(["garbage"], working()) == [
            KnockAgain(after=world.settings.lease)
        ]

    world.run(main())
