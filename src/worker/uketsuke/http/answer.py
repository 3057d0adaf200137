"""Answers in JSON, and when one that the caller already has will do."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

import msgspec

from uketsuke.http.message import Response

Headers = tuple[tuple[str, str], ...]

# For one caller only, and never used without asking again.
PRIVATE: Final[Headers] = (("cache-control", "private, no-cache"), ("vary", "Authorization"))

_JSON: Final = ("content-type", "application/json")
_ENTITY_TAG: Final = re.compile(r'(?:W/)?("[!#-~\x80-\xff]*")')


def json_answer(status: int, document: object, *, headers: Headers = ()) -> Response:
    """Return ``document`` as JSON."""
    return Response(status=status, headers=(_JSON, *headers), body=msgspec.json.encode(document))


def tagged_answer(document: object, *, asked: Mapping[str, str], headers: Headers = ()) -> Response:
    """Return ``document`` under its entity tag, or 304 if the caller has the same already."""
    body = msgspec.json.encode(document)
    tag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
    headers = (*headers, ("etag", tag))
    if has_tag(asked, tag):
        return Response(status=304, headers=headers)
    return Response(status=200, headers=(_JSON, *headers), body=body)


def has_tag(asked: Mapping[str, str], tag: str) -> bool:
    """Say whether the caller, who sent these headers, has what ``tag`` names already."""
    if_none_match = asked.get("if-none-match", "")
    # Weak comparison (RFC 9110 section 13.1.2): a W/ in front does not count.
    return if_none_match.strip() == "*" or tag in _ENTITY_TAG.findall(if_none_match)


def rfc3339(time: datetime) -> str:
    """Return an aware time as the API writes it: UTC, to the millisecond."""
    return time.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
