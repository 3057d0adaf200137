"""The store of figures over time: rolled up by the sweep, looked at in one bounded call."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from uketsuke.adapters.sql import metric_rows, rows
from uketsuke.adapters.sql import metric_statements as sql
from uketsuke.adapters.sql.database import Database, Row, Statement
from uketsuke.domain.rollup import Point, Reading, Rolled, Step
from uketsuke.services.ports import Look

_KEEP: Final = {Step.MINUTE: timedelta(hours=48), Step.HOUR: timedelta(days=60)}
# A minute makes a point a kind; more are only there after a change of what is kept.
_DELETED_AT_ONCE: Final = 200
# What a request looks at: of live jobs, of sums of two days, of points.
_LIVE_AT_MOST: Final = 10_000
_SUMS_AT_MOST: Final = 10_000
_POINTS_AT_MOST: Final = 20_000
_ALL: Final = 10**12
_NO_LIMIT: Final = -1


class SqlMetrics:
    """``services.ports.Metrics`` on any ``Database``."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def read(self) -> tuple[Reading, Sequence[Point]]:
        *found, points = await self._database.batch(
            [*_reading(live=_NO_LIMIT, sums=_ALL), Statement(sql.SELECT_POINTS_NOW)]
        )
        return _to_reading(found, live=None, sums=_ALL), metric_rows.to_points(points)

    async def store(self, rolled: Rolled, points: Sequence[Point]) -> bool:
        before = rolled.revision - 1
        *_, kept = await self._database.batch(
            [
                *(
                    Statement(sql.DELETE_POINTS, (step, rows.to_ms(keep), _DELETED_AT_ONCE))
                    for step, keep in _KEEP.items()
                ),
                Statement(sql.KEEP_POINTS, (metric_rows.from_points(points), before)),
                Statement(sql.KEEP_STATE, (metric_rows.from_rolled(rolled), before)),
            ]
        )
        return bool(kept)

    async def look(
        self, step: Step, *, stretch: timedelta, count: int, duties: Sequence[str]
    ) -> Look:
        *found, points, (lags,), counters = await self._database.batch(
            [
                *_reading(live=_LIVE_AT_MOST + 1, sums=_SUMS_AT_MOST),
                Statement(sql.SELECT_POINTS, (step, rows.to_ms(stretch), count, _POINTS_AT_MOST)),
                Statement(sql.SELECT_LAGS, (rows.dump(list(duties)),)),
                Statement(sql.SELECT_COUNTERS),
            ]
        )
        return Look(
            reading=_to_reading(found, live=_LIVE_AT_MOST, sums=_SUMS_AT_MOST),
            points=metric_rows.to_points(points),
            counters={row["name"]: int(row["value"]) for row in counters},
            sweep_lag=_to_lag(lags["sweep_ms"]),
            outbox_lag=_to_lag(lags["outbox_ms"]) or timedelta(),
        )


def _reading(*, live: int, sums: int) -> list[Statement]:
    return [
        Statement(sql.SELECT_STATE),
        Statement(sql.SUM_ATTEMPTS, (sums,)),
        Statement(sql.SUM_SPANS, (sums,)),
        Statement(sql.SUM_ENDS, (sums,)),
        Statement(sql.LIVE_JOBS, (live,)),
    ]


def _to_reading(found: Sequence[Sequence[Row]], *, live: int | None, sums: int) -> Reading:
    (state,), attempts, spans, ends, jobs = found
    rolled = metric_rows.to_rolled(state)
    few = live is None or sum(row["jobs"] for row in jobs) <= live
    return Reading(
        at=rows.to_time(state["now"]),
        rolled=rolled,
        sums=(
            metric_rows.to_sums([*attempts, *spans, *ends]) if rolled.usage_rows <= sums else None
        ),
        usage_rows=int(sum(row["usage_rows"] for row in attempts)),
        backlog=metric_rows.to_backlog(jobs, at_ms=state["now"]) if few else None,
    )


def _to_lag(ms: float | None) -> timedelta | None:
    return None if ms is None else rows.to_duration(ms)
