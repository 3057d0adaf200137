"""Redrives: a new job with all that the old one was asked with, or a refusal that says why."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import TypeVar

import pytest

from tests.unit.services.letters import (
    LARGE,
    REFUSED,
    an_act,
    buried,
    content_of,
    fail,
    purge,
    redriven,
    uploaded,
)
from tests.unit.services.world import World, working
from uketsuke.domain.dead_letter import LetterStatus
from uketsuke.domain.job import InputForm, Rework
from uketsuke.domain.lifecycle import Engine, JobState, Origin
from uketsuke.services.redrive import (
    InputGone,
    NotReplayable,
    Redriven,
    RunHeld,
    redrive_as_it_was,
    refusal_of,
)

T = TypeVar("T")


def jobs(world: World) -> list[str]:
    return [row["id"] for row in world.rows("SELECT id FROM jobs")]


def audit(world: World) -> list[tuple[str, str]]:
    return [(row["action"], row["target"]) for row in world.rows("SELECT * FROM audit")]


def test_a_redrive_is_a_new_job_that_is_asked_as_the_old_one_was(world: World) -> None:
    async def main() -> None:
        letter = await buried(
            world,
            params={"max_words": 50},
            metadata={"order": "7"},
            run_key="nightly",
            deadline=timedelta(seconds=1234),
            max_cost_micros=7_000_000,
        )
        await asyncio.sleep(3600)

        outcome = await redriven(world, letter, act=an_act(world, "the outage is over"))

        assert isinstance(outcome, Redriven)
        old = await world.ports.jobs.find(letter.job_id or "", tenant_id="acme")
        new = await world.now(outcome.job)
        assert old
        same = ("kind", "params", "metadata", "run_key", "max_attempts", "max_cost_micros")
        assert [getattr(new, name) for name in same] == [getattr(old, name) for name in same]
        assert new.deadline_at - new.created_at == timedelta(seconds=1234)
        assert await content_of(world, new) == "some text"
        assert (new.origin, new.state, new.attempts) == (Origin.REDRIVE, JobState.ACCEPTED, 0)
        assert (new.redriven_from, old.redriven_to, new.redrives) == (old.id, new.id, 1)
        assert world.queue.sent[-1]["job"] == new.id

    world.run(main())


def test_a_redriven_letter_says_what_became_of_it_by_whom_and_why(world: World) -> None:
    async def main() -> None:
        letter = await buried(world)
        act = an_act(world, "the outage is over")

        outcome = await redriven(world, letter, act=act)

        assert isinstance(outcome, Redriven)
        now = await world.ports.dead_letters.find(letter.id)
        assert now
        assert (now.status, now.redriven_to) == (LetterStatus.REDRIVEN, outcome.job.id)
        assert (now.resolved_by, now.reason) == ("k", "the outage is over")
        assert now.resolved_at == outcome.job.created_at
        (row,) = world.rows("SELECT * FROM audit")
        assert (row["id"], row["action"], row["target"]) == (act.id, "dead_letter.redriven", now.id)
        assert (row["tenant_id"], row["reason"]) == ("acme", "the outage is over")
        assert row["detail"] == f'{{"job":"{outcome.job.id}"}}'

    world.run(main())


@pytest.mark.parametrize("content", ["some text", LARGE], ids=["inline", "an object"])
def test_a_copied_input_lives_on_when_the_old_job_is_purged(world: World, content: str) -> None:
    async def main() -> None:
        letter = await buried(world, content=content)
        await asyncio.sleep(timedelta(days=29).total_seconds())
        outcome = await redriven(world, letter)
        assert isinstance(outcome, Redriven)

        await asyncio.sleep(timedelta(days=2).total_seconds())
        await purge(world)

        assert jobs(world) == [outcome.job.id]
        assert await content_of(world, await world.now(outcome.job)) == content

    world.run(main())


def test_a_named_upload_lives_on_when_the_old_job_is_purged(world: World) -> None:
    async def main() -> None:
        stored = await uploaded(world)
        letter = await buried(world, form=InputForm.REF, content=None, refs=(stored,))
        await asyncio.sleep(timedelta(days=29).total_seconds())
        outcome = await redriven(world, letter)
        assert isinstance(outcome, Redriven)

        await asyncio.sleep(timedelta(days=20).total_seconds())
        await purge(world)

        assert jobs(world) == [outcome.job.id]
        assert outcome.job.input.refs == (stored,)
        assert await world.ports.inputs.find([stored], tenant_id="acme")

    world.run(main())


def test_a_named_result_lives_on_as_long_as_the_new_job_may_be_redriven(world: World) -> None:
    async def main() -> None:
        source = await world.submitted()
        await world.consumed([source], working())
        letter = await buried(
            world, kind="report", form=InputForm.REFS, content=None, refs=(source.id,)
        )
        await asyncio.sleep(timedelta(days=29).total_seconds())
        outcome = await redriven(world, letter)
        assert isinstance(outcome, Redriven)

        await asyncio.sleep(timedelta(days=20).total_seconds())
        await purge(world)

        assert outcome.job.input.refs == (source.id,)
        assert source.id in jobs(world)
        assert letter.job_id not in jobs(world)

    world.run(main())


def test_a_redrive_that_would_run_on_a_workflow_is_born_running(world: World) -> None:
    async def main() -> None:
        letter = await buried(world)
        run = Rework(engine=Engine.WORKFLOW, run_limit=timedelta(hours=1), expected=None)

        outcome = await redrive_as_it_was(
            letter, act=an_act(world), planner=lambda *_: run, ports=world.ports
        )

        assert isinstance(outcome, Redriven)
        assert (outcome.job.state, outcome.job.attempts) == (JobState.RUNNING, 1)
        assert f"{outcome.job.id}-1" in world.workflows.instances

    world.run(main())


def test_a_run_key_that_a_live_job_holds_keeps_the_letter_open(world: World) -> None:
    async def main() -> None:
        letter = await buried(world, run_key="nightly")
        live = await world.submitted(run_key="nightly")

        held = await redriven(world, letter)

        assert held == RunHeld(job=live)
        assert await world.ports.dead_letters.find(letter.id) == letter
        assert audit(world) == []
        await world.consumed([live], working())
        assert isinstance(await redriven(world, letter), Redriven)

    world.run(main())


def test_after_three_redrives_of_a_line_the_next_must_be_meant(world: World) -> None:
    async def main() -> None:
        letter = await buried(world)
        for count in (1, 2, 3):
            outcome = await redriven(world, letter)
            assert isinstance(outcome, Redriven)
            assert outcome.job.redrives == count
            letter = await fail(world, outcome.job)

        assert isinstance(await redriven(world, letter), NotReplayable)
        assert await world.ports.dead_letters.find(letter.id) == letter
        fourth = await redriven(world, letter, forced=True)

        assert isinstance(fourth, Redriven)
        assert fourth.job.redrives == 4

    world.run(main())


def test_what_a_patch_must_mend_is_not_redriven_as_it_was(world: World) -> None:
    async def main() -> None:
        letter = await buried(world, REFUSED)

        refusal = await redriven(world, letter, forced=True)

        assert isinstance(refusal, NotReplayable)
        assert "patch" in refusal.why
        assert refusal_of(letter, patched=True, forced=False) is None

    world.run(main())


@pytest.mark.parametrize("error", [REFUSED, None], ids=["refused", "an outage"])
@pytest.mark.parametrize("patched", [True, False])
def test_a_version_that_is_not_read_is_not_redriven_with_a_patch_either(
    world: World, error: Exception | None, patched: bool
) -> None:
    async def main() -> None:
        letter = await buried(world, *filter(None, [error]))
        for until in (letter.replayable_until, None):
            newer = replace(letter, schema_version=2, replayable_until=until)

            assert isinstance(refusal_of(newer, patched=patched, forced=True), NotReplayable)

    world.run(main())


@pytest.mark.parametrize("patched", [True, False])
def test_a_message_of_no_job_is_never_redriven(world: World, patched: bool) -> None:
    async def main() -> None:
        await world.consumed([{"v": 1, "rubbish": True}], working(), number=9)
        (row,) = world.rows("SELECT id FROM dead_letters")
        letter = await world.ports.dead_letters.find(row["id"])
        assert letter

        for code in (letter.code, "some_new_code"):
            asked = replace(letter, code=code)
            assert isinstance(refusal_of(asked, patched=patched, forced=True), NotReplayable)

    world.run(main())


def test_of_an_input_that_is_gone_only_a_patch_helps_while_the_job_is_there(world: World) -> None:
    async def main() -> None:
        letter = await buried(world)
        gone = replace(letter, replayable_until=None)

        assert isinstance(refusal_of(gone, patched=False, forced=True), InputGone)
        assert refusal_of(gone, patched=True, forced=False) is None
        without_job = replace(gone, job_there=False)
        assert isinstance(refusal_of(without_job, patched=True, forced=True), InputGone)

    world.run(main())


def test_a_purged_job_is_told_as_gone(world: World) -> None:
    async def main() -> None:
        letter = await buried(world)
        await asyncio.sleep(timedelta(days=31).total_seconds())
        await purge(world)

        for known in (letter, await world.ports.dead_letters.find(letter.id)):
            assert known
            assert isinstance(await redriven(world, known), InputGone)

    world.run(main())


def test_a_kind_that_the_deployment_dropped_is_not_redriven(world: World) -> None:
    async def main() -> None:
        letter = await buried(world)

        refusal = await redrive_as_it_was(
            letter, act=an_act(world), planner=lambda *_: None, ports=world.ports
        )

        assert isinstance(refusal, NotReplayable)

    world.run(main())
