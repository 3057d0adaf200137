"""What is worth an alert: a few figures, each with a bound above which somebody should know."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

# An hour is a growing one with more than twice the hour before, and more than a handful.
_GROWTH_FACTOR: Final = 2


class ConditionName(StrEnum):
    """The conditions that there are."""

    OPEN = "dead_letters_open"
    PAST_TRIAGE = "dead_letters_past_triage"
    EXPIRING = "dead_letters_expiring"
    GROWTH = "dead_letters_growth"
    DLQ_OLDEST = "dlq_oldest_seconds"
    WAITING = "oldest_waiting_seconds"
    DUE = "oldest_due_seconds"
    FAILED = "failed_per_mille"
    BUDGET = "budget_used_percent"
    SPEND = "spend_today_cents"
    SWEEP_LAG = "sweep_lag_seconds"
    DENIED = "lanes_denied"


Bounds = Mapping[ConditionName, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """One condition's figure. ``value`` None: nobody tells. ``compared_to`` is that of before.

    ``subject`` names whom it is about, where it is one of many: a tenant, a lane.
    """

    name: ConditionName
    value: int | None
    bound: int = 0
    compared_to: int | None = None
    subject: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """A measure as it was kept. ``since`` when it holds; None: it does not.

    ``name`` may be one that only another version knows.
    """

    name: str
    value: int | None
    bound: int
    compared_to: int | None
    subject: str | None
    since: datetime | None
    computed_at: datetime

    @property
    def holds(self) -> bool:
        return self.since is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class LetterFigures:
    """How many dead letters there are. ``expiring``: open ones whose input goes soon."""

    open: int
    past_triage: int
    expiring: int
    last_hour: int
    hour_before: int


def measures_of(
    figures: LetterFigures, *, dlq_oldest: timedelta | None, bounds: Bounds
) -> tuple[Measure, ...]:
    """Return what the figures, and the age of the dead-letter queue's oldest message, amount to."""
    oldest = None if dlq_oldest is None else int(dlq_oldest.total_seconds())
    return (
        Measure(name=ConditionName.OPEN, value=figures.open),
        _bounded(ConditionName.PAST_TRIAGE, figures.past_triage, bounds),
        _bounded(ConditionName.EXPIRING, figures.expiring, bounds),
        Measure(
            name=ConditionName.GROWTH,
            value=figures.last_hour,
            bound=max(bounds[ConditionName.GROWTH], _GROWTH_FACTOR * figures.hour_before),
            compared_to=figures.hour_before,
        ),
        _bounded(ConditionName.DLQ_OLDEST, oldest, bounds),
    )


def _bounded(name: ConditionName, value: int | None, bounds: Bounds) -> Measure:
    return Measure(name=name, value=value, bound=bounds[name])
