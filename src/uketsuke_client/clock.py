"""Time and chance as arguments, so that a caller's test can tell them."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Clock:
    """What the client asks of its machine; seconds throughout."""

    monotonic: Callable[[], float] = time.monotonic
    now: Callable[[], float] = time.time
    pause: Callable[[float], None] = time.sleep
    draw: Callable[[], float] = secrets.SystemRandom().random
    """A number in [0, 1), for jitter."""
