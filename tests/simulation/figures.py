"""What a history's figures would be, held against a count of all its rows."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any, TypeVar

from tests.simulation.world import World
from tests.support.counted import ATTEMPTS, JOBS, counted, without_waits
from tests.support.sqlite import SqliteDatabase
from uketsuke.adapters.sql.metrics import SqlMetrics
from uketsuke.domain.tally import Tally

T = TypeVar("T")


def judge_figures(world: World) -> None:
    """Each job and attempt is counted once, whoever ended it and however often they tried."""
    connection = world.ledger.connection
    reading, _ = _at_once(SqlMetrics(SqliteDatabase(connection)).read())
    told = reading.unrolled()
    there = counted(connection.execute(JOBS), connection.execute(ATTEMPTS))
    wrong = [
        kind
        for kind in told.keys() | there.keys()
        if without_waits(told.get(kind, {})) != there.get(kind, {})
    ]
    world.trace.require(not wrong, "figures-add-up", f"{wrong}: {told}, {there}")
    for kind, counts in told.items():
        tally = Tally(counts=counts)
        waits, attempts = tally.waits.count, tally.runs.count
        world.trace.require(waits == attempts, "each-attempt-waited-once", f"{kind}: {counts}")


def _at_once(asked: Coroutine[Any, Any, T]) -> T:
    """Run what waits for nobody: a database in memory answers at once."""
    try:
        asked.send(None)
    except StopIteration as done:
        value: T = done.value
        return value
    raise AssertionError("it waits for somebody")
