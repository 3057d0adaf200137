"""Fault orders: how the next calls of this provider shall misbehave.

An order says which calls it is for (``route``, ``match`` on headers; without them, any) and what
they meet. A ``traceparent`` matches by its trace: each call has a span of its own. Orders queue up:
a call takes the *first* order that is for it and has calls left, so
``[{"count": 2}, {"count": 1, "status": 500}]`` lets two calls through and fails the third.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta, Struct

from uketsuke_local.models.wire import Refusal, decode

ROUTES: Final = ("chat", "embeddings", "transcriptions")

# What may stand in a header, Retry-After's date included.
_HEADER_VALUE: Final = re.compile(r"[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?")

# The trace in a traceparent, and before it the version.
_TRACE: Final = re.compile(r"[0-9a-f]{2}-[0-9a-f]{32}(?=-)")

# With an error status only these bodies make sense: the rest are shapes of a good answer.
_ERROR_BODIES: Final = ("garbage", "truncated", None)


class FaultOrder(Struct, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """One order as it came over HTTP.

    ``seconds`` passes first, then comes the rest; alone it means slow but right, and ``count``
    alone means right. ``retry_after`` without a ``status`` means 429. ``code`` is the error's
    code, for example ``insufficient_quota``, where the status' usual one would not do.
    """

    count: Annotated[int, Meta(ge=1, le=1_000_000)]
    route: Literal["chat", "embeddings", "transcriptions"] | None = None
    seconds: Annotated[float, Meta(ge=0, le=86_400)] | None = None
    status: Annotated[int, Meta(ge=400, le=599)] | None = None
    retry_after: Annotated[int, Meta(ge=0)] | Annotated[str, Meta(min_length=1)] | None = None
    code: Annotated[str, Meta(min_length=1, max_length=100)] | None = None
    hang: bool | None = None
    drop: Literal["before", "middle"] | None = None
    body: Literal["garbage", "truncated", "empty", "length", "refusal"] | None = None
    match: dict[str, str] | None = None

    def is_for(self, route: str, headers: Mapping[str, str]) -> bool:
        """Whether a call is meant; ``headers`` are looked up by lower-case name."""
        if self.route not in (None, route):
            return False
        wanted = self.match or {}
        return all(
            _comparable(name, headers.get(name.lower())) == _comparable(name, value)
            for name, value in wanted.items()
        )


def _comparable(name: str, value: str | None) -> str | None:
    """Return what counts of a header."""
    trace = _TRACE.match(value or "") if name.lower() == "traceparent" else None
    return trace[0] if trace else value


class FaultQueue:
    def __init__(self) -> None:
        self._orders: list[FaultOrder] = []

    def add(self, order: FaultOrder) -> None:
        self._orders.append(order)

    def clear(self) -> None:
        """Forget all orders. Calls that hang already go on hanging."""
        self._orders.clear()

    def left(self) -> list[FaultOrder]:
        return list(self._orders)

    def take(self, route: str, headers: Mapping[str, str]) -> FaultOrder | None:
        """Use up one call of the first order that is for this one."""
        for place, order in enumerate(self._orders):
            if order.is_for(route, headers):
                if order.count == 1:
                    del self._orders[place]
                else:
                    self._orders[place] = msgspec.structs.replace(order, count=order.count - 1)
                return order
        return None


def read_order(body: bytes) -> FaultOrder:
    """Return the order in ``body``, or refuse it: a misread order would make a test lie."""
    order = decode(body, FaultOrder)
    if order.status is None and (order.retry_after is not None or order.code is not None):
        order = msgspec.structs.replace(order, status=429)
    if isinstance(order.retry_after, str) and not _HEADER_VALUE.fullmatch(order.retry_after):
        raise _contradiction("retry_after cannot stand in a header")
    if order.status is not None and order.body not in _ERROR_BODIES:
        raise _contradiction(f"status and body {order.body!r} exclude each other")
    ends = [order.hang, order.drop, order.status or order.body]
    if sum(1 for end in ends if end) > 1:
        raise _contradiction("hang, drop, and status or body exclude each other")
    return order


def _contradiction(reason: str) -> Refusal:
    return Refusal(f"The order cannot be carried out: {reason}.", code="invalid_value")
