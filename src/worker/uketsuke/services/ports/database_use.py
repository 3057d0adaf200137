"""What an event costs at the database."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class DatabaseUse:
    """What was asked of the database so far, in the numbers that it tells itself: D1 bills rows."""

    calls: int = 0
    rows_read: int = 0
    rows_written: int = 0
