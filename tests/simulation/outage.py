"""A time in which one thing goes wrong with nearly every call."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Outage:
    """From when to when, and which fault of ``wire.FAULTS``."""

    start: float
    end: float
    fault: str

    def holds(self, now: float) -> bool:
        return self.start <= now < self.end
