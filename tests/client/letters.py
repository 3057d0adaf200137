"""What operators are shown, in the contract's shapes, for the scripted server."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

LETTER = "dl_01kx0000000000000000000001"
RUN = "rd_01kx0000000000000000000001"
FINGERPRINT = "summarize:unavailable:provider_unavailable:extractive-e5"


def before_now(**past: float) -> str:
    """Return the time so long ago, as the API writes it."""
    return (datetime.now(UTC) - timedelta(**past)).isoformat(timespec="milliseconds")


def letter(**members: object) -> dict[str, object]:
    """Return a dead letter as lists show it, with ``members`` changed."""
    return {
        "id": LETTER,
        "job_id": "job_1",
        "tenant_id": "acme",
        "kind": "summarize",
        "status": "open",
        "road": "exhausted",
        "class": "unavailable",
        "code": "provider_unavailable",
        "message": "The AI provider failed or could not be reached.",
        "model": "extractive-e5",
        "fingerprint": FINGERPRINT,
        "verdict": "redrive",
        "attempts": 5,
        "queue": None,
        "message_id": None,
        "schema_version": 1,
        "body": None,
        "replayable": True,
        "replayable_reason": "Nothing is wrong with the input.",
        "replayable_until": "2026-12-29T10:00:00.000Z",
        "triage_due_at": "2026-12-02T10:00:00.000Z",
        "first_failed_at": "2026-11-29T09:00:00.000Z",
        "last_failed_at": "2026-11-29T10:00:00.000Z",
        "redrive_count": 0,
        "redriven_to": None,
        "redrive_id": None,
        "resolved_by": None,
        "resolved_at": None,
        "reason": None,
        "links": {"self": f"/v1/dead-letters/{LETTER}"},
        **members,
    }


ATTEMPT = {
    "number": 1,
    "started_at": "2026-11-29T09:00:00.000Z",
    "ended_at": "2026-11-29T09:00:02.000Z",
    "outcome": "failed",
    "class": "unavailable",
    "code": "provider_unavailable",
    "message": "The AI provider failed or could not be reached.",
    "provider": "openai_compatible",
    "model": "extractive-e5",
    "provider_request_id": None,
    "provider_seconds": 1.5,
    "cost_usd": "0.000213",
}


def group(**members: object) -> dict[str, object]:
    """Return a group as the API shows it, with ``members`` changed."""
    return {
        "fingerprint": FINGERPRINT,
        "kind": "summarize",
        "class": "unavailable",
        "code": "provider_unavailable",
        "model": "extractive-e5",
        "count": 12,
        "tenants": 3,
        "first_failed_at": "2026-11-26T10:00:00.000Z",
        "last_failed_at": "2026-11-29T10:00:00.000Z",
        "verdict": "redrive",
        **members,
    }


def run(state: str = "running", **members: object) -> dict[str, object]:
    """Return a bulk redrive as the API shows it, in ``state`` and with ``members`` changed."""
    return {
        "id": RUN,
        "state": state,
        "filter": {"class": "unavailable", "kind": None},
        "reason": "the outage is over",
        "rate_per_minute": 60,
        "canary": 3,
        "total": 10,
        "started": 4,
        "succeeded": 3,
        "failed": 1,
        "stopped_because": None,
        "created_at": "2026-11-29T10:00:00.000Z",
        "finished_at": None,
        **members,
    }


def entry(**members: object) -> dict[str, object]:
    """Return an audit entry as the API shows it, with ``members`` changed."""
    return {
        "id": "au_1",
        "at": "2026-11-29T10:00:00.000Z",
        "actor": "k1",
        "action": "dead_letter.redriven",
        "target": LETTER,
        "tenant_id": "acme",
        "reason": "the outage is over",
        "request_id": "req_1",
        "detail": {"redriven_to": "job_2"},
        **members,
    }
