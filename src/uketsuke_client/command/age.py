"""Times as a person on call reads them: how long ago, or how long still."""

from __future__ import annotations

from datetime import datetime
from typing import Final

# The largest unit of which there is one at least; two days in hours are still a number at a glance.
_UNITS: Final = ((172_800.0, 86_400.0, "d"), (3_600.0, 3_600.0, "h"), (60.0, 60.0, "min"))


def age(at: datetime | None, *, now: float) -> str:
    """Return ``3 h ago`` or ``in 3 h``, rounded down; nothing for no time.

    ``now`` is in epoch seconds.
    """
    if at is None:
        return ""
    seconds = now - at.timestamp()
    words = _span(abs(seconds))
    return f"{words} ago" if seconds >= 0 else f"in {words}"


def _span(seconds: float) -> str:
    for at_least, unit, name in _UNITS:
        if seconds >= at_least:
            return f"{int(seconds // unit)} {name}"
    return f"{int(seconds)} s"
