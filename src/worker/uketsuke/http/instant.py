"""Moments as callers write them: RFC 3339, with an offset."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Final

LIKE: Final = "a time like 2026-11-29T12:00:00Z"
_TIME: Final = re.compile(
    r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)", re.ASCII
)


def read_instant(text: str) -> datetime | None:
    """Return the moment in UTC; None if it is none, or has no offset."""
    if not _TIME.fullmatch(text):
        return None
    try:
        # Times of the first and the last day of all can leave the calendar on their way to UTC.
        return datetime.fromisoformat(text.upper()).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
