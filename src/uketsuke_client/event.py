"""One entry of a job's history."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Self

from uketsuke_client import decode
from uketsuke_client.decode import JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    id: str
    type: str
    at: datetime | None
    attempt: int | None
    failure_class: str | None
    raw: JsonObject = field(repr=False, compare=False)

    @classmethod
    def from_json(cls, raw: JsonObject) -> Self:
        return cls(
            id=decode.text(raw, "id") or "",
            type=decode.text(raw, "type") or "unknown",
            at=decode.moment(raw, "at"),
            attempt=decode.whole(raw, "attempt"),
            failure_class=decode.text(raw, "class"),
            raw=raw,
        )
