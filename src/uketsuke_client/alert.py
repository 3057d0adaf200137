"""How a deployment's objectives stand. Members that this client does not know stay in ``raw``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Self

from uketsuke_client import decode
from uketsuke_client.decode import JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertDelivery:
    """Whether something is still to be said, and why the last try to say it failed."""

    pending: bool
    last_at: datetime | None
    tries: int
    error_class: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    """One objective: ok, pending or firing. A value of None is not known: nobody tells."""

    name: str
    state: str
    value: int | None
    limit: int | None
    subject: str | None
    since: datetime | None
    fired_at: datetime | None
    resolved_at: datetime | None
    computed_at: datetime | None
    delivery: AlertDelivery

    @classmethod
    def from_json(cls, raw: JsonObject) -> Self:
        told = decode.nested(raw, "delivery") or {}
        return cls(
            name=decode.text(raw, "name") or "unknown",
            state=decode.text(raw, "state") or "unknown",
            value=decode.whole(raw, "value"),
            limit=decode.whole(raw, "limit"),
            subject=decode.text(raw, "subject"),
            since=decode.moment(raw, "since"),
            fired_at=decode.moment(raw, "fired_at"),
            resolved_at=decode.moment(raw, "resolved_at"),
            computed_at=decode.moment(raw, "computed_at"),
            delivery=AlertDelivery(
                pending=told.get("pending") is True,
                last_at=decode.moment(told, "last_at"),
                tries=decode.whole(told, "tries") or 0,
                error_class=decode.text(told, "error_class"),
            ),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Alerts:
    """All objectives, by name."""

    items: Sequence[Alert]
    raw: JsonObject = field(repr=False, compare=False)

    @classmethod
    def from_json(cls, raw: JsonObject) -> Self:
        """Return the alerts in ``raw``. Raises ``ValueError`` if those are none at all."""
        if not isinstance(raw.get("items"), list):
            raise ValueError("the answer is no alerts: it lacks items")
        return cls(items=[Alert.from_json(each) for each in decode.objects(raw, "items")], raw=raw)
