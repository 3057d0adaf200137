"""Figures over a range of time, as a chart has them: every stretch of it is there."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from enum import StrEnum
from typing import NamedTuple

from uketsuke.domain.rollup import Point, Step, start_of
from uketsuke.domain.tally import Counts, Tally, added


class Range(StrEnum):
    """How far a chart goes back, and in how many stretches."""

    HOUR = "hour"
    DAY = "day"
    WEEK = "week"

    @property
    def length(self) -> timedelta:
        """Of one stretch."""
        return {
            Range.HOUR: timedelta(minutes=1),
            Range.DAY: timedelta(minutes=15),
            Range.WEEK: timedelta(hours=1),
        }[self]

    @property
    def amount(self) -> int:
        return {Range.HOUR: 60, Range.DAY: 96, Range.WEEK: 168}[self]

    @property
    def step(self) -> Step:
        """The points that a stretch is made of."""
        return Step.HOUR if self is Range.WEEK else Step.MINUTE


class Stretch(NamedTuple):
    """What was counted of all kinds from ``at`` on. Without a look of the sweep, nothing was."""

    at: datetime
    tally: Tally


def stretches(
    points: Iterable[Point], *, span: Range, now: datetime, fresh: Counts
) -> list[Stretch]:
    """Sort the points into the range's stretches; what is fresh belongs to the last."""
    last = start_of(now, span.length)
    sums: dict[datetime, list[Counts]] = {
        last - span.length * back: [] for back in reversed(range(span.amount))
    }
    for point in points:
        at = start_of(point.at, span.length)
        if at in sums:
            sums[at].append(point.counts)
    sums[last].append(fresh)
    return [Stretch(at, Tally(counts=added(*parts))) for at, parts in sums.items()]
