"""Redrives beside others, the purge and lost answers: one new job, and its input is there."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import replace
from datetime import timedelta
from typing import Any, TypeVar

import pytest

from tests.unit.services.letters import (
    LARGE,
    an_act,
    buried,
    content_of,
    purge,
    redriven,
    uploaded,
)
from tests.unit.services.world import World
from uketsuke.domain.dead_letter import LetterStatus
from uketsuke.domain.job import InputForm, Job, Rework
from uketsuke.domain.lifecycle import Engine
from uketsuke.services.discard import discard
from uketsuke.services.ports import Unavailable
from uketsuke.services.redrive import (
    AlreadyResolved,
    InputGone,
    Redriven,
    redrive,
    resubmission,
    stored_input,
)

T = TypeVar("T")


def jobs(world: World) -> list[str]:
    return [row["id"] for row in world.rows("SELECT id FROM jobs")]


def audit(world: World) -> list[tuple[str, str]]:
    return [(row["action"], row["target"]) for row in world.rows("SELECT * FROM audit")]


async def given_as(world: World, form: str) -> dict[str, Any]:
    if form == "an upload":
        ref = await uploaded(world)
        return {"form": InputForm.REF, "content": None, "refs": (ref,)}
    return {"content": LARGE if form == "an object" else "some text"}


async def purging(world: World) -> None:
    for _ in range(10):
        await purge(world)


async def is_there(world: World, job: Job) -> bool:
    """Whether what a job was given is there, uploads too."""
    if not job.input.refs:
        return await content_of(world, job) is not None
    (upload,) = (await world.ports.inputs.find(job.input.refs, tenant_id="acme")).values()
    return upload.object_key in world.blobs.kept


@pytest.mark.parametrize("content", ["some text", LARGE], ids=["inline", "an object"])
def test_of_a_hundred_redrives_at_once_one_has_a_job(world: World, content: str) -> None:
    async def main() -> None:
        letter = await buried(world, content=content)

        outcomes = await asyncio.gather(*(redriven(world, letter) for _ in range(100)))

        (won,) = [each for each in outcomes if isinstance(each, Redriven)]
        lost = [each for each in outcomes if isinstance(each, AlreadyResolved)]
        assert {each.letter.redriven_to for each in lost} == {won.job.id}
        assert len(lost) == 99
        assert set(jobs(world)) == {letter.job_id, won.job.id}
        assert audit(world) == [("dead_letter.redriven", letter.id)]
        assert await content_of(world, won.job) == content
        assert len(world.blobs.kept) == 2 * (content == LARGE)

    world.run(main())


@pytest.mark.parametrize("first", ["redrive", "discard"])
def test_of_a_redrive_and_a_discard_at_once_one_happens(world: World, first: str) -> None:
    async def main() -> None:
        letter = await buried(world, content=LARGE)
        acts = [redriven(world, letter), discard(letter, act=an_act(world), ports=world.ports)]

        outcomes = await asyncio.gather(*(acts if first == "redrive" else acts[::-1]))

        now = await world.ports.dead_letters.find(letter.id)
        assert now
        (lost,) = [each for each in outcomes if isinstance(each, AlreadyResolved)]
        assert lost.letter == now
        assert audit(world) == [(f"dead_letter.{now.status}", letter.id)]
        was_redriven = now.status is LetterStatus.REDRIVEN
        assert len(jobs(world)) == len(world.blobs.kept) == 1 + was_redriven

    world.run(main())


def test_a_redrive_whose_answer_was_lost_is_told_with_its_own_job(world: World) -> None:
    async def main() -> None:
        letter = await buried(world, content=LARGE)
        world.database.failing = [("INSERT INTO jobs", "after")]
        with pytest.raises(Unavailable):
            await redriven(world, letter)
        (new,) = set(jobs(world)) - {letter.job_id}

        again = await redriven(world, letter)

        assert isinstance(again, AlreadyResolved)
        assert again.letter.redriven_to == new
        assert set(jobs(world)) == {letter.job_id, new}
        job = await world.ports.jobs.find(new, tenant_id="acme")
        assert job
        assert await content_of(world, job) == LARGE
        assert audit(world) == [("dead_letter.redriven", letter.id)]

    world.run(main())


def test_what_a_try_that_never_arrived_has_stored_goes_with_the_next(world: World) -> None:
    async def main() -> None:
        letter = await buried(world, content=LARGE)
        world.database.failing = [("INSERT INTO jobs", "before")]
        with pytest.raises(Unavailable):
            await redriven(world, letter)
        assert len(world.blobs.kept) == 2

        outcome = await redriven(world, letter)

        assert isinstance(outcome, Redriven)
        assert await content_of(world, outcome.job) == LARGE
        assert len(world.blobs.kept) == 2

    world.run(main())


def test_strays_that_cannot_be_dropped_are_noted_and_the_redrive_stands(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    async def away(_: object) -> None:
        raise Unavailable

    async def main() -> None:
        letter = await buried(world, content=LARGE)
        world.blobs.names = away  # type: ignore[assignment, method-assign]

        assert isinstance(await redriven(world, letter), Redriven)

    world.run(main())
    assert "orphan_left" in capsys.readouterr().out


def test_an_upload_that_went_after_the_look_is_told_as_gone(world: World) -> None:
    async def main() -> None:
        stored = await uploaded(world)
        letter = await buried(world, form=InputForm.REF, content=None, refs=(stored,))
        world.connection.execute("UPDATE inputs SET expires_at = 1")

        assert isinstance(await redriven(world, letter), InputGone)

        now = await world.ports.dead_letters.find(letter.id)
        assert now
        assert now.status is LetterStatus.OPEN

    world.run(main())


@pytest.mark.parametrize("form", ["inline", "an object", "an upload"])
def test_a_redrive_beside_the_purge_has_its_input_or_does_not_happen(form: str) -> None:
    """The old job expires just as the redrive is at work: the purge comes at each of its steps."""

    async def main(world: World, delay: float) -> type:
        letter = await buried(world, **await given_as(world, form))
        assert letter.replayable_until
        wait = letter.replayable_until - world.ports.clock.now()
        await asyncio.sleep(wait.total_seconds() - 0.005)

        outcome, _ = await asyncio.gather(late(delay, redriven(world, letter)), purging(world))

        if isinstance(outcome, Redriven):
            assert await is_there(world, await world.now(outcome.job))
        return type(outcome)

    outcomes = [in_a_world(main, step / 1000) for step in range(12)]
    assert set(outcomes) == {Redriven, InputGone}


async def late(seconds: float, act: Awaitable[T]) -> T:
    await asyncio.sleep(seconds)
    return await act


def in_a_world(main: Callable[[World, float], Coroutine[Any, Any, T]], delay: float) -> T:
    world = World()
    try:
        return world.run(main(world, delay))
    finally:
        world.close()


def test_no_job_of_another_tenant_resolves_a_letter(world: World) -> None:
    async def main() -> None:
        letter = await buried(world)
        job = await world.ports.jobs.find(letter.job_id or "", tenant_id="acme")
        assert job
        given = await stored_input(job, ports=world.ports)
        assert given
        plan = Rework(engine=Engine.QUEUE, run_limit=timedelta(minutes=5), expected=None)
        wanted = replace(resubmission(job, given, plan), tenant_id="other")

        outcome = await redrive(letter, wanted, act=an_act(world), ports=world.ports)

        assert not isinstance(outcome, Redriven)
        assert jobs(world) == [letter.job_id]
        assert await world.ports.dead_letters.find(letter.id) == letter
        assert audit(world) == []

    world.run(main())
