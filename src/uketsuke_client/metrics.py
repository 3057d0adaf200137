"""How the whole of a deployment fares. Members that this client does not know stay in ``raw``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Self

from uketsuke_client import decode
from uketsuke_client.decode import JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadLetterCounts:
    """Of those that are open: all, past the time for triage, and whose input goes soon."""

    open: int
    past_triage: int
    expiring: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """What is worth an alert while it ``holds``: its value is above its limit.

    A value of None is not known: nobody tells.
    """

    name: str
    value: int | None
    limit: int | None
    compared_to: int | None
    holds: bool
    since: datetime | None
    computed_at: datetime | None

    @classmethod
    def from_json(cls, raw: JsonObject) -> Self:
        return cls(
            name=decode.text(raw, "name") or "unknown",
            value=decode.whole(raw, "value"),
            limit=decode.whole(raw, "limit"),
            compared_to=decode.whole(raw, "compared_to"),
            holds=raw.get("holds") is True,
            since=decode.moment(raw, "since"),
            computed_at=decode.moment(raw, "computed_at"),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Metrics:
    at: datetime | None
    dead_letters: DeadLetterCounts
    conditions: Sequence[Condition]
    raw: JsonObject = field(repr=False, compare=False)

    @classmethod
    def from_json(cls, raw: JsonObject) -> Self:
        """Return the metrics in ``raw``. Raises ``ValueError`` if those are none at all."""
        letters = decode.nested(raw, "dead_letters")
        if letters is None:
            raise ValueError("the answer is no metrics: it lacks dead_letters")
        counts = {name: decode.whole(letters, name) or 0 for name in _COUNTS}
        return cls(
            at=decode.moment(raw, "at"),
            dead_letters=DeadLetterCounts(**counts),
            conditions=[Condition.from_json(each) for each in decode.objects(raw, "conditions")],
            raw=raw,
        )


_COUNTS = ("open", "past_triage", "expiring")
