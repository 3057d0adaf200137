"""A result that was paid for while the database was away: kept, and adopted by the next try."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from uketsuke.domain.job import Ending, LeasedJob, ResultPlace, Usage
from uketsuke.domain.lifecycle import JobState
from uketsuke.services.ports import Ports, Unavailable
from uketsuke.telemetry import event


def _prefix(tenant_id: str, job_id: str) -> str:
    return f"{tenant_id}/{job_id}/paid-"


async def save_paid_result(ending: Ending, *, ports: Ports) -> None:
    """Keep what a success brought, under the job's prefix. Best effort: storage may be away too."""
    if ending.state is not JobState.SUCCEEDED or ending.result is None:
        return
    kept = {
        "result": asdict(ending.result),
        "text": ending.result_text,
        "usage": asdict(ending.usage) if ending.usage else None,
    }
    key = _prefix(*ending.key) + ports.dice.entropy(16).hex()
    try:
        await ports.blobs.put(key, json.dumps(kept).encode(), content_type="application/json")
    except Unavailable:
        event("paid_result_lost", tenant_id=ending.key.tenant_id, job_id=ending.key.job_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class PaidResult:
    """What an earlier attempt brought and could not write down."""

    place: ResultPlace
    text: str | None
    usage: Usage | None


async def find_paid_result(leased: LeasedJob, *, ports: Ports) -> PaidResult | None:
    """Return what an earlier attempt left, if its end was never written.

    Only a job that was taken over can have one, so only then is storage asked.
    """
    if not leased.taken_over:
        return None
    try:
        for key in await ports.blobs.names(_prefix(*leased.job.key)):
            content = await ports.blobs.get(key)
            if content is not None:
                return _read(content)
    except Unavailable:
        return None
    return None


def _read(content: bytes) -> PaidResult:
    kept = json.loads(content)
    usage = kept["usage"]
    return PaidResult(
        place=ResultPlace(**kept["result"]),
        text=kept["text"],
        usage=Usage(**usage) if usage else None,
    )
