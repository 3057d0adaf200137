"""What is live: how many jobs wait or run, and for how long already."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from uketsuke.domain.lifecycle import JobState


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveJobs:
    """The live jobs of one kind and state. ``oldest``: see ``Backlog``; its id, if it is known."""

    kind: str
    state: JobState
    count: int
    due: int
    oldest: timedelta
    oldest_id: str | None
    oldest_due: timedelta | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Backlog:
    """All live jobs as they were at ``at``, by the database's clock."""

    at: datetime
    live: Sequence[LiveJobs]

    @property
    def by_kind(self) -> Mapping[str, int]:
        counts: Counter[str] = Counter()
        for each in self.live:
            counts[each.kind] += each.count
        return counts

    def of(self, state: JobState, *, kind: str | None = None) -> int:
        return sum(
            each.count
            for each in self.live
            if each.state is state and (kind is None or each.kind == kind)
        )

    def ready(self, *, kind: str | None = None) -> int:
        """How many of those that wait are due."""
        return sum(each.due for each in self._waiting() if kind is None or each.kind == kind)

    def delayed(self, *, kind: str | None = None) -> int:
        """How many wait for their due time: for a backoff, a parked lane, a budget."""
        chosen = [each for each in self._waiting() if kind is None or each.kind == kind]
        return sum(each.count - each.due for each in chosen)

    @property
    def oldest_waiting(self) -> timedelta | None:
        """How long ago the oldest job that waits, for whatever reason, was accepted."""
        return _longest(each.oldest for each in self._waiting())

    @property
    def oldest_waiting_id(self) -> str | None:
        return _id_of_oldest(self._waiting())

    @property
    def oldest_due(self) -> timedelta | None:
        """For how long the job that is overdue most has been due."""
        return _longest(each.oldest_due for each in self._waiting())

    @property
    def oldest_running(self) -> timedelta | None:
        """How long the oldest attempt runs."""
        return _longest(each.oldest for each in self._running())

    @property
    def oldest_running_id(self) -> str | None:
        return _id_of_oldest(self._running())

    def _waiting(self) -> Sequence[LiveJobs]:
        return [each for each in self.live if each.state is not JobState.RUNNING]

    def _running(self) -> Sequence[LiveJobs]:
        return [each for each in self.live if each.state is JobState.RUNNING]


def _id_of_oldest(live: Sequence[LiveJobs]) -> str | None:
    oldest = max(live, key=lambda each: each.oldest, default=None)
    return oldest.oldest_id if oldest else None


def _longest(times: Iterable[timedelta | None]) -> timedelta | None:
    return max((time for time in times if time is not None), default=None)
