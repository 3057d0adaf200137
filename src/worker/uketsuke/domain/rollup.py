"""What is added to the points: whatever the sums have more than was seen of them last.

So a repeat adds nothing, and what a sweep that died or was down left is added by the next one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Final, NamedTuple

from uketsuke.domain.backlog import Backlog
from uketsuke.domain.tally import Counts, Figure, Tally, added, more

ByKind = Mapping[str, Counts]
ByDay = Mapping[str, ByKind]
# The kind of what is seen of all jobs at once. No kind is named so.
ALL_KINDS: Final = ""
# With sums so many are remembered, though two are read: a clock that was wrong for a while must not
# make what was seen before look new.
_DAYS_SEEN: Final = 7


class Step(StrEnum):
    """How long a point lasts."""

    MINUTE = "minute"
    HOUR = "hour"
    DAY = "day"

    @property
    def length(self) -> timedelta:
        return timedelta(**{f"{self.value}s": 1})


class Point(NamedTuple):
    """What was counted of a kind in one step."""

    step: Step
    at: datetime
    kind: str
    counts: Counts


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueFigures:
    """What the platform tells of a queue; None where it does not."""

    backlog: int | None
    oldest: timedelta | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Gauges:
    """What a roll-up saw of its moment. ``clock_skew``: how far its Worker's clock was ahead."""

    backlog: Backlog
    clock_skew: timedelta
    queues: Mapping[str, QueueFigures]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rolled:
    """How far the roll-up is. ``seen`` are the sums, ``live`` the live jobs that it saw last."""

    revision: int
    at: datetime
    usage_rows: int
    seen: ByDay
    live: Counts
    totals: ByKind
    gauges: Gauges | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """The sums as they are, beside how far the roll-up was at that moment.

    ``backlog`` None: there are too many live jobs to look at each. ``sums`` None: too many rows.
    """

    at: datetime
    rolled: Rolled
    sums: ByDay | None
    usage_rows: int
    backlog: Backlog | None

    def unrolled(self) -> dict[str, dict[str, int]]:
        """Return what no point has yet, by kind: nothing, where nobody looked.

        What was accepted is what lives more than did, and what ended: how many jobs were accepted
        is written nowhere, for that would cost each of them.
        """
        if self.sums is None:
            return {}
        changes: dict[str, dict[str, int]] = {}
        for day, kinds in self.sums.items():
            seen = self.rolled.seen.get(day, {})
            for kind, counts in kinds.items():
                change = more(counts, seen.get(kind, {}))
                changes[kind] = added(changes.get(kind, {}), change)
        if self.backlog is not None:
            _add_accepted(changes, live=self.backlog.by_kind, before=self.rolled.live)
        return {kind: change for kind, change in changes.items() if change}

    def totals(self) -> Mapping[str, Tally]:
        """Return all that was ever counted, by kind. They never go down.

        What was accepted is of the last roll-up: beyond some backlog nobody could tell more.
        """
        fresh = self.unrolled()
        for change in fresh.values():
            change.pop(Figure.ACCEPTED, None)
        return {
            kind: Tally(counts=added(self.rolled.totals.get(kind, {}), fresh.get(kind, {})))
            for kind in sorted(self.rolled.totals.keys() | fresh.keys())
        }


def _add_accepted(changes: dict[str, dict[str, int]], *, live: Counts, before: Counts) -> None:
    for kind in live.keys() | before.keys() | changes.keys():
        change = changes.setdefault(kind, {})
        ended = Tally(counts=change).finished
        accepted = live.get(kind, 0) - before.get(kind, 0) + ended
        # Rows that somebody took away by hand were accepted all the same.
        if accepted > 0:
            change[Figure.ACCEPTED] = accepted


def start_of(at: datetime, length: timedelta) -> datetime:
    """Return when the stretch of that length, counted from 1970 on, began that ``at`` lies in."""
    epoch = datetime.fromtimestamp(0, UTC)
    return at - (at - epoch) % length


def roll(
    reading: Reading, points: Sequence[Point], *, gauges: Gauges
) -> tuple[Rolled, list[Point]]:
    """Return the state that follows, and the points that change, of which ``points`` were known."""
    known = {(point.step, point.at, point.kind): point.counts for point in points}
    fresh: dict[str, dict[str, int]] = reading.unrolled()
    oldest = gauges.backlog.oldest_waiting or timedelta()
    seen = {ALL_KINDS: {Figure.WAITING_MS.value: oldest // timedelta(milliseconds=1)}}
    changed = []
    for step in Step:
        at = start_of(reading.at, step.length)
        for kind, counts in {**fresh, **seen}.items():
            before = known.get((step, at, kind))
            point = Point(step, at, kind, added(before or {}, counts))
            if point.counts != before:
                changed.append(point)
    rolled = Rolled(
        revision=reading.rolled.revision + 1,
        at=reading.at,
        usage_rows=reading.usage_rows,
        seen=_seen(reading),
        live=dict(gauges.backlog.by_kind),
        totals={
            kind: added(reading.rolled.totals.get(kind, {}), fresh.get(kind, {}))
            for kind in reading.rolled.totals.keys() | fresh.keys()
        },
        gauges=gauges,
    )
    return rolled, changed


def _seen(reading: Reading) -> ByDay:
    days = {**reading.rolled.seen, **(reading.sums or {})}
    return {day: days[day] for day in sorted(days)[-_DAYS_SEEN:]}


def skew(database: datetime, *, before: datetime, after: datetime) -> timedelta:
    """Return by how much at least a Worker's clock is ahead of the database's.

    The Worker asked for the database's time between ``before`` and ``after``: nothing is known of
    what lies within.
    """
    if database < before:
        return before - database
    return min(after - database, timedelta())
