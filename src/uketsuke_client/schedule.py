"""A schedule as the server shows it. Members that this client does not know stay in ``raw``."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Self

from uketsuke_client import decode
from uketsuke_client.decode import JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Last:
    """The last occurrence whose outcome is known; one that was skipped has no job."""

    at: datetime | None
    outcome: str | None
    job_id: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """``input`` and ``params`` are null for operators, who see no content."""

    name: str
    cron: str
    timezone: str | None
    kind: str
    tenant_id: str | None
    input: JsonObject | None
    params: JsonObject | None
    run_key: str | None
    overlap: str | None
    enabled: bool
    next_at: datetime | None
    last: Last | None
    raw: JsonObject = field(repr=False, compare=False)

    @classmethod
    def from_json(cls, raw: JsonObject) -> Self:
        """Return the schedule in ``raw``. Raises ``ValueError`` if that is not one at all."""
        name, cron, kind = (decode.text(raw, member) for member in ("name", "cron", "kind"))
        if not (name and cron and kind):
            raise ValueError("the answer is not a schedule: it lacks a name, a cron or a kind")
        return cls(
            name=name,
            cron=cron,
            timezone=decode.text(raw, "timezone"),
            kind=kind,
            tenant_id=decode.text(raw, "tenant_id"),
            input=decode.nested(raw, "input"),
            params=decode.nested(raw, "params"),
            run_key=decode.text(raw, "run_key"),
            overlap=decode.text(raw, "overlap"),
            enabled=raw.get("enabled") is True,
            next_at=decode.moment(raw, "next_at"),
            last=_last(decode.nested(raw, "last")),
            raw=raw,
        )


def _last(raw: JsonObject | None) -> Last | None:
    if raw is None:
        return None
    return Last(
        at=decode.moment(raw, "at"),
        outcome=decode.text(raw, "outcome"),
        job_id=decode.text(raw, "job_id"),
    )
