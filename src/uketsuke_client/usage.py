"""What was used and what it cost, as the server shows it. Money is decimal strings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Self

from uketsuke_client import decode
from uketsuke_client.decode import JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Used:
    """What some attempts used; a cost is None if nothing of it is known.

    ``failed_cost_usd`` is the part of attempts that failed or were lost. Costs leave out what is
    not known of ``unknown_cost_attempts``.
    """

    attempts: int
    failed_attempts: int
    input_tokens: int
    output_tokens: int
    audio_seconds: float
    cost_usd: str | None
    failed_cost_usd: str | None
    unknown_cost_attempts: int

    @classmethod
    def from_json(cls, raw: JsonObject) -> Self:
        seconds = raw.get("audio_seconds")
        return cls(
            **{name: decode.whole(raw, name) or 0 for name in _COUNTS},
            audio_seconds=float(seconds) if isinstance(seconds, int | float) else 0.0,
            cost_usd=decode.text(raw, "cost_usd"),
            failed_cost_usd=decode.text(raw, "failed_cost_usd"),
        )


_COUNTS = (
    "attempts",
    "failed_attempts",
    "input_tokens",
    "output_tokens",
    "unknown_cost_attempts",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageItem:
    """One day, kind and model. An attempt that called no model has no provider and no model."""

    day: str
    kind: str
    tenant_id: str | None
    provider: str | None
    model: str | None
    used: Used

    @classmethod
    def from_json(cls, raw: JsonObject) -> Self:
        """Return the item in ``raw``. Raises ``ValueError`` if that is not one at all."""
        day, kind = decode.text(raw, "day"), decode.text(raw, "kind")
        if not (day and kind):
            raise ValueError("the answer is not usage: it lacks a day or a kind")
        return cls(
            day=day,
            kind=kind,
            tenant_id=decode.text(raw, "tenant_id"),
            provider=decode.text(raw, "provider"),
            model=decode.text(raw, "model"),
            used=Used.from_json(raw),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """A tenant's budget of today."""

    daily_usd: str | None
    spent_usd: str | None
    reserved_usd: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageReport:
    """All that was asked for, newest day first, with its sums; ``raw`` is as one page of it all."""

    start: str | None
    end: str | None
    items: Sequence[UsageItem]
    totals: Used
    budget: Budget | None
    raw: JsonObject = field(repr=False, compare=False)

    @classmethod
    def from_json(cls, raw: JsonObject) -> Self:
        """Return the report in ``raw``. Raises ``ValueError`` if that is not one at all."""
        items = raw.get("items")
        if not isinstance(items, list):
            raise ValueError("the answer is not usage: it lacks items")
        budget = decode.nested(raw, "budget")
        return cls(
            start=decode.text(raw, "from"),
            end=decode.text(raw, "to"),
            items=[UsageItem.from_json(item) for item in items if isinstance(item, dict)],
            totals=Used.from_json(decode.nested(raw, "totals") or {}),
            budget=None if budget is None else _budget(budget),
            raw=raw,
        )


def _budget(raw: JsonObject) -> Budget:
    return Budget(
        daily_usd=decode.text(raw, "daily_usd"),
        spent_usd=decode.text(raw, "spent_usd"),
        reserved_usd=decode.text(raw, "reserved_usd"),
    )
