"""The store's side of costs: what a budget forbids, what was used, what is left of a day's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import NamedTuple, Protocol

from uketsuke.domain.job import Job, JobKey


@dataclass(frozen=True, slots=True, kw_only=True)
class Used:
    """What some attempts used. Money is micro-dollars, as far as it is known.

    ``failed_cost_micros`` is the part of the attempts that failed or were lost; ``unknown`` counts
    the attempts whose cost is not known, or not whole.
    """

    attempts: int = 0
    failed_attempts: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    audio_ms: int = 0
    cost_micros: int = 0
    failed_cost_micros: int = 0
    unknown: int = 0


class UsageKey(NamedTuple):
    """Whose use, on which day (UTC) an attempt ended, of which kind, at which model."""

    tenant_id: str
    day: str
    kind: str
    provider: str
    model: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageItem:
    """One row of usage."""

    key: UsageKey
    used: Used


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageFilter:
    """Which use is asked for: of days from ``start`` to ``end``, both included."""

    start: date
    end: date
    kind: str | None = None
    tenant_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DayBudget:
    """A tenant's budget of today: what it is, what is spent, what running jobs have reserved."""

    daily_micros: int
    spent_micros: int
    reserved_micros: int


@dataclass(frozen=True, slots=True, kw_only=True)
class UsagePage:
    """Some rows of usage, the sums of all that were asked for, and where the next page begins."""

    items: Sequence[UsageItem]
    totals: Used
    budget: DayBudget | None
    cursor: UsageKey | None


class Costs(Protocol):
    """What work costs. Each method is one guarded statement or one transaction."""

    async def fail_over_budget(self, key: JobKey) -> Job | None:
        """Fail a due job whose budget can never allow it, with its dead letter; None if it may."""
        ...

    async def await_budget(self, key: JobKey, *, wait: timedelta) -> None:
        """Let a due job wait for what other jobs have reserved. No attempt is spent."""
        ...

    async def raise_reservation(self, key: JobKey, *, token: str, to_micros: int) -> bool:
        """Let a running attempt cost so much in all, if its budgets allow that. Repeatable."""
        ...

    async def usage(self, wanted: UsageFilter, *, after: UsageKey | None, limit: int) -> UsagePage:
        """Return a tenant's use, newest day first; without one all tenants', one after another.

        Also how the day's budget of that one tenant stands.
        """
        ...
