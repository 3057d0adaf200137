"""What the callers of a storm ask for: a seeded plan of small jobs of every sort."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final

TENANTS: Final = 3

# In every part of a request that is the caller's own: none of it may come up in a log.
CANARY: Final = "quetzalcanary"


# Whatever a caller may send along; none of it is fit for a log.
_HEADERS: Final = {
    "user-agent": CANARY,
    "traceparent": f"00-{CANARY}",
    "tracestate": f"rojo={CANARY}",
    "baggage": f"user={CANARY}",
    "content-disposition": f'attachment; filename="{CANARY}.txt"',
}


@dataclass(frozen=True, kw_only=True, eq=False)
class Order:
    """One request, and what its caller does besides."""

    number: int
    tenant: int
    document: dict[str, Any]
    idempotency_key: str | None
    cancels: bool
    sends_twice: bool

    @property
    def headers(self) -> dict[str, str]:
        headers = {**_HEADERS, "x-request-id": f"{CANARY} {self.number}"}
        if self.idempotency_key is not None:
            headers["idempotency-key"] = f'"{self.idempotency_key}"'
        return headers


@dataclass
class Plan:
    """Draws one request after another; the same seed draws the same ones."""

    draw: Random
    _drawn: int = field(default=0)

    def batch(self, size: int) -> Sequence[Order]:
        return [self._order() for _ in range(size)]

    def _order(self) -> Order:
        draw, number = self.draw, self._drawn
        self._drawn += 1
        keyed = draw.random() < 0.5
        return Order(
            number=number,
            tenant=draw.randrange(TENANTS),
            document=self._document(number, keyed=keyed),
            idempotency_key=f"{CANARY}-{number}" if keyed else None,
            cancels=draw.random() < 0.08,
            sends_twice=keyed and draw.random() < 0.4,
        )

    def _document(self, number: int, *, keyed: bool) -> dict[str, Any]:
        draw = self.draw
        document = {**self._work(number), "max_attempts": draw.choice([1, 2, 4, 5, 8, 20])}
        if draw.random() < 0.15:
            document["run_key"] = f"{CANARY}-run-{draw.randrange(3)}"
            # A job that is only joined binds no key: who has one could be given two jobs in turn.
            document["on_conflict"] = "reject" if keyed else draw.choice(["reject", "return"])
        if draw.random() < 0.06:
            document["deadline_seconds"] = draw.randint(2, 8)
        if draw.random() < 0.2:
            document["metadata"] = {"note": CANARY, CANARY: "note"}
        return document

    def _work(self, number: int) -> dict[str, Any]:
        chance = self.draw.random()
        if chance < 0.15:
            count = self.draw.randint(1, 3)
            texts = [f"The {CANARY} number {number} sings {n} songs." for n in range(count)]
            return {"kind": "embed", "input": {"texts": texts}}
        if chance < 0.85:
            return {"kind": "summarize", "input": {"text": _text(number, 3)}}
        # Blanks make a text large and cost the model nothing: one for object storage, or a text
        # that is worked in pieces.
        sentences = self.draw.choice([3, 5])
        return {"kind": "summarize", "input": {"text": _text(number, sentences, blanks=1500)}}


def _text(number: int, sentences: int, *, blanks: int = 1) -> str:
    said = [f"Desk {n} of order {number} met the {CANARY} at noon." for n in range(sentences)]
    return (" " * blanks).join(said)
