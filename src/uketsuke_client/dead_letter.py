"""Dead letters as the server shows them. Members that this client does not know stay in ``raw``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Self

from uketsuke_client import decode
from uketsuke_client.decode import JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class PastAttempt:
    """One attempt of the job that a dead letter is about; a cost that is not known is None."""

    number: int
    outcome: str | None
    failure_class: str | None
    code: str | None
    message: str | None
    provider: str | None
    model: str | None
    provider_request_id: str | None
    cost_usd: str | None
    started_at: datetime | None
    ended_at: datetime | None

    @classmethod
    def from_json(cls, raw: JsonObject) -> Self:
        return cls(
            number=decode.whole(raw, "number") or 0,
            outcome=decode.text(raw, "outcome"),
            failure_class=decode.text(raw, "class"),
            code=decode.text(raw, "code"),
            message=decode.text(raw, "message"),
            provider=decode.text(raw, "provider"),
            model=decode.text(raw, "model"),
            provider_request_id=decode.text(raw, "provider_request_id"),
            cost_usd=decode.text(raw, "cost_usd"),
            started_at=decode.moment(raw, "started_at"),
            ended_at=decode.moment(raw, "ended_at"),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadLetter:
    """The record of a job that ended badly, or of a message that is no job's (then without job).

    ``replayable`` is whether a redrive needs no patch, ``replayable_reason`` why or why not, and
    ``replayable_until`` when its input goes. ``attempts_history`` is empty in lists.
    """

    id: str
    status: str
    road: str | None
    failure_class: str
    code: str
    message: str | None
    verdict: str | None
    fingerprint: str | None
    job_id: str | None
    tenant_id: str | None
    kind: str | None
    model: str | None
    attempts: int
    queue: str | None
    message_id: str | None
    schema_version: int | None
    replayable: bool
    replayable_reason: str | None
    replayable_until: datetime | None
    triage_due_at: datetime | None
    first_failed_at: datetime | None
    last_failed_at: datetime | None
    redrive_count: int
    redriven_to: str | None
    redrive_id: str | None
    resolved_by: str | None
    resolved_at: datetime | None
    reason: str | None
    attempts_history: Sequence[PastAttempt]
    raw: JsonObject = field(repr=False, compare=False)

    @classmethod
    def from_json(cls, raw: JsonObject) -> Self:
        """Return the dead letter in ``raw``. Raises ``ValueError`` if that is not one at all."""
        letter_id, status, code = (decode.text(raw, name) for name in ("id", "status", "code"))
        if not (letter_id and status and code):
            raise ValueError("the answer is not a dead letter: it lacks an id, a status or a code")
        told: dict[str, Any] = {name: decode.text(raw, name) for name in _TEXTS}
        times: dict[str, Any] = {name: decode.moment(raw, name) for name in _TIMES}
        return cls(
            **told,
            **times,
            id=letter_id,
            status=status,
            code=code,
            failure_class=decode.text(raw, "class") or "unknown",
            attempts=decode.whole(raw, "attempts") or 0,
            schema_version=decode.whole(raw, "schema_version"),
            replayable=raw.get("replayable") is True,
            redrive_count=decode.whole(raw, "redrive_count") or 0,
            attempts_history=[
                PastAttempt.from_json(each) for each in decode.objects(raw, "attempts_history")
            ],
            raw=raw,
        )


_TEXTS = (
    "road",
    "message",
    "verdict",
    "fingerprint",
    "job_id",
    "tenant_id",
    "kind",
    "model",
    "queue",
    "message_id",
    "replayable_reason",
    "redriven_to",
    "redrive_id",
    "resolved_by",
    "reason",
)
_TIMES = (
    "replayable_until",
    "triage_due_at",
    "first_failed_at",
    "last_failed_at",
    "resolved_at",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadLetterGroup:
    """Open dead letters that failed in the same way. ``tenants`` is how many own one."""

    fingerprint: str
    kind: str | None
    failure_class: str | None
    code: str | None
    model: str | None
    count: int
    tenants: int
    verdict: str | None
    first_failed_at: datetime | None
    last_failed_at: datetime | None
    raw: JsonObject = field(repr=False, compare=False)

    @classmethod
    def from_json(cls, raw: JsonObject) -> Self:
        """Return the group in ``raw``. Raises ``ValueError`` if that is not one at all."""
        fingerprint, count = decode.text(raw, "fingerprint"), decode.whole(raw, "count")
        if fingerprint is None or count is None:
            raise ValueError("the answer is not a group: it lacks a fingerprint or a count")
        named = raw.get("tenants")
        return cls(
            fingerprint=fingerprint,
            kind=decode.text(raw, "kind"),
            failure_class=decode.text(raw, "class"),
            code=decode.text(raw, "code"),
            model=decode.text(raw, "model"),
            count=count,
            tenants=len(named) if isinstance(named, list) else decode.whole(raw, "tenants") or 0,
            verdict=decode.text(raw, "verdict"),
            first_failed_at=decode.moment(raw, "first_failed_at"),
            last_failed_at=decode.moment(raw, "last_failed_at"),
            raw=raw,
        )
