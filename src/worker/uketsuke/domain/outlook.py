"""What is worth an alert beside dead letters: work, money, models, and the sweep itself."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from uketsuke.domain.condition import Bounds, ConditionName, Measure

_MICROS_A_CENT: Final = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """What today has cost, and of the tenants with a budget, who has used most of it."""

    today_micros: int
    used_percent: int
    tenant_id: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Denied:
    """Lanes that are parked because their provider knows neither our key nor the model's name."""

    count: int
    lane: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How many jobs of the last hour succeeded, and how many failed."""

    succeeded: int
    failed: int

    def failed_per_mille(self, *, least: int) -> int | None:
        """Return the share that failed; None if fewer than ``least`` are too few to judge."""
        ended = self.succeeded + self.failed
        return None if ended < max(least, 1) else 1000 * self.failed // ended


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """All of that, at one moment. None: nothing waits, or nobody tells."""

    spending: Spending
    denied: Denied
    ended: Ended
    oldest_waiting: timedelta | None
    oldest_due: timedelta | None
    sweep_lag: timedelta | None


def outlook_measures(outlook: Outlook, *, bounds: Bounds, least_ended: int) -> list[Measure]:
    """Return what it amounts to, as far as there is a bound."""
    spending, denied = outlook.spending, outlook.denied
    figures = {
        ConditionName.WAITING: (_seconds(outlook.oldest_waiting or timedelta()), None),
        ConditionName.DUE: (_seconds(outlook.oldest_due or timedelta()), None),
        ConditionName.FAILED: (outlook.ended.failed_per_mille(least=least_ended), None),
        ConditionName.BUDGET: (spending.used_percent, spending.tenant_id),
        ConditionName.SPEND: (spending.today_micros // _MICROS_A_CENT, None),
        ConditionName.SWEEP_LAG: (_seconds(outlook.sweep_lag), None),
        ConditionName.DENIED: (denied.count, denied.lane),
    }
    return [
        Measure(name=name, value=value, bound=bounds[name], subject=subject)
        for name, (value, subject) in figures.items()
        if name in bounds
    ]


def _seconds(duration: timedelta | None) -> int | None:
    return None if duration is None else int(duration.total_seconds())
