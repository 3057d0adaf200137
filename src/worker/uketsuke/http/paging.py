"""What all lists have in common: how much is on a page, whose, and where the next one is."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Final, TypeVar
from urllib.parse import urlencode

import msgspec

from uketsuke.domain.api_key import Caller
from uketsuke.http.problem import Fault, refuse

T = TypeVar("T")

_DEFAULT: Final = 50
_MOST: Final = 200


def read_list_query(
    query: Mapping[str, tuple[str, ...]], *, caller: Caller
) -> tuple[dict[str, str], list[Fault]]:
    """Return what a list is asked for, and what is wrong with that."""
    faults = [
        query_fault(name, "is said twice") for name, values in query.items() if len(values) > 1
    ]
    asked = {name: values[-1] for name, values in query.items()}
    if not _is_limit(asked.get("limit", str(_DEFAULT))):
        faults.append(query_fault("limit", f"is a number from 1 to {_MOST}"))
    if "tenant" in asked and caller.tenant_id is not None:
        faults.append(query_fault("tenant", "is for operators; your key sees its own tenant"))
    return asked, faults


def page_limit(asked: Mapping[str, str]) -> int:
    """Return the length of a page that was asked for soundly."""
    return int(asked.get("limit", _DEFAULT))


def next_page(path: str, asked: Mapping[str, str], cursor: str | None) -> str | None:
    """Return the path of the next page; None at the end."""
    return f"{path}?{urlencode({**asked, 'cursor': cursor})}" if cursor else None


def write_cursor(place: tuple[object, ...]) -> str:
    """Write a place in a list, of texts and numbers, as one word."""
    return base64.urlsafe_b64encode(json.dumps(place).encode()).decode().rstrip("=")


def read_cursor(text: str, place: type[T]) -> T:
    """Read what ``write_cursor`` wrote of such a place. Refuses what it cannot have written."""
    try:
        padded = text.encode() + b"=" * (-len(text) % 4)
        return msgspec.json.decode(base64.urlsafe_b64decode(padded), type=place)
    except (ValueError, msgspec.MsgspecError):
        raise refuse("invalid_cursor") from None


def query_fault(name: str, what: str) -> Fault:
    return Fault(pointer="", code="bad_value", detail=f"The query parameter {name} {what}.")


def _is_limit(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 4 and 1 <= int(text) <= _MOST
