"""A result that was paid for while the database was away: kept, and adopted by the next try."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from uketsuke.domain.failure import AttemptFailed, ErrorClass
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
    kept = write_paid(ending)
    key = _prefix(*ending.key) + ports.dice.entropy(16).hex()
    try:
        await ports.blobs.put(key, json.dumps(kept).encode(), content_type="application/json")
    except Unavailable:
        event("paid_result_lost", tenant_id=ending.key.tenant_id, job_id=ending.key.job_id)


def write_paid(ending: Ending) -> dict[str, object]:
    """Write down what a success brought, as JSON."""
    return {
        "result": asdict(ending.result) if ending.result else None,
        "text": ending.result_text,
        "usage": asdict(ending.usage) if ending.usage else None,
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class PaidResult:
    """What an earlier attempt brought and could not write down."""

    place: ResultPlace
    text: str | None
    usage: Usage | None


async def find_paid_result(leased: LeasedJob, *, ports: Ports) -> PaidResult | None:
    """Return what an earlier attempt left, if its end was never written.

    Only a job that was taken over can have one, so only then is storage asked. Raises
    ``AttemptFailed`` if storage does not tell: what was paid for is not paid again on a guess.
    """
    if not leased.taken_over:
        return None
    try:
        for key in await ports.blobs.names(_prefix(*leased.job.key)):
            content = await ports.blobs.get(key)
            if content is not None:
                return read_paid(content, attempt=leased.attempt)
    except Unavailable:
        raise AttemptFailed(ErrorClass.UNAVAILABLE, "storage_unavailable") from None
    return None


def adopted_usage(paid: PaidResult, leased: LeasedJob) -> Usage | None:
    """Return what an adopted result counts as in the attempt that adopts it.

    The attempt that paid has no figures in its row, so they are told here, once. But where a budget
    binds, what it had reserved was charged when it was lost.
    """
    if paid.usage is None or leased.reserved_micros is None:
        return paid.usage
    return replace(paid.usage, charged_micros=0)


def read_paid(content: bytes | str, *, attempt: int) -> PaidResult:
    """``attempt`` is the one that adopts it: a small result will lie in that attempt's row."""
    kept = json.loads(content)
    usage = kept["usage"]
    return PaidResult(
        place=replace(ResultPlace(**_known(kept["result"], ResultPlace)), attempt=attempt),
        text=kept["text"],
        usage=Usage(**_known(usage, Usage)) if usage else None,
    )


def _known(document: Mapping[str, Any], shape: type) -> dict[str, Any]:
    """Keep the members that this version knows: a newer one may have written more."""
    names = {field.name for field in fields(shape)}
    return {name: value for name, value in document.items() if name in names}
