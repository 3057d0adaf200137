"""How deep a JSON text nests, told before it is parsed.

The parser recurses, and the Worker's stack is small: where CPython raises ``RecursionError``, a
Worker has been seen to die, and everything else in it. Whatever others wrote is asked first.
"""

from __future__ import annotations

from typing import Final

MOST_DEPTH: Final = 64

_TO_SQUARE: Final = bytes.maketrans(b"{}", b"[]")
_NO_BRACKET: Final = bytes(set(range(256)) - set(b"[]{}"))


def too_deep(raw: bytes) -> bool:
    """Tell whether brackets nest too deep, in linear time and without recursion.

    ``raw`` is UTF-8. Many brackets that nobody has closed count as too deep.
    """
    if raw.count(b"[") + raw.count(b"{") <= MOST_DEPTH:
        return False
    # Without escapes every second piece between quotes lies outside of strings.
    pieces = raw.replace(rb"\\", b"").replace(rb"\"", b"").split(b'"')[::2]
    nest = b"".join(pieces).translate(_TO_SQUARE, _NO_BRACKET)
    for _ in range(MOST_DEPTH):
        inner, nest = nest, nest.replace(b"[]", b"")
        if len(inner) == len(nest):
            break
    return b"[" in nest
