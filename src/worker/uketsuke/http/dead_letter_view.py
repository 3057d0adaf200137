"""A dead letter as the API shows it. It holds no content, so every operator may see all of it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime

from uketsuke.domain.dead_letter import DeadLetter, replay_of, verdict_of
from uketsuke.domain.failure import message_of
from uketsuke.domain.job import Attempt
from uketsuke.domain.money import show_usd
from uketsuke.http.answer import rfc3339


def show_letter(letter: DeadLetter) -> dict[str, object]:
    """Return the letter's document."""
    replay = replay_of(letter)
    return {
        "id": letter.id,
        "job_id": letter.job_id,
        "tenant_id": letter.tenant_id,
        "kind": letter.kind,
        "status": letter.status,
        "road": letter.road,
        "class": letter.error_class,
        "code": letter.code,
        "message": message_of(letter.code),
        "model": letter.model,
        "fingerprint": letter.fingerprint,
        "verdict": verdict_of(letter.error_class, letter.code),
        "attempts": letter.attempts,
        "queue": letter.queue,
        "message_id": letter.message_id,
        "schema_version": letter.schema_version,
        "body": _body(letter),
        "replayable": replay.replayable,
        "replayable_reason": replay.reason,
        "replayable_until": _time(letter.replayable_until),
        "triage_due_at": rfc3339(letter.triage_due_at),
        "first_failed_at": rfc3339(letter.first_failed_at),
        "last_failed_at": rfc3339(letter.last_failed_at),
        "redrive_count": letter.redrive_count,
        "redriven_to": letter.redriven_to,
        "redrive_id": letter.redrive_id,
        "resolved_by": letter.resolved_by,
        "resolved_at": _time(letter.resolved_at),
        "reason": letter.reason,
        "links": _links(letter),
    }


def show_letter_whole(letter: DeadLetter, attempts: Sequence[Attempt]) -> dict[str, object]:
    """Return the document with the history of its job's attempts, oldest first."""
    return {**show_letter(letter), "attempts_history": [_show_attempt(each) for each in attempts]}


def letter_path(letter_id: str) -> str:
    return f"/v1/dead-letters/{letter_id}"


def _body(letter: DeadLetter) -> dict[str, object] | None:
    """The message that was no job's: its hash, and its shape without content."""
    if letter.body_sha256 is None:
        return None
    shape = None if letter.body_shape is None else json.loads(letter.body_shape)
    return {"sha256": letter.body_sha256, "shape": shape}


def _show_attempt(attempt: Attempt) -> dict[str, object]:
    usage = attempt.usage
    cost = usage.whole_cost if usage else None
    return {
        "number": attempt.number,
        "started_at": rfc3339(attempt.started_at),
        "ended_at": rfc3339(attempt.ended_at),
        "outcome": attempt.outcome,
        "class": attempt.error_class,
        "code": attempt.error_code,
        "message": message_of(attempt.error_code) if attempt.error_code else None,
        "provider": usage.provider if usage else None,
        "model": usage.model if usage else None,
        "provider_request_id": usage.provider_request_id if usage else None,
        "provider_seconds": attempt.provider_ms / 1000,
        "cost_usd": None if cost is None else show_usd(cost),
    }


def _time(value: datetime | None) -> str | None:
    return None if value is None else rfc3339(value)


def _links(letter: DeadLetter) -> dict[str, str | None]:
    path = letter_path(letter.id)
    return {
        "self": path,
        "job": _job(letter.job_id) if letter.job_there else None,
        "redriven_to": _job(letter.redriven_to),
        "redrive": f"{path}/redrive",
        "discard": f"{path}/discard",
    }


def _job(job_id: str | None) -> str | None:
    return None if job_id is None else f"/v1/jobs/{job_id}"
