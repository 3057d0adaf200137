"""Read kept vectors: what they are, and themselves, in either form, never whole in memory."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Final

from uketsuke.domain.vectors import (
    HEAD_LIMIT,
    JSON_CLOSING,
    Head,
    json_opening,
    json_rows,
    read_head,
)
from uketsuke.services.ports import Ports, Unavailable

# So much is read at once: 12 MB are then 48 reads, each a round trip to storage.
_READ_BYTES: Final = 262_144


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptVectors:
    """An object of vectors that was there a moment ago."""

    object_key: str
    head: Head


async def find_vectors(object_key: str, *, ports: Ports) -> KeptVectors | None:
    """Return what the object says of itself; None if it is gone."""
    first = await ports.blobs.part(object_key, offset=0, length=HEAD_LIMIT)
    return None if first is None else KeptVectors(object_key=object_key, head=read_head(first))


async def floats_of(kept: KeptVectors, *, ports: Ports) -> object | None:
    """Return a stream of the floats alone; None if they are gone."""
    return await ports.blobs.stream(kept.object_key, offset=kept.head.start)


async def json_of(kept: KeptVectors, *, ports: Ports) -> AsyncIterator[bytes]:
    """Yield the result's JSON, reading on only when more is wanted.

    Raises ``Unavailable`` in the middle if the rest cannot be had.
    """
    head = kept.head
    yield json_opening(head)
    step = max(1, _READ_BYTES // head.row_bytes) * head.row_bytes
    for at in range(0, head.floats_bytes, step):
        packed = await ports.blobs.part(kept.object_key, offset=head.start + at, length=step)
        if not packed:
            raise Unavailable("kept vectors went while they were read")
        if at:
            yield b","
        for piece in json_rows(packed, dimensions=head.dimensions):
            yield piece
    yield JSON_CLOSING
