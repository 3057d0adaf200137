"""A run follows the plan that it began with, in another life, another attempt and newer code."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from datetime import timedelta

import msgspec
import pytest

from tests.unit.providers.talking import TalkingHttp, deploy
from tests.unit.services.world import World
from uketsuke.domain.failure import ErrorClass
from uketsuke.domain.job import InputForm, Job
from uketsuke.domain.lane import Capability
from uketsuke.domain.lifecycle import Engine, JobState
from uketsuke.kinds.kind import Chat, Kind, Work
from uketsuke.services.sweep import sweep


class NoParams(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """It takes none."""


def kinds_of(*, steps: int, version: int, knows: set[int]) -> Mapping[str, Kind]:
    """One kind, that plans so many calls, in a version of its own."""

    async def run(work: Work, _params: NoParams) -> dict[str, object]:
        plan = await work.plan(version, lambda: {"steps": steps})
        for number in range(plan["steps"]):
            await work.chat(Chat(step=f"s-{number}", system="s", user="u", max_output_tokens=1))
        return {"steps": plan["steps"], "version": plan["version"]}

    kind = Kind(
        name="summarize",
        params=NoParams,
        forms=frozenset({InputForm.TEXT}),
        max_input_bytes=100,
        engine=lambda _form, _size: Engine.WORKFLOW,
        calls=frozenset({Capability.CHAT}),
        run=run,
        plan_versions=frozenset(knows),
    )
    return {kind.name: kind}


@pytest.fixture
def world() -> Iterator[World]:
    world = World()
    yield world
    world.close()


async def interrupted(world: World, http: TalkingHttp) -> Job:
    """A run that planned three steps by version 1 and died within its second one."""
    deploy(world, http, kinds_of(steps=3, version=1, knows={1}))
    job = await world.submitted(engine=Engine.WORKFLOW, run_limit=timedelta(hours=1))
    await asyncio.sleep(http.seconds * 1.5)
    world.workflows.die(f"{job.id}-1")
    return job


async def woken(world: World, job: Job) -> Job:
    await asyncio.sleep(61)
    await sweep(world.ports)
    await asyncio.sleep(60)
    return await world.now(job)


def test_newer_code_follows_the_plan_that_the_run_began_with(world: World) -> None:
    http = TalkingHttp(seconds=10)

    async def main() -> None:
        job = await interrupted(world, http)
        deploy(world, http, kinds_of(steps=7, version=2, knows={1, 2}))

        done = await woken(world, job)

        assert done.state is JobState.SUCCEEDED
        text = await world.ports.jobs.result_text(job.key, attempt=1)
        assert text == '{"steps":3,"version":1}'
        steps = [headers["idempotency-key"] for headers, _, _ in http.calls]
        assert steps == [f"{job.id}.s-{n}.0" for n in (0, 1, 1, 2)]  # s-1 was cut in its call

    world.run(main())


def test_a_plan_of_a_version_that_is_not_known_any_more_fails_the_run(world: World) -> None:
    http = TalkingHttp(seconds=10)

    async def main() -> None:
        job = await interrupted(world, http)
        deploy(world, http, kinds_of(steps=7, version=3, knows={2, 3}))

        done = await woken(world, job)

        assert (done.state, done.error_class, done.error_code) == (
            JobState.FAILED,
            ErrorClass.NOT_FOUND,
            "not_supported",
        )
        assert len(http.calls) == 2
        (letter,) = world.rows("SELECT road, code FROM dead_letters")
        assert letter == {"road": "permanent", "code": "not_supported"}

    world.run(main())


def test_one_call_of_a_long_run_takes_no_longer_than_an_attempt_of_the_queue(
    world: World,
) -> None:
    http = TalkingHttp(seconds=1)

    async def main() -> None:
        deploy(world, http, kinds_of(steps=1, version=1, knows={1}))
        await world.submitted(engine=Engine.WORKFLOW, run_limit=timedelta(hours=6))
        await asyncio.sleep(10)

        ((_, _, timeout),) = http.calls
        assert timeout == world.settings.attempt_limit * 0.95

    world.run(main())
