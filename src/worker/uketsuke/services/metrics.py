"""Tell how the deployment does: what is rolled up, and what has happened since."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from uketsuke.domain.backlog import Backlog
from uketsuke.domain.condition import Condition, ConditionName, LetterFigures
from uketsuke.domain.rollup import ALL_KINDS, Step
from uketsuke.domain.series import Range, Stretch, stretches
from uketsuke.domain.tally import Tally, added
from uketsuke.services.ports import Look, Ports
from uketsuke.services.sweep import duty_names

LATE_WRITES: Final = "late_writes"
_MINUTES: Final = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """How the deployment does. ``backlog`` None: there is too much, and no sweep came so far.

    ``hour`` is of the last sixty minutes of the clock, the one that runs included.
    """

    look: Look
    backlog: Backlog | None
    hour: Tally
    hour_by_kind: Mapping[str, Tally]


async def overview(ports: Ports) -> Overview:
    """Look at everything at once, in one call to the database that reads a bounded part of it."""
    look = await ports.metrics.look(
        Step.MINUTE, stretch=Step.MINUTE.length, count=_MINUTES, duties=duty_names()
    )
    reading = look.reading
    kept = reading.rolled.gauges.backlog if reading.rolled.gauges else None
    kinds = _by_kind(look)
    return Overview(
        look=look,
        backlog=kept if reading.backlog is None else reading.backlog,
        hour=Tally(counts=added(*(tally.counts for tally in kinds.values()))),
        hour_by_kind=kinds,
    )


def _by_kind(look: Look) -> Mapping[str, Tally]:
    kinds: dict[str, dict[str, int]] = dict(look.reading.unrolled())
    for point in look.points:
        if point.kind != ALL_KINDS:
            kinds[point.kind] = added(kinds.get(point.kind, {}), point.counts)
    return {kind: Tally(counts=kinds[kind]) for kind in sorted(kinds)}


async def series(span: Range, *, ports: Ports) -> Sequence[Stretch]:
    """Return the range's stretches, oldest first, the last of which is not over."""
    look = await ports.metrics.look(
        span.step, stretch=span.length, count=span.amount, duties=duty_names()
    )
    fresh = added(*look.reading.unrolled().values())
    return stretches(look.points, span=span, now=look.reading.at, fresh=fresh)


async def letters_of(conditions: Sequence[Condition], *, ports: Ports) -> LetterFigures:
    """Count the dead letters as they are; if they are many, tell what the sweep has counted."""
    figures = await ports.conditions.glance()
    if figures is not None:
        return figures
    kept = {each.name: each for each in conditions}

    def value(name: ConditionName) -> int:
        condition = kept.get(name)
        return (condition.value if condition else None) or 0

    growth = kept.get(ConditionName.GROWTH)
    return LetterFigures(
        open=value(ConditionName.OPEN),
        past_triage=value(ConditionName.PAST_TRIAGE),
        expiring=value(ConditionName.EXPIRING),
        last_hour=value(ConditionName.GROWTH),
        hour_before=(growth.compared_to if growth else None) or 0,
    )
