"""How long the other side asks to be left alone."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime


def retry_after(headers: Mapping[str, str], *, now: float) -> float | None:
    """Return the seconds that ``Retry-After`` asks for, in either form, or None.

    A date is measured against the answer's own ``Date``, so that a wrong clock here
    neither hurries nor stalls; ``now`` (epoch seconds) stands in where there is none.
    """
    value = headers.get("retry-after", "").strip()
    if value.isdecimal():
        return float(value)
    until = _epoch_seconds(value)
    if until is None:
        return None
    sent_at = _epoch_seconds(headers.get("date", ""))
    return max(0.0, until - (now if sent_at is None else sent_at))


def _epoch_seconds(http_date: str) -> float | None:
    try:
        parsed = parsedate_to_datetime(http_date)
    except ValueError:
        return None
    return (parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).timestamp()
