"""An uploaded input's name, and the ways to read what is to be uploaded."""

from __future__ import annotations

import io
import mimetypes
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import IO, Any, Self, TypeAlias

from uketsuke_client import decode
from uketsuke_client.decode import JsonObject
from uketsuke_client.job import Job

Source: TypeAlias = str | Path | bytes | IO[bytes]

_SPOOLED_IN_MEMORY = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class InputRef:
    """What ``upload`` returns; give it to ``submit`` as the input."""

    ref: str
    bytes: int | None
    sha256: str | None
    content_type: str | None
    expires_at: datetime | None
    raw: JsonObject = field(repr=False, compare=False)

    @classmethod
    def from_json(cls, raw: JsonObject) -> Self:
        ref = decode.text(raw, "ref")
        if not ref:
            raise ValueError("the answer to an upload has no ref")
        return cls(
            ref=ref,
            bytes=decode.whole(raw, "bytes"),
            sha256=decode.text(raw, "sha256"),
            content_type=decode.text(raw, "content_type"),
            expires_at=decode.moment(raw, "expires_at"),
            raw=raw,
        )


# The contract's own member, one upload, or several sources: uploads and jobs that have succeeded.
Input: TypeAlias = Mapping[str, Any] | InputRef | Sequence[InputRef | Job]


def member_of(given: Input) -> Mapping[str, Any]:
    """Return an input as the contract writes it."""
    if isinstance(given, InputRef):
        return {"ref": given.ref}
    if isinstance(given, Mapping):
        return given
    return {"refs": [one.ref if isinstance(one, InputRef) else one.id for one in given]}


@contextmanager
def opened(source: Source) -> Iterator[IO[bytes]]:
    """Yield ``source`` as a stream that can be measured and read again.

    A pipe can do neither, so it is copied to a temporary file first: the server asks
    for the length before the first byte.
    """
    if isinstance(source, bytes):
        yield io.BytesIO(source)
    elif isinstance(source, str | Path):
        with open(source, "rb") as stream:
            yield stream
    elif source.seekable():
        yield source
    else:
        with tempfile.SpooledTemporaryFile(max_size=_SPOOLED_IN_MEMORY) as copy:
            shutil.copyfileobj(source, copy)
            copy.seek(0)
            yield copy


def length_from_here(stream: IO[bytes]) -> int:
    start = stream.tell()
    end = stream.seek(0, io.SEEK_END)
    stream.seek(start)
    return end - start


def content_type_of(source: Source) -> str:
    name = source if isinstance(source, str | Path) else getattr(source, "name", None)
    guessed = mimetypes.guess_type(str(name))[0] if name else None
    return guessed or "application/octet-stream"
