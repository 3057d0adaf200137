"""The shapes of what operators are told of dead letters."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from uketsuke.domain.dead_letter import LetterStatus, Verdict
from uketsuke.domain.failure import ErrorClass, Road
from uketsuke.http.openapi_shapes import Shape


class LetterLinks(Shape, rename={"own": "self"}):
    """Where to go from a dead letter; path-absolute."""

    own: str
    job: str | None
    redriven_to: str | None
    redrive: str
    discard: str


class LetterBody(Shape):
    """A message that was no job's: its hash, and its shape without content."""

    sha256: str
    shape: dict[str, Any] | None


class DeadLetter(Shape, rename={"error_class": "class"}):
    """The record of a job that ended badly."""

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
