"""How long to wait before the next try, as functions of their arguments."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

# A provider that asks for more than this is not believed: the job's deadline decides then.
LONGEST_REQUEST = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """Exponential backoff: ``base`` doubled with each failure, never more than ``cap``."""

    base: timedelta
    cap: timedelta


def retry_delay(
    policy: RetryPolicy, *, attempt: int, draw: float, requested: timedelta | None = None
) -> timedelta:
    """Return how long to wait after failed attempt number ``attempt`` (the first is 1).

    Exponential with full jitter: ``draw`` is the caller's random number in [0, 1),
    passed in so that this stays a function of its arguments. A wait that the other
    side ``requested`` is a floor: retrying sooner only earns another refusal, and the
    jitter on top keeps those who were told the same from coming back together.
    """
    # Past 30 doublings the cap has long won, and timedelta would in the end overflow.
    ceiling = min(policy.cap, policy.base * (1 << min(max(attempt, 1) - 1, 30)))
    return (requested or timedelta()) + ceiling * draw


def parse_retry_after(value: str | None, *, now: datetime) -> timedelta | None:
    """Read a ``Retry-After`` header (RFC 9110 section 10.2.3): seconds or an HTTP date.

    Garbage and the past give None; what is longer than ``LONGEST_REQUEST`` is clamped.
    """
    text = (value or "").strip()
    # isdigit() also likes superscripts, which int() does not.
    if text.isascii() and text.isdigit():
        seconds = int(text[:12])
        return min(timedelta(seconds=seconds), LONGEST_REQUEST) if seconds else None
    wait = _date_of(text)
    if wait is None or wait <= now:
        return None
    return min(wait - now, LONGEST_REQUEST)


def _date_of(text: str) -> datetime | None:
    try:
        date = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return date if date.tzinfo else date.replace(tzinfo=UTC)
