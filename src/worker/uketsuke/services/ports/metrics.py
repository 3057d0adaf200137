"""What the services need of the store to tell how the deployment does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from uketsuke.domain.rollup import Point, Reading, Rolled, Step


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """How the deployment does, at one moment of the database.

    ``sweep_lag`` is how long ago the duty was done that was done least lately, None if none was;
    ``outbox_lag`` how overdue the job is that somebody should have looked at first.
    """

    reading: Reading
    points: Sequence[Point]
    counters: Mapping[str, int]
    sweep_lag: timedelta | None
    outbox_lag: timedelta


class Metrics(Protocol):
    """Figures over time."""

    async def read(self) -> tuple[Reading, Sequence[Point]]:
        """Return all sums, all that is live, and the points that this moment lies in."""
        ...

    async def store(self, rolled: Rolled, points: Sequence[Point]) -> bool:
        """Keep the points in place of those before, all or none, and delete some that are old.

        False, and none is kept, if another revision than the one before was stored meanwhile.
        """
        ...

    async def look(
        self, step: Step, *, stretch: timedelta, count: int, duties: Sequence[str]
    ) -> Look:
        """Return the last points that lie in so many stretches, and all else, in one call.

        Reads a bounded number of rows: beyond 10,000 live jobs, or as many rows of sums, the
        reading says that nobody looked.
        """
        ...
