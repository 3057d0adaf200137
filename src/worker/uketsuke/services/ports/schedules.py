"""What the services need of the store of schedules; part of ``ports``, in a file of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from uketsuke.domain.schedule import (
    NewSchedule,
    Occurrence,
    OccurrenceState,
    Schedule,
    ScheduleKey,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PutSchedule:
    """A schedule as it stands after it was put; ``created`` if there was none of that name."""

    schedule: Schedule
    created: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SchedulePage:
    """Some schedules by tenant and name, and where the next page begins; None at the end."""

    schedules: Sequence[Schedule]
    cursor: ScheduleKey | None


class Schedules(Protocol):
    """The schedules. Uploads that one names are kept for as long as it does."""

    async def put(self, new: NewSchedule) -> PutSchedule | None:
        """Make a schedule or replace it; None if an upload that it names is not there any more.

        A schedule that keeps its cron and zone keeps its next time too, also one that has come: a
        repeat loses no occurrence.
        """
        ...

    async def find(self, key: ScheduleKey) -> Schedule | None:
        """Return a schedule with its content."""
        ...

    async def page(
        self, *, tenant_id: str, after: str, limit: int, with_content: bool
    ) -> SchedulePage:
        """Return a tenant's schedules behind the name ``after``.

        With their content, the page ends early when that is much for one answer.
        """
        ...

    async def page_of_all(self, *, after: ScheduleKey | None, limit: int) -> SchedulePage:
        """Return all tenants' schedules, without their content."""
        ...

    async def delete(self, key: ScheduleKey) -> bool:
        """Delete a schedule; False if there is none. What it has started lives on."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class DueSchedules:
    """Schedules whose next time has come by the database's clock, which said ``now``."""

    now: datetime
    schedules: Sequence[Schedule]


class Occurrences(Protocol):
    """The store's side of starting what is due: recorded first, decided once."""

    async def due(self, *, after: Schedule | None, limit: int) -> DueSchedules:
        """Return due schedules, without content, the longest due first, behind ``after``."""
        ...

    async def record(
        self, schedule: Schedule, *, due_at: datetime, job_id: str, next_at: datetime | None
    ) -> bool:
        """Record the occurrence that ``job_id`` is to be started for, and move the schedule on.

        False if the schedule is not due any more as it was read, or has this occurrence already.
        Idempotent under ``job_id``, until the occurrence is decided.
        """
        ...

    async def take_up(self, *, older_than: timedelta, limit: int) -> Sequence[Occurrence]:
        """Return occurrences that were recorded that long ago and then left; count it as a try."""
        ...

    async def state_of(self, occurrence: Occurrence) -> OccurrenceState | None:
        """Return where an occurrence stands now; None if there is no record of it any more."""
        ...

    async def settle(
        self, occurrence: Occurrence, *, state: OccurrenceState, reason: str | None
    ) -> bool:
        """Decide a recorded occurrence, and tell its schedule unless that knows of a later one.

        ``reason`` goes with ``skipped`` only. False if it was decided before.
        """
        ...
