"""Dead letters as the services' tests meet them: how a job gets one, and what is done about it."""

from __future__ import annotations

from functools import partial
from typing import Any

from tests.unit.services.world import World, working
from uketsuke.domain.audit import Act
from uketsuke.domain.dead_letter import DeadLetter
from uketsuke.domain.failure import AttemptFailed, ErrorClass
from uketsuke.domain.job import Job
from uketsuke.kinds.plan import rework
from uketsuke.kinds.registry import KINDS
from uketsuke.services.purge import purge_inputs, purge_jobs
from uketsuke.services.redrive import (
    Redriven,
    Refusal,
    new_act,
    redrive_as_it_was,
    stored_input,
)
from uketsuke.services.upload import upload

OUTAGE = AttemptFailed(ErrorClass.UNAVAILABLE, "provider_unavailable")
REFUSED = AttemptFailed(ErrorClass.REFUSED, "provider_refused")
LARGE = "long " * 2000


async def letter_of(world: World, job: Job) -> DeadLetter:
    letter = await world.ports.dead_letters.find(f"dl_{job.id.removeprefix('job_')}")
    assert letter is not None
    return letter


async def fail(world: World, job: Job, error: Exception = OUTAGE) -> DeadLetter:
    """Work a job, which must be at its last attempt, and return its letter."""
    await world.consumed([job], working(result=error))
    return await letter_of(world, job)


async def buried(world: World, error: Exception = OUTAGE, **changes: Any) -> DeadLetter:
    """Submit a job that has one attempt, and fail it."""
    job = await world.submitted(**{"max_attempts": 1, **changes})
    return await fail(world, job, error)


def an_act(world: World, reason: str = "because") -> Act:
    return new_act("k", reason=reason, request_id="r", ports=world.ports)


async def redriven(
    world: World, letter: DeadLetter, *, forced: bool = False, act: Act | None = None
) -> Redriven | Refusal:
    """Redrive a letter as it was, by the rules of this deployment's kinds."""
    return await redrive_as_it_was(
        letter,
        act=act or an_act(world),
        planner=partial(rework, kinds=KINDS, settings=world.settings),
        ports=world.ports,
        forced=forced,
    )


async def uploaded(world: World) -> str:
    stored = await upload(
        b"words", tenant_id="acme", content_type="text/plain", length=5, ports=world.ports
    )
    return stored.ref


async def purge(world: World) -> None:
    await purge_jobs(world.ports)
    await purge_inputs(world.ports)


async def content_of(world: World, job: Job) -> Any:
    """Return what a job was given, if it is there."""
    given = await stored_input(job, ports=world.ports)
    return None if given is None else given.content
