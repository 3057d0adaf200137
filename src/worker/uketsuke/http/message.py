"""A request and its answer as plain values: no platform in them, so tests make them by hand."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol
from urllib.parse import parse_qsl


class Body(Protocol):
    """A request's body, which can be had once: read whole, or handed on as a stream."""

    @property
    def stream(self) -> object:
        """The body for ``Blobs.put_stream``; nothing here looks into it."""
        ...

    async def read(self, limit: int) -> bytes:
        """Return the whole body. Raises ``services.ports.TooLarge`` beyond ``limit`` bytes."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What came in. ``path`` is as it was sent, not decoded; ``headers`` are in lower case.

    ``query`` holds every value of a name, so that what is unknown or said twice can be seen.
    """

    method: str
    path: str
    headers: Mapping[str, str]
    body: Body
    query: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    """A body that ``Blobs.stream`` gave, to be sent as it comes."""

    content: object
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Pieces:
    """A body that is made piece by piece as it is sent. How long it gets, nobody knows before."""

    content: AsyncIterator[bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """What goes out. The headers are pairs, since a name may come twice."""

    status: int
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes | Stream | Pieces = b""


def read_query(text: str) -> Mapping[str, tuple[str, ...]]:
    """Read what follows the ``?`` of a URL, without it."""
    found: dict[str, tuple[str, ...]] = {}
    for name, value in parse_qsl(text, keep_blank_values=True):
        found[name] = (*found.get(name, ()), value)
    return found
