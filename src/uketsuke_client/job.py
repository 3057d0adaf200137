"""A job as the server shows it. Members that this client does not know stay in ``raw``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Self

from uketsuke_client import decode
from uketsuke_client.decode import JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    done: int
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What the provider counted. Costs are decimal strings, as money should be."""

    provider: str | None
    model: str | None
    provider_request_id: str | None
    input_tokens: int | None
    output_tokens: int | None
    audio_seconds: float | None
    cost_usd: str | None
    attempts_cost_usd: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why the last attempt failed; ``failure_class`` is the contract's ``class``."""

    failure_class: str
    code: str
    message: str
    retryable: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    id: str
    kind: str
    state: str
    terminal: bool
    attempts: int
    max_attempts: int | None
    tenant_id: str | None
    engine: str | None
    origin: str | None
    run_key: str | None
    progress: Progress | None
    usage: Usage | None
    error: Failure | None
    created_at: datetime | None
    started_at: datetime | None
    finished_at: datetime | None
    next_attempt_at: datetime | None
    deadline_at: datetime | None
    expires_at: datetime | None
    cancel_requested_at: datetime | None
    erased_at: datetime | None
    redriven_from: str | None
    redriven_to: str | None
    metadata: Mapping[str, str]
    links: Mapping[str, str]
    raw: JsonObject = field(repr=False, compare=False)

    @property
    def succeeded(self) -> bool:
        return self.state == "succeeded"

    @classmethod
    def from_json(cls, raw: JsonObject) -> Self:
        """Return the job in ``raw``. Raises ``ValueError`` if that is not a job at all."""
        return cls(**job_members(raw))


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted(Job):
    """A job as its 202 showed it: durable, not done."""

    idempotency_key: str
    replayed: bool
    """True if an earlier submission with this key had already made the job."""
    location: str | None
    request_id: str | None


def job_members(raw: JsonObject) -> dict[str, Any]:
    job_id, kind, state = (decode.text(raw, name) for name in ("id", "kind", "state"))
    if not (job_id and kind and state):
        raise ValueError("the answer is not a job: it lacks an id, a kind or a state")
    return {
        **{name: decode.text(raw, name) for name in _TEXTS},
        **{name: decode.moment(raw, name) for name in _TIMES},
        "id": job_id,
        "kind": kind,
        "state": state,
        "terminal": raw.get("terminal") is True,
        "attempts": decode.whole(raw, "attempts") or 0,
        "max_attempts": decode.whole(raw, "max_attempts"),
        "progress": _progress(decode.nested(raw, "progress")),
        "usage": _usage(decode.nested(raw, "usage")),
        "error": _failure(decode.nested(raw, "error")),
        "metadata": decode.pairs(raw, "metadata"),
        "links": decode.pairs(raw, "links"),
        "raw": raw,
    }


_TEXTS = ("tenant_id", "engine", "origin", "run_key", "redriven_from", "redriven_to")
_TIMES = (
    "created_at",
    "started_at",
    "finished_at",
    "next_attempt_at",
    "deadline_at",
    "expires_at",
    "cancel_requested_at",
    "erased_at",
)


def _progress(raw: JsonObject | None) -> Progress | None:
    if raw is None:
        return None
    done, total = decode.whole(raw, "done"), decode.whole(raw, "total")
    return None if done is None or total is None else Progress(done=done, total=total)


def _usage(raw: JsonObject | None) -> Usage | None:
    if raw is None:
        return None
    seconds = raw.get("audio_seconds")
    return Usage(
        provider=decode.text(raw, "provider"),
        model=decode.text(raw, "model"),
        provider_request_id=decode.text(raw, "provider_request_id"),
        input_tokens=decode.whole(raw, "input_tokens"),
        output_tokens=decode.whole(raw, "output_tokens"),
        audio_seconds=float(seconds) if isinstance(seconds, int | float) else None,
        cost_usd=decode.text(raw, "cost_usd"),
        attempts_cost_usd=decode.text(raw, "attempts_cost_usd"),
    )


def _failure(raw: JsonObject | None) -> Failure | None:
    if raw is None:
        return None
    return Failure(
        failure_class=decode.text(raw, "class") or "unknown",
        code=decode.text(raw, "code") or "unknown",
        message=decode.text(raw, "message") or "",
        retryable=raw.get("retryable") is True,
    )
