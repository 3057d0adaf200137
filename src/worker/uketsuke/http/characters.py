"""Characters that no string of a request may hold: NUL, and lone surrogates.

JSON can write both, but SQLite would cut a text at the one and UTF-8 cannot hold the other.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from uketsuke.http.pointer import ROOT, Pointer
from uketsuke.http.problem import Fault

_BAD: Final = re.compile("[\x00\ud800-\udfff]")
# How they look in a dump. Also a harmless text can look so; then the walk says that it is.
_SIGNS: Final = re.compile(r"\\u0000|[\ud800-\udfff]")


def bad_characters(document: object) -> Iterator[Fault]:
    """Find every string with such a character, also among the members' names."""
    # A dump is made in C: nearly every document is cleared without a walk in Python.
    if _SIGNS.search(json.dumps(document, ensure_ascii=False)):
        yield from _walk(document, ROOT)


def _walk(value: Any, pointer: Pointer) -> Iterator[Fault]:
    if isinstance(value, str):
        if _BAD.search(value):
            yield _fault(pointer, "This string")
    elif isinstance(value, dict):
        for name in value:
            if _BAD.search(name):
                yield _fault(pointer, "A member's name here")
        yield from _walk_each(value.items(), pointer)
    else:  # an array: nothing else holds a string
        yield from _walk_each(enumerate(value), pointer)


def _walk_each(items: Iterable[tuple[str | int, object]], pointer: Pointer) -> Iterator[Fault]:
    for token, item in items:
        if isinstance(item, str | dict | list):
            yield from _walk(item, pointer.child(token))


def _fault(pointer: Pointer, what: str) -> Fault:
    detail = f"{what} holds a NUL or half of a surrogate pair; take it out."
    return Fault(pointer=str(pointer), code="bad_value", detail=detail)
