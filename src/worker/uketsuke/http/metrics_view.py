"""How the deployment does, as ``GET /v1/metrics`` shows it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Final

from uketsuke.domain.backlog import Backlog
from uketsuke.domain.condition import Condition, LetterFigures
from uketsuke.domain.lifecycle import JobState
from uketsuke.domain.money import show_usd
from uketsuke.domain.rollup import Gauges, QueueFigures
from uketsuke.domain.series import Stretch
from uketsuke.domain.tally import Figure, Spans, Tally
from uketsuke.http.answer import rfc3339
from uketsuke.services.metrics import LATE_WRITES, Overview
from uketsuke.services.rollup import DEAD_LETTER_QUEUE, JOBS_QUEUE

_QUANTILES: Final = {"p50": 0.5, "p95": 0.95, "p99": 0.99}
_MINUTES: Final = 60
_UNTOLD: Final = QueueFigures(backlog=None, oldest=None)


def show_overview(
    seen: Overview, *, letters: LetterFigures, conditions: Sequence[Condition]
) -> dict[str, object]:
    """Show everything. Times are the database's; what nobody knows is null."""
    reading, backlog = seen.look.reading, seen.backlog
    gauges = reading.rolled.gauges
    return {
        "at": rfc3339(reading.at),
        "rolled_at": rfc3339(reading.rolled.at) if gauges else None,
        "backlog": show_backlog(backlog) if backlog else None,
        "oldest_waiting_seconds": seconds(backlog.oldest_waiting) if backlog else None,
        "oldest_waiting_job_id": backlog.oldest_waiting_id if backlog else None,
        "oldest_due_seconds": seconds(backlog.oldest_due) if backlog else None,
        "oldest_running_seconds": seconds(backlog.oldest_running) if backlog else None,
        "oldest_running_job_id": backlog.oldest_running_id if backlog else None,
        "last_hour": {
            **_show_tally(seen.hour),
            "by_kind": {kind: _show_tally(each) for kind, each in seen.hour_by_kind.items()},
        },
        "dead_letters": _show_letters(letters),
        "late_writes": seen.look.counters.get(LATE_WRITES, 0),
        "sweep_lag_seconds": seconds(seen.look.sweep_lag),
        "outbox_lag_seconds": seconds(seen.look.outbox_lag),
        "clock_skew_seconds": seconds(gauges.clock_skew) if gauges else None,
        "queues": {name: _show_queue(each) for name, each in queues_of(gauges).items()},
        "conditions": [_show_condition(each) for each in conditions],
    }


def queues_of(gauges: Gauges | None) -> Mapping[str, QueueFigures]:
    """Return what the sweep was told of each queue: only the consumer can ask them."""
    told = gauges.queues if gauges else {}
    return {name: told.get(name, _UNTOLD) for name in (JOBS_QUEUE, DEAD_LETTER_QUEUE)}


def show_stretch(stretch: Stretch) -> dict[str, object]:
    """Show a point of a chart. Without any job or attempt, rates and times are null."""
    tally = stretch.tally
    waiting = tally.counts.get(Figure.WAITING_MS)
    return {
        "at": rfc3339(stretch.at),
        **_show_counts(tally),
        "waiting_seconds": None if waiting is None else waiting / 1000,
        "queue_seconds_p95": seconds(tally.waits.quantile(0.95)),
        "run_seconds_p95": seconds(tally.runs.quantile(0.95)),
    }


def seconds(time: timedelta | None) -> float | None:
    """Return a time as the answers have it: seconds, to the millisecond."""
    return None if time is None else round(time.total_seconds(), 3)


def show_backlog(backlog: Backlog) -> dict[str, object]:
    return {
        "at": rfc3339(backlog.at),
        **_show_live(backlog, kind=None),
        "by_kind": {kind: _show_live(backlog, kind=kind) for kind in sorted(backlog.by_kind)},
    }


def _show_live(backlog: Backlog, *, kind: str | None) -> dict[str, int]:
    states = (JobState.ACCEPTED, JobState.RUNNING, JobState.RETRYING)
    return {
        **{state.value: backlog.of(state, kind=kind) for state in states},
        "ready": backlog.ready(kind=kind),
        "delayed": backlog.delayed(kind=kind),
    }


def _show_tally(tally: Tally) -> dict[str, object]:
    return {
        **_show_counts(tally),
        "failed_by_class": dict(sorted(tally.failed_by_class.items())),
        "finished_per_minute": round(tally.finished / _MINUTES, 3),
        "queue_seconds": _show_spans(tally.waits),
        "run_seconds": _show_spans(tally.runs),
        "unknown_cost_attempts": tally.of(Figure.UNKNOWN_COSTS),
    }


def _show_counts(tally: Tally) -> dict[str, object]:
    return {
        "accepted": tally.of(Figure.ACCEPTED),
        "succeeded": tally.of(Figure.SUCCEEDED),
        "failed": tally.failed,
        "canceled": tally.of(Figure.CANCELED),
        "attempts": tally.of(Figure.ATTEMPTS),
        "retried": tally.of(Figure.RETRIED),
        "success_rate": _show_share(tally.success_rate),
        "retry_rate": _show_share(tally.retry_rate),
        "cost_usd": _show_micros(tally.cost_micros),
        "failed_cost_usd": _show_micros(tally.failed_cost_micros),
    }


def _show_share(share: float | None) -> float | None:
    return None if share is None else round(share, 6)


def _show_micros(micros: int | None) -> str | None:
    return None if micros is None else show_usd(micros)


def _show_spans(spans: Spans) -> dict[str, float | None]:
    return {name: seconds(spans.quantile(share)) for name, share in _QUANTILES.items()}


def _show_letters(figures: LetterFigures) -> dict[str, int]:
    return {
        "open": figures.open,
        "past_triage": figures.past_triage,
        "expiring": figures.expiring,
        "last_hour": figures.last_hour,
    }


def _show_queue(queue: QueueFigures) -> dict[str, object]:
    oldest = None if queue.oldest is None else queue.oldest // timedelta(seconds=1)
    return {"backlog": queue.backlog, "oldest_seconds": oldest}


def _show_condition(condition: Condition) -> dict[str, object]:
    return {
        "name": condition.name,
        "value": condition.value,
        "limit": condition.bound,
        "compared_to": condition.compared_to,
        "subject": condition.subject,
        "holds": condition.holds,
        "since": rfc3339(condition.since) if condition.since else None,
        "computed_at": rfc3339(condition.computed_at),
    }
