"""The shapes of what operators are told of dead letters and their groups."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec
from msgspec import UnsetType

from uketsuke.domain.dead_letter import LetterStatus, Verdict
from uketsuke.domain.failure import ErrorClass, Road
from uketsuke.domain.lifecycle import Outcome
from uketsuke.http.openapi_shapes import Money, Shape


class LetterLinks(Shape, rename={"own": "self"}):
    """Where to go from a dead letter; path-absolute."""

    own: str
    job: str | None
    redriven_to: str | None
    redrive: str
    discard: str


class LetterBody(Shape):
    """A message that was no job's: its hash, and its shape without content, any JSON."""

    sha256: str
    shape: Any


class PastAttempt(Shape, rename={"error_class": "class"}):
    """One attempt of a dead letter's job."""

    number: int
    started_at: datetime
    ended_at: datetime
    outcome: Outcome
    error_class: ErrorClass | None
    code: str | None
    message: str | None
    provider: str | None
    model: str | None
    provider_request_id: str | None
    provider_seconds: float
    cost_usd: Money | None


class DeadLetter(Shape, rename={"error_class": "class"}):
    """The record of a job that ended badly. Asked for alone, it has ``attempts_history``."""

    id: str
    job_id: str | None
    tenant_id: str | None
    kind: str | None
    status: LetterStatus
    road: Road
    error_class: ErrorClass
    code: str
    message: str
    model: str | None
    fingerprint: str
    verdict: Verdict
    attempts: int
    queue: str | None
    message_id: str | None
    schema_version: int | None
    body: LetterBody | None
    replayable: bool
    replayable_reason: str
    replayable_until: datetime | None
    triage_due_at: datetime
    first_failed_at: datetime
    last_failed_at: datetime
    redrive_count: int
    redriven_to: str | None
    redrive_id: str | None
    resolved_by: str | None
    resolved_at: datetime | None
    reason: str | None
    links: LetterLinks
    attempts_history: list[PastAttempt] | UnsetType = msgspec.UNSET


class DeadLetterList(Shape):
    """A page of dead letters, the last to fail first."""

    items: list[DeadLetter]
    next: str | None


class GroupLinks(Shape):
    """Where the group's letters are; path-absolute."""

    letters: str


class DeadLetterGroup(Shape, rename={"error_class": "class"}):
    """Dead letters that have failed in the same way. ``tenants`` is how many are affected."""

    fingerprint: str
    kind: str | None
    error_class: ErrorClass
    code: str
    model: str | None
    count: int
    tenants: int
    first_failed_at: datetime
    last_failed_at: datetime
    verdict: Verdict
    links: GroupLinks


class DeadLetterGroupList(Shape):
    """The largest groups first. There is one page."""

    items: list[DeadLetterGroup]
    next: None
