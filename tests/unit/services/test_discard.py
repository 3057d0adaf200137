"""Discards: a letter is resolved once, with its audit row, and nothing of it is left behind."""

from __future__ import annotations

import pytest

from tests.unit.services.letters import LARGE, an_act, buried, redriven
from tests.unit.services.world import World, working
from uketsuke.domain.dead_letter import DeadLetter, LetterStatus
from uketsuke.services.discard import discard
from uketsuke.services.ports import Unavailable
from uketsuke.services.redrive import AlreadyResolved, Redriven


def test_a_discarded_letter_says_by_whom_and_why(world: World) -> None:
    async def main() -> None:
        letter = await buried(world)

        now = await discard(letter, act=an_act(world, "a test"), ports=world.ports)

        assert isinstance(now, DeadLetter)
        assert now == await world.ports.dead_letters.find(letter.id)
        assert (now.status, now.redriven_to) == (LetterStatus.DISCARDED, None)
        assert (now.resolved_by, now.reason) == ("k", "a test")
        (row,) = world.rows("SELECT * FROM audit")
        assert (row["action"], row["target"]) == ("dead_letter.discarded", letter.id)
        assert (row["tenant_id"], row["reason"], row["detail"]) == ("acme", "a test", "{}")

    world.run(main())


def test_a_letter_is_discarded_once_and_not_redriven_then(world: World) -> None:
    async def main() -> None:
        letter = await buried(world)
        now = await discard(letter, act=an_act(world), ports=world.ports)
        assert isinstance(now, DeadLetter)

        again = await discard(letter, act=an_act(world, "again"), ports=world.ports)

        assert again == AlreadyResolved(letter=now)
        assert await redriven(world, letter) == AlreadyResolved(letter=now)
        assert await redriven(world, now) == AlreadyResolved(letter=now)
        assert len(world.rows("SELECT * FROM audit")) == 1
        assert len(world.rows("SELECT * FROM jobs")) == 1

    world.run(main())


def test_a_redriven_letter_is_not_discarded(world: World) -> None:
    async def main() -> None:
        letter = await buried(world)
        outcome = await redriven(world, letter)
        assert isinstance(outcome, Redriven)

        late = await discard(letter, act=an_act(world), ports=world.ports)

        assert isinstance(late, AlreadyResolved)
        assert late.letter.redriven_to == outcome.job.id

    world.run(main())


def test_a_discard_whose_answer_was_lost_has_happened_once(world: World) -> None:
    async def main() -> None:
        letter = await buried(world)
        world.database.failing = [("UPDATE dead_letters", "after")]
        with pytest.raises(Unavailable):
            await discard(letter, act=an_act(world), ports=world.ports)

        again = await discard(letter, act=an_act(world), ports=world.ports)

        assert isinstance(again, AlreadyResolved)
        assert again.letter.status is LetterStatus.DISCARDED
        assert len(world.rows("SELECT * FROM audit")) == 1

    world.run(main())


def test_what_a_redrive_that_never_arrived_has_stored_goes_with_the_discard(world: World) -> None:
    async def main() -> None:
        letter = await buried(world, content=LARGE)
        world.database.failing = [("INSERT INTO jobs", "before")]
        with pytest.raises(Unavailable):
            await redriven(world, letter)

        await discard(letter, act=an_act(world), ports=world.ports)

        (left,) = world.blobs.kept
        assert left.startswith(f"acme/{letter.job_id}/")

    world.run(main())


def test_a_message_of_no_job_may_be_discarded(world: World) -> None:
    async def main() -> None:
        await world.consumed([{"v": 1, "rubbish": True}], working(), number=9)
        (row,) = world.rows("SELECT id FROM dead_letters")
        letter = await world.ports.dead_letters.find(row["id"])
        assert letter

        now = await discard(letter, act=an_act(world), ports=world.ports)

        assert isinstance(now, DeadLetter)
        assert now.status is LetterStatus.DISCARDED
        (audited,) = world.rows("SELECT * FROM audit")
        assert audited["tenant_id"] is None

    world.run(main())
