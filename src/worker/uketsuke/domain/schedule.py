"""The schedule, its occurrences, and the small values that they are made of."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final, NamedTuple

from uketsuke.domain.job import InputPlace
from uketsuke.domain.price import Expected

SCHEDULE_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


class ScheduleKey(NamedTuple):
    """A schedule's whole name."""

    tenant_id: str
    name: str


class Overlap(StrEnum):
    """What an occurrence does while the job of an earlier one is live."""

    SKIP = "skip"
    ALLOW = "allow"


class OccurrenceState(StrEnum):
    """Where an occurrence stands: recorded first, then one of two ends."""

    RECORDED = "recorded"  # its job is to be started
    STARTED = "started"
    SKIPPED = "skipped"  # it has a reason, and no job


@dataclass(frozen=True, slots=True, kw_only=True)
class Last:
    """The last occurrence whose outcome is known. ``job_id`` is null if it was skipped."""

    at: datetime
    outcome: OccurrenceState
    job_id: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSchedule:
    """What putting a schedule writes. ``next_at`` is null unless it is enabled.

    ``content`` is the input as JSON if the schedule holds it itself, and null for uploads.
    ``generation`` names the row, if this makes it.
    """

    key: ScheduleKey
    generation: str
    cron: str
    timezone: str
    kind: str
    params: Mapping[str, object]
    input: InputPlace
    content: str | None
    run_key: str | None
    overlap: Overlap
    enabled: bool
    next_at: datetime | None
    expected: Expected | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """A schedule, as its row says. Times are aware and UTC.

    ``content`` is null for uploads, and wherever it was not asked for: it can be large.
    """

    tenant_id: str
    name: str
    generation: str
    cron: str
    timezone: str
    kind: str
    params: Mapping[str, object]
    input: InputPlace
    content: str | None
    run_key: str | None
    overlap: Overlap
    enabled: bool
    created_at: datetime
    updated_at: datetime
    next_at: datetime | None
    last: Last | None
    expected: Expected | None = None

    @property
    def key(self) -> ScheduleKey:
        return ScheduleKey(self.tenant_id, self.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Occurrence:
    """One time at which a schedule was due, and the id of the job that it is to start."""

    tenant_id: str
    schedule: str
    generation: str
    due_at: datetime
    job_id: str
    state: OccurrenceState
    reason: str | None
    recorded_at: datetime
    tries: int

    @property
    def schedule_key(self) -> ScheduleKey:
        return ScheduleKey(self.tenant_id, self.schedule)
