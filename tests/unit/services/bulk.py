"""Dead letters by the dozen, and bulk redrives of them, in a world of virtual time."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from functools import partial
from typing import Any, Final

from tests.unit.services.world import World, working
from uketsuke.domain.audit import Act
from uketsuke.domain.bulk_redrive import LetterFilter, RedriveState
from uketsuke.domain.failure import AttemptFailed, ErrorClass
from uketsuke.domain.job import EncodedResult, Job
from uketsuke.kinds.plan import rework
from uketsuke.kinds.registry import KINDS
from uketsuke.services.execute import Attempt, Worker
from uketsuke.services.ports import ShownRedrive
from uketsuke.services.redrive import Planner, new_act
from uketsuke.services.redrives import WantedRedrive, start_redrive
from uketsuke.services.sweep import sweep

OUTAGE: Final = AttemptFailed(ErrorClass.UNAVAILABLE, "provider_unavailable")
REFUSED: Final = AttemptFailed(ErrorClass.REFUSED, "provider_refused")
_WAVE: Final = 50


async def bury(world: World, count: int, *, error: Exception = OUTAGE, **changes: Any) -> list[Job]:
    """Let so many jobs fail for good, one after another; their metadata tells them apart."""
    jobs = [
        await world.submitted(**{"max_attempts": 1, "metadata": {"n": str(number)}, **changes})
        for number in range(count)
    ]
    for start in range(0, count, _WAVE):
        await world.consumed(jobs[start : start + _WAVE], working(result=error))
    world.queue.sent.clear()
    await asyncio.sleep(1)
    return jobs


async def ask(world: World, wanted: LetterFilter | None = None, **changes: Any) -> str:
    """Ask for a bulk redrive and return its id."""
    values: dict[str, Any] = {
        "wanted": wanted or LetterFilter(),
        "reason": "the outage is over",
        "rate_per_minute": 60,
        "canary": 3,
        "actor": "key-1",
        "request_id": "req-1",
    }
    started = await start_redrive(WantedRedrive(**{**values, **changes}), ports=world.ports)
    return started.shown.redrive.id


async def look(world: World, name: str) -> ShownRedrive:
    shown = await world.ports.redrives.find(name)
    assert shown
    return shown


def planner(world: World) -> Planner:
    return partial(rework, kinds=KINDS, settings=world.settings)


async def tick(world: World, *, after: float = 60) -> None:
    """Let the next minute come, and its sweep."""
    await asyncio.sleep(after)
    await sweep(world.ports, planner=planner(world))


async def work(world: World, worker: Worker | None = None) -> int:
    """Work whatever the queue holds to its end; return how many messages there were."""
    sent = list(world.queue.sent)
    world.queue.sent.clear()
    for start in range(0, len(sent), _WAVE):
        await world.consumed(sent[start : start + _WAVE], worker or working())
    return len(sent)


def failing(numbers: Collection[int], error: Exception = OUTAGE) -> Worker:
    """Work that fails for the jobs of these numbers, and for no others."""

    async def do(attempt: Attempt) -> Mapping[str, object] | EncodedResult:
        bad = int(attempt.leased.job.metadata["n"]) in numbers
        return await working(result=error if bad else None)(attempt)

    return do


async def drive(world: World, name: str, worker: Worker | None = None, *, most: int = 60) -> int:
    """Tick and work until it has ended; return how many minutes that took."""
    for minute in range(most):
        await tick(world)
        await work(world, worker)
        if (await look(world, name)).redrive.finished_at:
            return minute + 1
    raise AssertionError(f"not over after {most} minutes: {await look(world, name)}")


def an_act(world: World) -> Act:
    return new_act("key-2", reason="enough", request_id="req-2", ports=world.ports)


async def started(world: World, name: str) -> int:
    return (await look(world, name)).figures.started


async def state(world: World, name: str) -> RedriveState:
    return (await look(world, name)).redrive.state


def redriven_once(world: World) -> int:
    """Return how many letters were redriven; each to one job, and no job without a letter."""
    letters = world.rows("SELECT redriven_to FROM dead_letters WHERE status = 'redriven'")
    jobs = world.rows("SELECT id FROM jobs WHERE origin = 'redrive'")
    acts = world.rows("SELECT target FROM audit WHERE action = 'dead_letter.redriven'")
    assert sorted(row["redriven_to"] for row in letters) == sorted(row["id"] for row in jobs)
    assert len({row["target"] for row in acts}) == len(acts) == len(letters)
    return len(letters)


def stops(world: World) -> list[dict[str, Any]]:
    return world.rows("SELECT action FROM audit WHERE action = 'redrive.stopped'")
