"""Texts of megabytes in an isolate of 128: they stay UTF-8, and only what is looked at is unpacked.

Python would take four bytes a character for all of a text as soon as one of them is an emoji.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from typing import Final, Protocol

# So much is unpacked to find a character; a piece to summarize is of this order too.
_STRETCH: Final = 16_384
_MARK: Final = b"\xef\xbb\xbf"


class Text(Protocol):
    """What has a length in characters and can be cut, as a ``str`` can; ``text[:]`` is one."""

    def __len__(self) -> int: ...

    def __getitem__(self, part: slice, /) -> str: ...


class LongText:
    """``Text`` in UTF-8. A byte order mark at its beginning is no part of it."""

    def __init__(self, content: bytes) -> None:
        """Raise ``UnicodeDecodeError`` for what is not UTF-8."""
        self._content = content
        # Where each stretch begins, in bytes and in characters; the last one is where all ends.
        self._bytes: list[int] = []
        self._characters = [0]
        for start, end in _stretches(content):
            self._bytes.append(start)
            found = len(content[start:end].decode())
            self._characters.append(self._characters[-1] + found)
        self._bytes.append(len(content))

    def __len__(self) -> int:
        return self._characters[-1]

    def __getitem__(self, part: slice, /) -> str:
        start, stop, step = part.indices(len(self))
        if step != 1:
            raise ValueError("a text is cut, and not picked from")
        if start >= stop:
            return ""
        first = bisect_right(self._characters, start) - 1
        last = bisect_left(self._characters, stop)
        unpacked = self._content[self._bytes[first] : self._bytes[last]].decode()
        before = self._characters[first]
        return unpacked[start - before : stop - before]


def is_blank(text: Text) -> bool:
    """Tell whether there is nothing but white space; ``strip()`` would copy a text for that."""
    starts = range(0, len(text), _STRETCH)
    return all(text[at : at + _STRETCH].isspace() for at in starts)


def _stretches(content: bytes) -> Iterator[tuple[int, int]]:
    """Cut between characters: not before a byte that goes on with one."""
    start = len(_MARK) if content.startswith(_MARK) else 0
    while start < len(content):
        end = min(start + _STRETCH, len(content))
        for _ in range(3):
            if end < len(content) and content[end] & 0xC0 == 0x80:
                end += 1
        yield start, end
        start = end
