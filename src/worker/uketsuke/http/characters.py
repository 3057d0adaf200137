"""Characters that no string of a request may hold: NUL, and lone surrogates.

JSON can write both, but SQLite would cut a text at the one and UTF-8 cannot hold the other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from uketsuke.http.pointer import ROOT, Pointer
from uketsuke.http.problem import Fault

_BAD: Final = re.compile("[\x00\ud800-\udfff]")


def bad_characters(value: object, *, pointer: Pointer = ROOT) -> Iterator[Fault]:
    """Find every string with such a character, also among the members' names."""
    if isinstance(value, str):
        if _BAD.search(value):
            yield _fault(pointer, "This string")
    elif isinstance(value, dict):
        yield from _in_members(value, pointer)
    elif isinstance(value, list):
        for place, item in enumerate(value):
            yield from bad_characters(item, pointer=pointer.child(place))


def _in_members(members: dict[str, object], pointer: Pointer) -> Iterator[Fault]:
    for name, value in members.items():
        if _BAD.search(name):
            yield _fault(pointer, "A member's name here")
        yield from bad_characters(value, pointer=pointer.child(name))


def _fault(pointer: Pointer, what: str) -> Fault:
    detail = f"{what} holds a NUL or half of a surrogate pair; take it out."
    return Fault(pointer=str(pointer), code="bad_value", detail=detail)
