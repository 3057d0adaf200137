"""Lists that come in pages, newest or first by name, as one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

from uketsuke_client.answer import items_in, next_in, object_in
from uketsuke_client.decode import JsonObject
from uketsuke_client.transport import Call, Transport

_Read = TypeVar("_Read")


def pages(
    path: str, *, reader: Callable[[JsonObject], _Read], transport: Transport
) -> Iterator[_Read]:
    """Yield every item from ``path`` on. A page is asked for when its first item is."""
    following: str | None = path
    while following:
        page = object_in(transport.send(Call(method="GET", path=following)))
        yield from items_in(page, path=following, reader=reader)
        following = next_in(page, path=following)
