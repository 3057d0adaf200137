"""The Worker's clock and dice. At import both are useless: they are asked at events only."""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime


class SystemClock:
    """``services.ports.Clock``."""

    def now(self) -> datetime:
        return datetime.fromtimestamp(time.time(), UTC)

    def monotonic(self) -> float:
        return time.monotonic()


class SystemDice:
    """``services.ports.Dice``."""

    def draw(self) -> float:
        return int.from_bytes(os.urandom(7)) / (1 << 56)

    def entropy(self, count: int) -> bytes:
        return os.urandom(count)
