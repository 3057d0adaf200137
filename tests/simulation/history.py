"""One history, from its seed to its verdict."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tests.simulation.actors import Callers, Consumers, Cron, Runs
from tests.simulation.bulk_rules import judge_bulks
from tests.simulation.bulks import Bulks
from tests.simulation.isolate import IsolateDied, track_tasks
from tests.simulation.loop import NothingWillHappen, VirtualLoop, run, virtual_loop
from tests.simulation.operators import Operators
from tests.simulation.profile import Profile, draw_profile
from tests.simulation.provider import SECRET
from tests.simulation.purge import judge_letters_purge, judge_purge, race_with_purge
from tests.simulation.strangers import Strangers
from tests.simulation.trace import TelemetryTap, Trace
from tests.simulation.verdict import judge, judge_diagnosis, judge_letters, last_moment_ms
from tests.simulation.wire import LONGEST_DRAG
from tests.simulation.world import SharedDatabase, World

_LOOK_EVERY = 15.0
_PURGED = 0.3  # how many histories are followed to the end of their retention, and examined
_DRAIN = 8 * 3600.0
_BULKS_END_WITHIN_MS = 4 * 3_600_000


@dataclass(frozen=True, slots=True)
class History:
    """What came of a seed."""

    seed: int
    trace: Trace
    profile: Profile

    @property
    def broken(self) -> str | None:
        """The short name of the first rule that was broken."""
        return self.trace.broken[0].rule if self.trace.broken else None

    @property
    def seen(self) -> Counter[str]:
        return self.trace.seen

    def report(self) -> str:
        """Tell the whole story, for whoever has to find the cause."""
        head = f"seed {self.seed}\n{self.profile}\n"
        ends = "\n".join(str(breach) for breach in self.trace.broken)
        return f"{head}{self.trace.render()}\n\nseed {self.seed} broke:\n{ends}"


def play(seed: int, *, shared: SharedDatabase, sharing: float = 0.0) -> History:
    """Play the history of a seed to its end. The same seed gives the same history.

    ``sharing`` is how likely a consumer's event is to run in one process with others.
    """
    rng = random.Random(seed)
    profile = replace(draw_profile(rng), sharing=sharing)
    shared.empty()
    with virtual_loop() as loop:
        shared.follow(loop, tick=lambda: rng.random() * profile.statement)
        loop.set_task_factory(track_tasks)
        trace = Trace(loop.time)
        loop.set_exception_handler(lambda _, told: _note_stray_error(trace, told))
        world = World(profile, rng, trace, shared)
        with contextlib.redirect_stdout(TelemetryTap(trace, secret=SECRET)):
            _run(world, loop)
    return History(seed, trace, profile)


def _note_stray_error(trace: Trace, told: Mapping[str, Any]) -> None:
    """What nobody caught is a fault of the product's or the simulator's, unless its Worker died."""
    error = told.get("exception")
    if not isinstance(error, IsolateDied):
        trace.breach("no-stray-errors", f"{told.get('message')} {error!r}")


def _run(world: World, loop: VirtualLoop) -> None:
    try:
        run(_play(world), loop=loop)
    except NothingWillHappen:
        world.trace.breach("simulator", "everybody waits")


async def _play(world: World) -> None:
    consumers, callers, cron = Consumers(world), Callers(world), Cron(world)
    world.queue.handler = consumers.handle
    world.dead_queue.handler = consumers.handle_dead
    world.workflows.live = Runs(world).live
    callers.start()
    strangers, operators, bulks = Strangers(world), Operators(world), Bulks(world)
    for group in (strangers, operators, bulks):
        group.start()
    world.spawn(cron.tick_forever())
    await asyncio.sleep(world.profile.heals_at)
    world.heal()
    # What was sent before may yet take effect.
    await asyncio.sleep(LONGEST_DRAG)
    healed_at_ms = max(world.now_ms(), world.duty_held_until_ms())
    await _until_all_ended(world, [callers, operators, bulks], healed_at_ms)
    await _until_drained(world)
    await judge(world, callers, healed_at_ms=healed_at_ms)
    judge_letters(world, strangers.sent)
    judge_bulks(world.ledger)
    if world.rng.random() < _PURGED:
        await judge_diagnosis(world)
        await race_with_purge(world, operators)
        await judge_purge(world)
        await operators.look_back()
        await judge_letters_purge(world)
        await judge_diagnosis(world)
    await world.end()


async def _until_all_ended(
    world: World, people: Sequence[Callers | Operators | Bulks], healed_at_ms: int
) -> None:
    while True:
        late = [
            row
            for row in world.ledger.rows.values()
            if not row.terminal
            and world.now_ms() > last_moment_ms(world, row, healed_at_ms=healed_at_ms)
        ]
        live = any(not row.terminal for row in world.ledger.rows.values())
        live = live or _bulks_go_on(world, healed_at_ms)
        if late or not (live or any(group.left for group in people)):
            return
        await asyncio.sleep(_LOOK_EVERY)


def _bulks_go_on(world: World, healed_at_ms: int) -> bool:
    """Whether the cron is still needed for a bulk redrive; not for ever."""
    going = any(bulk.closed_at is None for bulk in world.ledger.bulks.values())
    return going and world.now_ms() < healed_at_ms + _BULKS_END_WITHIN_MS


async def _until_drained(world: World) -> None:
    world.cron_stopped = True
    until = asyncio.get_running_loop().time() + _DRAIN
    # Time is virtual: looking again costs less than being told.
    while world.busy() and asyncio.get_running_loop().time() < until:  # noqa: ASYNC110
        await asyncio.sleep(60)
