"""What operators and administrators did, as the audit keeps it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Self

from uketsuke_client import decode
from uketsuke_client.decode import JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """One act: who (the id of a key) did what to which target, when and why."""

    id: str
    action: str
    target: str
    at: datetime | None
    actor: str | None
    tenant_id: str | None
    reason: str | None
    request_id: str | None
    detail: JsonObject
    raw: JsonObject = field(repr=False, compare=False)

    @classmethod
    def from_json(cls, raw: JsonObject) -> Self:
        """Return the entry in ``raw``. Raises ``ValueError`` if that is not one at all."""
        entry_id, action, target = (decode.text(raw, name) for name in ("id", "action", "target"))
        if not (entry_id and action and target):
            raise ValueError("the answer is no audit: it lacks an id, an action or a target")
        return cls(
            id=entry_id,
            action=action,
            target=target,
            at=decode.moment(raw, "at"),
            actor=decode.text(raw, "actor"),
            tenant_id=decode.text(raw, "tenant_id"),
            reason=decode.text(raw, "reason"),
            request_id=decode.text(raw, "request_id"),
            detail=decode.nested(raw, "detail") or {},
            raw=raw,
        )
