"""The journal: what this provider was asked, for tests to assert.

It keeps names, sizes and times. It never keeps content or the Authorization header.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Final

MAX_CALLS: Final = 10_000

# What nginx calls a client that closed its connection before the answer.
CLIENT_LEFT: Final = 499

# A member of JSON or a part of a form. What does not look like a model's name is not kept.
_MODEL: Final = re.compile(
    rb'"model"\s*:\s*"(?P<json>[\w./:@-]{1,100})"'
    rb'|name="model"[^\r\n]*\r\n(?:[^\r\n]+\r\n)*\r\n(?P<form>[\w./:@-]{1,100})\r\n'
)


@dataclass(slots=True, kw_only=True)
class Call:
    """One call; ``answer`` is null until it is known, then a status code, "hang" or "drop"."""

    route: str
    at: str
    request_id: str
    idempotency_key: str | None
    traceparent: str | None
    model: str | None
    bytes: int
    answer: int | str | None


class Journal:
    def __init__(self) -> None:
        self._calls: deque[Call] = deque(maxlen=MAX_CALLS)

    def open(
        self, route: str, *, request_id: str, headers: Mapping[str, str], now: datetime
    ) -> Call:
        call = Call(
            route=route,
            at=_rfc3339(now),
            request_id=request_id,
            idempotency_key=headers.get("idempotency-key"),
            traceparent=headers.get("traceparent"),
            model=None,
            bytes=0,
            answer=None,
        )
        self._calls.append(call)
        return call

    def __iter__(self) -> Iterator[dict[str, object]]:
        """Give the calls, newest last."""
        return (asdict(call) for call in self._calls)


def asked_model(body: bytes) -> str | None:
    """Return the model that a body asks for, found without decoding it: it may be malformed."""
    found = _MODEL.search(body)
    return (found["json"] or found["form"]).decode() if found else None


def _rfc3339(now: datetime) -> str:
    return now.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
