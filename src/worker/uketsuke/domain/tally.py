"""Figures that add up: what was counted of jobs and attempts, and what can be told from the sums.

Counts are whole numbers by name. A name that only another version knows is added up all the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Final

Counts = Mapping[str, int]

# Upper bounds of how long something took, in ms: 1, 2, 5 times a power of ten. Nothing is told
# apart below the first; the last is more than a job may live.
BOUNDS_MS: Final = (*(step * 10**power for power in range(1, 9) for step in (1, 2, 5)), 10**9)
FAILED_AS: Final = "failed."


class Figure(StrEnum):
    """What is counted. Beside these: ``failed.CLASS``, and how long waits and runs took."""

    ACCEPTED = "accepted"
    SUCCEEDED = "succeeded"
    CANCELED = "canceled"
    ATTEMPTS = "attempts"
    FAILED_ATTEMPTS = "failed_attempts"
    RETRIED = "retried"
    COST_MICROS = "cost_micros"
    FAILED_COST_MICROS = "failed_cost_micros"
    UNKNOWN_COSTS = "unknown_costs"
    WAITED_MS = "waited_ms"
    RAN_MS = "ran_ms"
    WAITING_MS = "waiting_ms"  # the age of the oldest waiting job: not a sum, but the highest seen


def added(*parts: Counts) -> dict[str, int]:
    """Return the sums by name; of what is seen and not counted, the highest."""
    total: Counter[str] = Counter()
    for part in parts:
        for name, value in part.items():
            highest = name == Figure.WAITING_MS
            total[name] = max(total[name], value) if highest else total[name] + value
    return dict(total)


def more(now: Counts, before: Counts) -> dict[str, int]:
    """Return what has been added since. What somebody has corrected downwards is no less."""
    changes = {name: value - before.get(name, 0) for name, value in now.items()}
    return {name: value for name, value in changes.items() if value > 0}


@dataclass(frozen=True, slots=True, kw_only=True)
class Spans:
    """How long attempts took: how many at most as long as each bound, and in all.

    ``counts`` is by upper bound in ms; what is counted there took longer than the bound below.
    """

    counts: Mapping[int, int]
    total: timedelta

    @property
    def count(self) -> int:
        return sum(self.counts.values())

    def quantile(self, share: float) -> timedelta | None:
        """Estimate within which time that share of them was over; None if there were none.

        The right answer lies between the same two bounds: the estimate is at most 2.5 times off,
        or 10 ms.
        """
        rank, below = share * self.count, 0
        for bound in sorted(self.counts):
            inside = self.counts[bound]
            if inside and below + inside >= rank:
                lower = _bound_below(bound)
                ms = lower + (bound - lower) * max(rank - below, 0) / inside
                return timedelta(milliseconds=ms)
            below += inside
        return None

    def at_most(self, bound_ms: int) -> int:
        """How many took no longer than one of ``BOUNDS_MS``."""
        return sum(count for bound, count in self.counts.items() if bound <= bound_ms)


def _bound_below(bound: int) -> int:
    return max((known for known in BOUNDS_MS if known < bound), default=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """Counts, and what they say."""

    counts: Counts

    def of(self, figure: Figure) -> int:
        return self.counts.get(figure, 0)

    @property
    def failed_by_class(self) -> Counts:
        """Jobs that ended as failed."""
        return {
            name.removeprefix(FAILED_AS): value
            for name, value in self.counts.items()
            if name.startswith(FAILED_AS)
        }

    @property
    def failed(self) -> int:
        return sum(self.failed_by_class.values())

    @property
    def finished(self) -> int:
        """Jobs that ended, however."""
        return self.of(Figure.SUCCEEDED) + self.failed + self.of(Figure.CANCELED)

    @property
    def success_rate(self) -> float | None:
        """Of the jobs that succeeded or failed, the share that succeeded; None if there were none.

        Who cancels a job says nothing of how well we do.
        """
        return _share(self.of(Figure.SUCCEEDED), self.of(Figure.SUCCEEDED) + self.failed)

    @property
    def retry_rate(self) -> float | None:
        """Of the attempts that ended, the share that failed and is to be followed by another."""
        return _share(self.of(Figure.RETRIED), self.of(Figure.ATTEMPTS))

    @property
    def cost_micros(self) -> int | None:
        """As far as it is known; None if nothing is."""
        return self._known(Figure.COST_MICROS)

    @property
    def failed_cost_micros(self) -> int | None:
        return self._known(Figure.FAILED_COST_MICROS)

    @property
    def waits(self) -> Spans:
        """From when a job was due to the beginning of its attempt."""
        return self._spans("q", Figure.WAITED_MS)

    @property
    def runs(self) -> Spans:
        """From the beginning of an attempt to its end."""
        return self._spans("r", Figure.RAN_MS)

    def _known(self, figure: Figure) -> int | None:
        micros = self.of(figure)
        return None if self.of(Figure.UNKNOWN_COSTS) and not micros else micros

    def _spans(self, letter: str, total: Figure) -> Spans:
        counts = {
            int(name[1:]): value
            for name, value in self.counts.items()
            if name[0] == letter and name[1:].isdecimal()
        }
        return Spans(counts=counts, total=timedelta(milliseconds=self.of(total)))


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
