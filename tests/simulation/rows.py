"""A job's row as the audit reads it, and what of it may ever change."""

from __future__ import annotations

import sqlite3
from typing import NamedTuple

from uketsuke.domain.job import JobKey
from uketsuke.domain.lifecycle import TERMINAL, TRANSITIONS


class JobRow(NamedTuple):
    """The columns that the audit holds against the rules."""

    tenant_id: str
    id: str
    engine: str
    request_key: str
    run_key: str | None
    state: str
    attempts: int
    attempt_no: int
    max_attempts: int
    call_epoch: int
    crashes: int
    due_at: int
    wake_at: int | None
    deadline_at: int
    wakes: int
    run_limit_ms: int
    leased_at: int | None
    leased_until: int | None
    lease_token: str | None
    finished_at: int | None
    expires_at: int | None
    cancel_requested_at: int | None
    progress_done: int | None
    error_class: str | None
    error_code: str | None
    result: str | None
    created_at: int
    redriven_from: str | None
    redriven_to: str | None
    redrives: int

    @property
    def key(self) -> JobKey:
        return JobKey(self.tenant_id, self.id)

    @property
    def terminal(self) -> bool:
        return self.state in TERMINAL


_SELECT = f"SELECT {', '.join(JobRow._fields)} FROM jobs"  # noqa: S608 - names of our own

LEGAL = frozenset((str(state), str(to)) for (state, _), to in TRANSITIONS.items())
_FROZEN = (
    "state", "attempts", "attempt_no", "call_epoch", "finished_at", "result", "error_class",
    "error_code", "lease_token",
)  # fmt: skip


def read_rows(connection: sqlite3.Connection) -> dict[JobKey, JobRow]:
    """Return all jobs as they are."""
    rows = (JobRow(*row) for row in connection.execute(_SELECT))
    return {row.key: row for row in rows}


def changed_at_the_end(old: JobRow, new: JobRow) -> list[str]:
    """Return which of the columns that an end fixes have changed all the same."""
    return [name for name in _FROZEN if getattr(old, name) != getattr(new, name)]


class LetterRow(NamedTuple):
    """A dead letter, as far as it may not change, or must say what was done about it."""

    id: str
    tenant_id: str | None
    job_id: str | None
    road: str
    error_class: str
    code: str
    kind: str | None
    last_failed_at: int
    redrives: int
    status: str
    redriven_to: str | None
    redrive_id: str | None
    resolved_by: str | None
    resolved_at: int | None
    reason: str | None

    @property
    def key(self) -> JobKey:
        return JobKey(self.tenant_id or "", self.job_id or "")

    @property
    def record(self) -> tuple[object, ...]:
        """What stays as it was written first."""
        return self[: self._fields.index("status")]


_LETTERS = (
    f"SELECT {', '.join(LetterRow._fields)} FROM dead_letters"  # noqa: S608 - names of our own
).replace("error_class", "class")


def read_letters(connection: sqlite3.Connection) -> dict[str, LetterRow]:
    """Return all dead letters as they are."""
    return {row[0]: LetterRow(*row) for row in connection.execute(_LETTERS)}


class ActRow(NamedTuple):
    """What an operator did, as the product's audit has it."""

    id: str
    at: int
    actor: str
    action: str
    target: str
    tenant_id: str | None
    reason: str | None
    detail: str


def read_acts(connection: sqlite3.Connection) -> dict[str, ActRow]:
    """Return the product's audit."""
    rows = connection.execute(f"SELECT {', '.join(ActRow._fields)} FROM audit")  # noqa: S608 - names of our own
    return {row[0]: ActRow(*row) for row in rows}


class BulkRow(NamedTuple):
    """A bulk redrive, as far as it may not change, or must say what came of it."""

    id: str
    reason: str
    rate_per_minute: int
    canary: int
    created_at: int
    created_by: str
    filter_class: str | None
    filter_kind: str | None
    state: str
    stopped_by: str | None
    stopped_because: str | None
    finished_at: int | None
    closed_at: int | None
    started: int | None
    succeeded: int | None
    failed: int | None
    canceled: int | None

    @property
    def going(self) -> bool:
        return self.state in ("canary", "running")

    @property
    def asked(self) -> tuple[object, ...]:
        """What stays as it was asked for."""
        return self[: self._fields.index("state")]


def read_bulks(connection: sqlite3.Connection) -> dict[str, BulkRow]:
    """Return all bulk redrives as they are."""
    rows = connection.execute(f"SELECT {', '.join(BulkRow._fields)} FROM redrives")  # noqa: S608 - names of our own
    return {row[0]: BulkRow(*row) for row in rows}


class LaneRow(NamedTuple):
    """The columns of a parked lane that matter to whoever is leased."""

    parked_at: int
    parked_until: int
    forget_at: int
    probe_token: str
    failed_token: str


def read_lanes(connection: sqlite3.Connection) -> list[LaneRow]:
    """Return the lanes that are parked; all kinds of a history ask one and the same."""
    rows = connection.execute(f"SELECT {', '.join(LaneRow._fields)} FROM lanes")  # noqa: S608 - names of our own
    return [LaneRow(*row) for row in rows]


def read_duties(connection: sqlite3.Connection) -> dict[str, tuple[str | None, int]]:
    """Return who holds each duty, and until when."""
    rows = connection.execute("SELECT name, lease_token, leased_until FROM duties")
    return {name: (token, until) for name, token, until in rows}
