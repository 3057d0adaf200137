"""What is kept of a message that nobody can read: its hash, and a shape without content.

Such a body may hold anything, so both are total: they take whatever JSON can bring, however deep,
and keep no text of it but ids of our own form.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Final

from uketsuke.domain.ids import INPUT_ID, JOB_ID

SHAPE_LENGTH: Final = 1024
# The members of our own messages; of what else an object holds, only the number is told.
_NAMES: Final = ("v", "job", "tenant", "kind", "input", "traceparent")
_ITEMS: Final = 3
_LEVELS: Final = 3
# A version is a small number. A large one could be anything's.
_VERSIONS: Final = range(1000)
# Python writes no integer of more than 4,300 digits in tens.
_BITS_IN_TENS: Final = 10_000


def shape_of(body: object) -> str:
    """Return what a body looks like, as JSON of at most ``SHAPE_LENGTH`` ASCII characters.

    A text is its type and length, unless it is an id of ours; a number is its type, unless it is a
    version. What lies too deep is summed up likewise, and so is the rest of what would be too long.
    """
    shapes = (_dump(_shape(body, levels)) for levels in range(_LEVELS, -1, -1))
    return next(shape for shape in shapes if len(shape) <= SHAPE_LENGTH)


def digest_of(body: object) -> str:
    """Return the SHA-256, in hexadecimal, of the whole body as canonical JSON.

    That is ASCII without spaces, each object's members sorted by name.
    """
    digest = hashlib.sha256()
    for part in _canonical(body):
        digest.update(part.encode())
    return digest.hexdigest()


def _shape(value: object, levels: int) -> object:
    if levels and isinstance(value, Mapping):
        known = {name: _member(name, value[name], levels) for name in _NAMES if name in value}
        others = len(value) - len(known)
        return {**known, "others": others} if others else known
    if levels and isinstance(value, list | tuple):
        first = [_shape(item, levels - 1) for item in islice(value, _ITEMS)]
        return {"list": len(value), "first": first}
    return _summary(value)


def _member(name: str, value: object, levels: int) -> object:
    is_version = name == "v" and type(value) is int and value in _VERSIONS
    return value if is_version else _shape(value, levels - 1)


def _summary(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int() | float():
            return "number"
        case str():
            ours = JOB_ID.fullmatch(value) or INPUT_ID.fullmatch(value)
            return value if ours else f"string({len(value)})"
        case Mapping():
            return f"object({len(value)})"
        case list() | tuple():
            return f"list({len(value)})"
        case _:
            return "other"


@dataclass(frozen=True, slots=True)
class _Written:
    """A piece of the canonical text, among values that are still to be written."""

    text: str


def _canonical(body: object) -> Iterator[str]:
    """Write a body without recursion: what is deep enough would end it."""
    waiting = [body]
    while waiting:
        match waiting.pop():
            case _Written(text=text):
                yield text
            case Mapping() as members:
                waiting += reversed(_members(members))
            case list() | tuple() as items:
                waiting += reversed(_between("[", [[item] for item in items], "]"))
            case value:
                yield _leaf(value)


def _members(members: Mapping[object, object]) -> list[object]:
    named = {name if isinstance(name, str) else _leaf(name): members[name] for name in members}
    pairs = [[_Written(f"{_dump(name)}:"), named[name]] for name in sorted(named)]
    return _between("{", pairs, "}")


def _between(start: str, parts: list[list[object]], end: str) -> list[object]:
    written: list[object] = [_Written(start)]
    for number, part in enumerate(parts):
        written += [_Written(","), *part] if number else part
    return [*written, _Written(end)]


def _leaf(value: object) -> str:
    if isinstance(value, int) and value.bit_length() > _BITS_IN_TENS:
        return hex(value)
    plain = isinstance(value, str | int | float | None)
    return _dump(value if plain else _summary(value))


def _dump(value: object) -> str:
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"))
