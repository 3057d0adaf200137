"""Vectors as bytes: 32-bit floats, little-endian, row by row; how they are kept and told as JSON.

As Python numbers they would take eight times the memory: they become bytes as each call brings
them, and numbers again a few rows at a time.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

# What a kept result says of itself. It is never sent as it is.
VECTORS_TYPE: Final = "application/vnd.uketsuke.vectors"
FLOAT_BYTES: Final = 4
# Every head fits, so that one small read tells what a kept result holds.
HEAD_LIMIT: Final = 4096

_MAGIC: Final = b"UKV1"
_PREFIX: Final = struct.Struct("<4sI")  # the magic, and how many bytes of JSON follow
# JSON may spell a character in twelve bytes; no provider's name for a model is that long.
_LONGEST_MODEL: Final = 256
# So much is told as JSON in one go: some ten milliseconds of work.
_PIECE_BYTES: Final = 32_768


@dataclass(frozen=True, slots=True, kw_only=True)
class Vectors:
    """Rows of ``dimensions`` floats, packed as they are kept. There is at least one row."""

    dimensions: int
    packed: bytes

    @property
    def count(self) -> int:
        return len(self.packed) // (FLOAT_BYTES * self.dimensions)


def pack(rows: Sequence[Sequence[float]]) -> Vectors:
    """Pack rows of numbers. Raises ``ValueError`` unless all are of one size and finite."""
    dimensions = len(rows[0]) if rows else 0
    if not dimensions:
        raise ValueError("there is nothing to pack")
    packed = b"".join([_packed(row, dimensions) for row in rows])
    return Vectors(dimensions=dimensions, packed=packed)


def _packed(row: Sequence[float], dimensions: int) -> bytes:
    try:
        if len(row) == dimensions and all(map(math.isfinite, row)):
            return struct.pack(f"<{dimensions}f", *row)
    except (TypeError, OverflowError):
        raise ValueError("a vector holds numbers of 32 bits") from None
    raise ValueError("vectors are of one size and finite")


def unpack(packed: bytes) -> tuple[float, ...]:
    """Return packed floats as numbers."""
    return struct.unpack(f"<{len(packed) // FLOAT_BYTES}f", packed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """What a kept result says before its floats; they begin at the byte ``start``."""

    model: str
    dimensions: int
    count: int
    start: int

    @property
    def row_bytes(self) -> int:
        return FLOAT_BYTES * self.dimensions

    @property
    def floats_bytes(self) -> int:
        return self.row_bytes * self.count


def keep(parts: Iterable[Vectors], *, model: str) -> bytes:
    """Put parts of one size behind each other, after a head that describes them."""
    rows = list(parts)
    head = {
        "model": model[:_LONGEST_MODEL],
        "dimensions": rows[0].dimensions,
        "count": sum(part.count for part in rows),
    }
    text = json.dumps(head).encode()
    text += b" " * (-len(text) % FLOAT_BYTES)
    return b"".join([_PREFIX.pack(_MAGIC, len(text)), text, *(part.packed for part in rows)])


def read_head(first: bytes) -> Head:
    """Read the head from a kept result's first bytes. Raises ``ValueError`` if it is none."""
    if len(first) < _PREFIX.size:
        raise ValueError("these are no kept vectors")
    magic, length = _PREFIX.unpack_from(first)
    start = _PREFIX.size + length
    if magic != _MAGIC or len(first) < start:
        raise ValueError("these are no kept vectors")
    told = json.loads(first[_PREFIX.size : start])
    return Head(
        model=told["model"], dimensions=told["dimensions"], count=told["count"], start=start
    )


def json_opening(head: Head) -> bytes:
    """Return the result's JSON up to its first row."""
    model = json.dumps(head.model)
    return f'{{"model":{model},"dimensions":{head.dimensions},"vectors":['.encode()


JSON_CLOSING: Final = b"]}"


def json_rows(packed: bytes, *, dimensions: int) -> Iterator[bytes]:
    """Yield whole rows as JSON, with commas between them but none at either end."""
    # Nine digits give every 32-bit float back exactly, and vectors hold no more than that.
    row = "[" + ",".join(["%.9g"] * dimensions) + "]"
    width = FLOAT_BYTES * dimensions
    step = max(1, _PIECE_BYTES // width) * width
    for start in range(0, len(packed), step):
        numbers = unpack(packed[start : start + step])
        rows = [row % numbers[at : at + dimensions] for at in range(0, len(numbers), dimensions)]
        yield (("," if start else "") + ",".join(rows)).encode()
