"""Choosing among media types by ``Accept`` (RFC 9110 section 12.5.1)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

_TOKEN: Final = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_MEDIA_RANGE: Final = re.compile(rf"({_TOKEN})/({_TOKEN})")
_WEIGHT: Final = re.compile(r"0(\.[0-9]{0,3})?|1(\.0{0,3})?")
# What lies between two separators; one within quotes is none.
_QUOTED: Final = r'"(?:[^"\\]|\\.)*"?'
_ELEMENT: Final = re.compile(rf'(?:[^,"]|{_QUOTED})+')
_PARAMETER: Final = re.compile(rf'(?:[^;"]|{_QUOTED})+')


@dataclass(frozen=True, slots=True, kw_only=True)
class _Range:
    """One media range: a ``*`` stands for any."""

    main: str
    sub: str
    weight: float

    @property
    def closeness(self) -> int:
        return (self.main != "*") + (self.sub != "*")

    def covers(self, offer: str) -> bool:
        main, _, sub = offer.partition("/")
        return self.main in ("*", main) and self.sub in ("*", sub)


def choose(accept: str | None, offers: Sequence[str]) -> str | None:
    """Return the offer that is wanted most, the first of several; None if none is wanted.

    The closest range decides about an offer. A header that is absent, or says nothing that can be
    read, takes anything. Parameters beside the weight are left aside: our types have none.
    """
    ranges = _ranges(accept or "")
    if not ranges:
        return offers[0]
    best = max(offers, key=lambda offer: _weight(offer, ranges))  # the first of equals
    return best if _weight(best, ranges) > 0 else None


def _weight(offer: str, ranges: Sequence[_Range]) -> float:
    covering = [one for one in ranges if one.covers(offer)]
    closest = max((one.closeness for one in covering), default=0)
    return max((one.weight for one in covering if one.closeness == closest), default=0)


def _ranges(accept: str) -> Sequence[_Range]:
    found = [_read(element) for element in _ELEMENT.findall(accept)]
    return [one for one in found if one is not None]


def _read(element: str) -> _Range | None:
    """Read one range; None if it is none, or its weight is no number."""
    name, *parameters = _PARAMETER.findall(element) or [""]
    match = _MEDIA_RANGE.fullmatch(name.strip().lower())
    weight = _weight_in(parameters)
    if match is None or not _WEIGHT.fullmatch(weight):
        return None
    main, sub = match.groups()
    if main == "*" and sub != "*":
        return None
    return _Range(main=main, sub=sub, weight=float(weight))


def _weight_in(parameters: Sequence[str]) -> str:
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name.strip().lower() == "q":
            return value.strip()
    return "1"
