"""Between the rows of figures over time and the domain's values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from uketsuke.adapters.sql import rows
from uketsuke.adapters.sql.database import Row
from uketsuke.domain.backlog import Backlog, LiveJobs
from uketsuke.domain.lifecycle import JobState
from uketsuke.domain.rollup import ByDay, Gauges, Point, QueueFigures, Rolled, Step
from uketsuke.domain.tally import added


def to_rolled(row: Row) -> Rolled:
    """Read how far the roll-up is; before the first one, nowhere."""
    if row["revision"] is None:
        return Rolled(
            revision=0, at=rows.to_time(0), usage_rows=0, seen={}, live={}, totals={}, gauges=None
        )
    return Rolled(
        revision=int(row["revision"]),
        at=rows.to_time(row["rolled_at"]),
        usage_rows=int(row["usage_rows"]),
        seen=rows.load(row["seen"]),
        live=rows.load(row["live"]),
        totals=rows.load(row["totals"]),
        gauges=_to_gauges(rows.load(row["gauges"])),
    )


def from_rolled(rolled: Rolled) -> str:
    """Write it as the one parameter of ``KEEP_STATE``."""
    times = (rolled.revision, rows.from_time(rolled.at), rolled.usage_rows)
    parts = (rolled.seen, rolled.live, rolled.totals, _from_gauges(rolled.gauges))
    return rows.dump([*times, *(rows.dump(part) for part in parts)])


def to_sums(found: Iterable[Row]) -> ByDay:
    """Put together what the statements have summed up, each for itself."""
    days: dict[str, dict[str, dict[str, int]]] = {}
    for row in found:
        kinds = days.setdefault(row["day"], {})
        kinds[row["kind"]] = added(kinds.get(row["kind"], {}), rows.load(row["figures"]))
    return days


def to_points(found: Sequence[Row]) -> list[Point]:
    return [
        Point(Step(row["step"]), rows.to_time(row["at"]), row["kind"], rows.load(row["figures"]))
        for row in found
    ]


def from_points(points: Iterable[Point]) -> str:
    return rows.dump(
        [[p.step, rows.from_time(p.at), p.kind, rows.dump(dict(p.counts))] for p in points]
    )


def to_backlog(found: Iterable[Mapping[str, Any]], *, at_ms: float) -> Backlog:
    return Backlog(at=rows.to_time(at_ms), live=tuple(_to_live(row) for row in found))


def _to_live(row: Mapping[str, Any]) -> LiveJobs:
    overdue = row["oldest_due_ms"]
    return LiveJobs(
        kind=row["kind"],
        state=JobState(row["state"]),
        count=int(row["jobs"]),
        due=int(row["due"]),
        oldest=rows.to_duration(row["oldest_ms"]),
        oldest_id=row.get("oldest_id"),  # an older version's roll-up has none
        oldest_due=None if overdue is None else rows.to_duration(overdue),
    )


def _from_live(live: LiveJobs) -> dict[str, object]:
    return {
        "kind": live.kind,
        "state": live.state,
        "jobs": live.count,
        "due": live.due,
        "oldest_ms": rows.to_ms(live.oldest),
        "oldest_id": live.oldest_id,
        "oldest_due_ms": None if live.oldest_due is None else rows.to_ms(live.oldest_due),
    }


def _to_gauges(document: Mapping[str, Any]) -> Gauges | None:
    """Read what a roll-up saw. There is nothing before the first."""
    if not document:
        return None
    return Gauges(
        backlog=to_backlog(document["live"], at_ms=document["at"]),
        clock_skew=rows.to_duration(document["skew_ms"]),
        queues={
            name: QueueFigures(
                backlog=queue["backlog"],
                oldest=None if queue["oldest_ms"] is None else rows.to_duration(queue["oldest_ms"]),
            )
            for name, queue in document["queues"].items()
        },
    )


def _from_gauges(gauges: Gauges | None) -> Mapping[str, object]:
    if gauges is None:
        return {}
    return {
        "at": rows.from_time(gauges.backlog.at),
        "live": [_from_live(live) for live in gauges.backlog.live],
        "skew_ms": rows.to_ms(gauges.clock_skew),
        "queues": {
            name: {
                "backlog": queue.backlog,
                "oldest_ms": None if queue.oldest is None else rows.to_ms(queue.oldest),
            }
            for name, queue in gauges.queues.items()
        },
    }
