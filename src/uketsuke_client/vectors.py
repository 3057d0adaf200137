"""Vectors as they are sent in binary: 32-bit floats, little-endian, row by row."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from urllib.parse import unquote

import httpx

from uketsuke_client.error import UnexpectedAnswer

FLOATS = "application/octet-stream"
_FLOAT_BYTES = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Vectors:
    """An embed's result: one row of ``dimensions`` floats a text, in the order of the texts.

    ``packed`` is what ``numpy.frombuffer(packed, "<f4").reshape(-1, dimensions)`` reads.
    """

    model: str
    dimensions: int
    packed: bytes = field(repr=False)

    def __len__(self) -> int:
        return len(self.packed) // self._row_bytes

    def __getitem__(self, number: int) -> array[float]:
        """Return one row; the last is also row -1."""
        start = range(len(self))[number] * self._row_bytes
        row = array("f")
        row.frombytes(self.packed[start : start + self._row_bytes])
        if sys.byteorder == "big":
            row.byteswap()
        return row

    def __iter__(self) -> Iterator[array[float]]:
        return (self[number] for number in range(len(self)))

    @property
    def _row_bytes(self) -> int:
        return self.dimensions * _FLOAT_BYTES


def vectors_in(response: httpx.Response) -> Vectors:
    """Read a binary answer. Raises ``UnexpectedAnswer`` for any other."""
    given = response.headers.get("x-dimensions", "")
    dimensions = int(given) if given.isascii() and given.isdigit() else 0
    packed = response.content
    is_binary = response.headers.get("content-type", "").partition(";")[0].strip() == FLOATS
    if not is_binary or not dimensions or len(packed) % (dimensions * _FLOAT_BYTES):
        raise UnexpectedAnswer(
            f"{response.url} answered {response.status_code}, but not with vectors"
        )
    model = unquote(response.headers.get("x-model", ""))
    return Vectors(model=model, dimensions=dimensions, packed=packed)
