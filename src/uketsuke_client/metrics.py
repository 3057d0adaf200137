"""How the whole of a deployment fares. Members that this client does not know stay in ``raw``."""

from __future__ import annotations

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
class Metrics:
    at: datetime | None
    dead_letters: DeadLetterCounts
    raw: JsonObject = field(repr=False, compare=False)

    @classmethod
    def from_json(cls, raw: JsonObject) -> Self:
        """Return the metrics in ``raw``. Raises ``ValueError`` if those are none at all."""
        letters = decode.nested(raw, "dead_letters")
        if letters is None:
            raise ValueError("the answer is no metrics: it lacks dead_letters")
        counts = {name: decode.whole(letters, name) or 0 for name in _COUNTS}
        return cls(at=decode.moment(raw, "at"), dead_letters=DeadLetterCounts(**counts), raw=raw)


_COUNTS = ("open", "past_triage", "expiring")
