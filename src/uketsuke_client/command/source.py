"""From what the user points at to a job's input: inline if it is small text, else uploaded."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from uketsuke_client.command.ending import BadInput
from uketsuke_client.command.session import Session

STDIN = "-"
# The contract's limits for what a request may hold itself; what is larger goes by reference.
_INLINE_TEXT_BYTES = 512 * 1024
_INLINE_BODY_BYTES = 1_000_000  # of 1 MiB: the other members need a little room
_INLINE_TEXTS = 2_048


# Kinds that take an input only by its name, however small it is.
_BY_REFERENCE = frozenset({"transcribe", "report"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """The options that name the input. Exactly one of them is used."""

    texts: Sequence[str]
    file: str | None
    texts_file: str | None
    refs: Sequence[str]


def input_of(given: Given, *, kind: str, session: Session) -> dict[str, Any]:
    ways = [given.texts, given.file, given.texts_file, given.refs]
    if sum(bool(way) for way in ways) != 1:
        raise BadInput(
            "say what the input is with one of --text, --file, --texts-file or --ref"
            + ("" if any(ways) else "; --file - reads standard input")
        )
    if given.file:
        return _file_input(given.file, kind=kind, session=session)
    if given.texts_file:
        return _texts_input(_texts_in(given.texts_file), session=session)
    if given.refs:
        return _refs_input(given.refs, kind=kind)
    return _text_input(given.texts, kind=kind)


def _text_input(texts: Sequence[str], *, kind: str) -> dict[str, Any]:
    if kind == "embed" or len(texts) > 1:
        return {"texts": list(texts)}
    return {"text": texts[0]}


def _refs_input(refs: Sequence[str], *, kind: str) -> dict[str, Any]:
    if kind == "report" or len(refs) > 1:
        return {"refs": list(refs)}
    return {"ref": refs[0]}


def _file_input(path: str, *, kind: str, session: Session) -> dict[str, Any]:
    """Return a small text file's text; anything else is uploaded and passed by its ref."""
    with opened(path) as stream:
        head = stream.read(_INLINE_TEXT_BYTES + 1)
        text = None if kind in _BY_REFERENCE else _small_text(head)
        if text is not None:
            return _text_input([text], kind=kind)
        ref = _uploaded(_whole(stream, head=head), name=path, session=session)
    return _refs_input([ref], kind=kind)


def _small_text(head: bytes) -> str | None:
    if len(head) > _INLINE_TEXT_BYTES:
        return None
    try:
        text = head.decode()
    except UnicodeDecodeError:
        return None
    if "\0" in text:  # no text holds it; much that is none, and happens to decode, does
        return None
    return text if len(json.dumps(text, ensure_ascii=False).encode()) < _INLINE_BODY_BYTES else None


def _whole(stream: IO[bytes], *, head: bytes) -> IO[bytes]:
    """Return the stream from its start; of a pipe, what was read is put in front again."""
    if stream.seekable():
        stream.seek(0)
        return stream
    return io.BytesIO(head + stream.read())


def _texts_input(texts: list[str], *, session: Session) -> dict[str, Any]:
    body = json.dumps(texts, ensure_ascii=False).encode(errors="surrogatepass")
    if len(texts) <= _INLINE_TEXTS and len(body) < _INLINE_BODY_BYTES:
        return {"texts": texts}
    lines = "".join(json.dumps(text, ensure_ascii=False) + "\n" for text in texts)
    stream = io.BytesIO(lines.encode(errors="surrogatepass"))
    ref = _uploaded(stream, name="the texts", session=session, content_type="application/jsonl")
    return {"ref": ref}


def _texts_in(path: str) -> list[str]:
    """Return a file's texts: JSON Lines of strings, or else one text a line."""
    with opened(path) as stream:
        try:
            content = stream.read().decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise BadInput(
                f"{path} is not UTF-8 text: {error.reason} at byte {error.start}"
            ) from None
    # Only newlines end a line: a text may hold the other separators that splitlines knows.
    lines = [line.rstrip("\r") for line in content.split("\n")]
    lines = [line for line in lines if line.strip()]
    if not lines:
        raise BadInput(f"{path} has no text in it")
    try:
        return [_json_text(line, number=n) for n, line in enumerate(lines, start=1)]
    except ValueError as error:
        if path.endswith((".jsonl", ".ndjson")):
            raise BadInput(f"{path}: {error}") from None
        return lines


def _json_text(line: str, *, number: int) -> str:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"text {number} is not JSON: {error}") from None
    if not isinstance(value, str):
        raise ValueError(f"text {number} is not a JSON string")
    return value


def _uploaded(
    stream: IO[bytes], *, name: str, session: Session, content_type: str | None = None
) -> str:
    ref = session.client.upload(stream, content_type=content_type).ref
    session.screen.note(f"uploaded {name} as {ref}")
    return ref


@contextmanager
def opened(path: str) -> Iterator[IO[bytes]]:
    """Open a file, or standard input for ``-``; what cannot be read is bad input."""
    try:
        if path == STDIN:
            yield sys.stdin.buffer
        else:
            with Path(path).open("rb") as stream:
                yield stream
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror or error}") from None
