"""Dead letters that have failed in the same way, as one: what a person decides about at once."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from uketsuke.domain.dead_letter import Verdict, verdict_of
from uketsuke.domain.failure import ErrorClass


@dataclass(frozen=True, slots=True, kw_only=True)
class LetterGroup:
    """All letters of one fingerprint. ``parked``: its model's lane is, at this moment."""

    fingerprint: str
    kind: str | None
    error_class: ErrorClass
    code: str
    model: str | None
    count: int
    tenants: int
    first_failed_at: datetime
    last_failed_at: datetime
    parked: bool

    @property
    def verdict(self) -> Verdict:
        """What most likely helps. What could be redriven waits while its model turns all away."""
        verdict = verdict_of(self.error_class, self.code)
        return Verdict.WAIT if self.parked and verdict is Verdict.REDRIVE else verdict
