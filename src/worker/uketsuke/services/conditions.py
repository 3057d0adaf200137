"""Reckon what is worth an alert, and keep it with the time since it holds."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from uketsuke.domain.condition import ConditionName, measures_of
from uketsuke.domain.objective import bounds_of
from uketsuke.domain.outlook import Ended, Outlook, outlook_measures
from uketsuke.domain.rollup import Step
from uketsuke.domain.tally import Figure, Tally, added
from uketsuke.services.ports import Ports

_MINUTE: Final = timedelta(minutes=1)
_MINUTES: Final = 60


async def reckon_conditions(ports: Ports, *, duties: Sequence[str]) -> int:
    """Return how many conditions began to hold. ``duties`` are those of the sweep."""
    settings, bounds = ports.settings, bounds_of(ports.settings.objectives)
    oldest = await ports.dead_queue.oldest_age(now=ports.clock.now())
    figures = await ports.conditions.figures()
    outlook = await _outlook(ports, duties)
    measures = [
        *measures_of(figures, dlq_oldest=oldest, bounds=bounds),
        *outlook_measures(outlook, bounds=bounds, least_ended=settings.alert_least_ended),
    ]
    unbounded = set(ConditionName) - {measure.name for measure in measures}
    return await ports.conditions.keep(measures, forget=unbounded)


async def _outlook(ports: Ports, duties: Sequence[str]) -> Outlook:
    look = await ports.metrics.look(Step.MINUTE, stretch=_MINUTE, count=_MINUTES, duties=duties)
    spending, denied = await ports.money_and_lanes.now()
    rolled = [point.counts for point in look.points]
    hour = Tally(counts=added(*rolled, *look.reading.unrolled().values()))
    # Beyond some backlog nobody looks at each job: then it is as the roll-up saw it.
    gauges = look.reading.rolled.gauges
    backlog = look.reading.backlog or (gauges.backlog if gauges else None)
    return Outlook(
        spending=spending,
        denied=denied,
        ended=Ended(succeeded=hour.of(Figure.SUCCEEDED), failed=hour.failed),
        oldest_waiting=backlog.oldest_waiting if backlog else None,
        oldest_due=backlog.oldest_due if backlog else None,
        sweep_lag=look.sweep_lag,
    )
