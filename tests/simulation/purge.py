"""The end of a history's retention: operators who come late, and what the purge must leave."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from tests.simulation.isolate import Isolate
from tests.simulation.operators import Operators
from tests.simulation.planner import planner_of
from tests.simulation.world import World
from uketsuke.services.sweep import sweep

_TICKS = 75  # the longest deadline, and what ending takes after it


async def race_with_purge(world: World, operators: Operators) -> None:
    """Redrive what is open while its jobs are being purged, and let what comes of that end."""
    failed = [row for row in world.ledger.rows.values() if row.state == "failed"]
    times = sorted(row.expires_at or 0 for row in failed)
    if not times:
        return
    middle = times[len(times) // 2]
    await asyncio.sleep((middle - world.now_ms()) / 1000 - 0.5)
    await asyncio.gather(_tick(world), operators.come_late(), _tick(world))
    for _ in range(_TICKS):
        if all(row.terminal for row in world.ledger.rows.values()):
            return
        await asyncio.sleep(60)
        await _tick(world)
    left = [row.id for row in world.ledger.rows.values() if not row.terminal]
    world.trace.require(not left, "ends-in-time", str(left))


async def judge_letters_purge(world: World) -> None:
    """Wait until each letter was resolved long ago: none is left."""
    await asyncio.sleep(world.profile.settings.keep_dead_letters.total_seconds())
    await _tick(world)
    left = world.ledger.letters
    world.trace.require(not left, "the-purge-leaves-nothing", str(left))


async def _tick(world: World) -> None:
    isolate = Isolate(name="sweep late", trace=world.trace)
    await sweep(world.ports(isolate), planner=planner_of(world))


# A redrive's lies with its letter.
_INPUTS = "SELECT input ->> '$.object_key' FROM jobs"
_PURGED_TABLES = (
    "jobs", "attempts", "submissions", "checkpoints", "doomed_instances", "inputs",
)  # fmt: skip


async def judge_purge(world: World) -> None:
    """Wait until all is past its retention, sweep, and see what is left."""
    named = "SELECT tenant_id, id FROM inputs"
    known = {tuple(row) for row in world.ledger.connection.execute(named)}
    known |= {(key.tenant_id, key.job_id) for key in world.ledger.rows}
    inputs = {name for (name,) in world.ledger.connection.execute(_INPUTS)}
    settings = world.profile.settings
    # Names tell the age of jobs by the clock of who gave them.
    kept = settings.keep_results + settings.keep_inputs + timedelta(seconds=2 * world.profile.skew)
    await asyncio.sleep(kept.total_seconds())
    await _tick(world)
    for table in _PURGED_TABLES:
        (count,) = world.ledger.connection.execute(f"SELECT count(*) FROM {table}").fetchone()  # noqa: S608 - names of our own
        world.trace.require(count == 0, "the-purge-leaves-nothing", f"{count} {table}")
    # What was stored for a submission that was then not accepted belongs to no job.
    left = [
        key for key in world.store.objects if tuple(key.split("/")[:2]) in known or key in inputs
    ]
    world.trace.require(not left, "the-purge-leaves-nothing", str(left))
