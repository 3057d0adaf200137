"""What a Worker has of its own in this world: a clock, dice, and its way to the database."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from tests.simulation.audit import Audit
from tests.simulation.isolate import Isolate
from tests.simulation.wire import Wire
from uketsuke.adapters.sql.database import Row, Statement

BASE_MS = 1_796_000_000_000


@dataclass(slots=True)
class WorkerClock:
    """``services.ports.Clock`` of one Worker: off by minutes, as real ones are."""

    isolate: Isolate

    def now(self) -> datetime:
        seconds = BASE_MS / 1000 + asyncio.get_running_loop().time() + self.isolate.skew
        return datetime.fromtimestamp(seconds, UTC)

    def monotonic(self) -> float:
        return asyncio.get_running_loop().time() + self.isolate.skew


@dataclass(slots=True)
class WorldDice:
    """``services.ports.Dice``, seeded."""

    rng: random.Random

    def draw(self) -> float:
        return self.rng.random()

    def entropy(self, count: int) -> bytes:
        return self.rng.randbytes(count)


@dataclass(slots=True)
class DatabasePort:
    """``adapters.sql.database.Database`` in one isolate; the audit sees every transaction."""

    audit: Audit
    wire: Wire
    isolate: Isolate

    async def batch(self, statements: Sequence[Statement]) -> Sequence[Sequence[Row]]:
        return await self.wire.call(
            "batch",
            lambda: self.audit.apply(statements, isolate=self.isolate),
            isolate=self.isolate,
        )
