"""What is told of the deployment to whoever scrapes it: families and their samples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Final

from uketsuke.domain.backlog import Backlog
from uketsuke.domain.condition import Condition, LetterFigures
from uketsuke.domain.lifecycle import JobState
from uketsuke.domain.money import MICROS
from uketsuke.domain.tally import BOUNDS_MS, Figure, Spans, Tally
from uketsuke.http.exposition import Family, Sample, Sort
from uketsuke.http.metrics_view import queues_of
from uketsuke.services.metrics import LATE_WRITES, Overview

_SECONDS: Final = "seconds"
_OF_JOBS: Final = (
    ("uketsuke_jobs_accepted", Figure.ACCEPTED, "Jobs accepted, as of the last roll-up."),
    ("uketsuke_attempts", Figure.ATTEMPTS, "Attempts ended."),
    ("uketsuke_attempts_failed", Figure.FAILED_ATTEMPTS, "Attempts failed."),
    ("uketsuke_attempts_retried", Figure.RETRIED, "Attempts failed and to be followed by another."),
    ("uketsuke_attempts_unknown_cost", Figure.UNKNOWN_COSTS, "Attempts of unknown cost."),
)


def families_of(
    seen: Overview, *, letters: LetterFigures, conditions: Sequence[Condition]
) -> Iterator[Family]:
    """Return everything that there is to scrape. Counters never go down."""
    totals = seen.look.reading.totals()
    yield from _counters(totals, late_writes=seen.look.counters.get(LATE_WRITES, 0))
    if seen.backlog is not None:
        # Whose last job has ended has none, and does not vanish.
        kinds = sorted(seen.backlog.by_kind.keys() | totals.keys())
        yield from _backlog(seen.backlog, kinds)
    yield from _letters(letters, conditions)
    yield from _lags(seen)


def _counters(totals: Mapping[str, Tally], *, late_writes: int) -> Iterator[Family]:
    for name, figure, about in _OF_JOBS:
        yield _by_kind(name, about, _values(totals, figure))
    yield _family("uketsuke_jobs_finished", Sort.COUNTER, "Jobs ended.", _finished(totals))
    yield _family("uketsuke_jobs_failed", Sort.COUNTER, "Jobs failed.", _failed(totals))
    for name, figure, about in (
        ("uketsuke_cost_usd", Figure.COST_MICROS, "What attempts cost, as far as it is known."),
        ("uketsuke_failed_cost_usd", Figure.FAILED_COST_MICROS, "Of it, what failed ones cost."),
    ):
        dollars = {kind: micros / MICROS for kind, micros in _values(totals, figure).items()}
        yield _by_kind(name, about, dollars)
    late = [Sample(labels={}, value=late_writes)]
    yield _family("uketsuke_late_writes", Sort.COUNTER, "Endings refused as too late.", late)
    waits = [s for kind, tally in totals.items() for s in _histogram(kind, tally.waits)]
    about = "From when a job was due to its attempt."
    yield _family("uketsuke_queue_wait_seconds", Sort.HISTOGRAM, about, waits)
    runs = [s for kind, tally in totals.items() for s in _histogram(kind, tally.runs)]
    yield _family("uketsuke_run_seconds", Sort.HISTOGRAM, "How long attempts ran.", runs)


def _family(name: str, sort: Sort, about: str, samples: Sequence[Sample]) -> Family:
    unit = _SECONDS if name.endswith(f"_{_SECONDS}") else None
    return Family(name=name, sort=sort, about=about, samples=tuple(samples), unit=unit)


def _values(totals: Mapping[str, Tally], figure: Figure) -> Mapping[str, int]:
    return {kind: tally.of(figure) for kind, tally in totals.items()}


def _by_kind(name: str, about: str, values: Mapping[str, float]) -> Family:
    samples = [Sample(labels={"kind": kind}, value=value) for kind, value in values.items()]
    return _family(name, Sort.COUNTER, about, samples)


def _finished(totals: Mapping[str, Tally]) -> Sequence[Sample]:
    return [
        Sample(labels={"kind": kind, "state": state}, value=value)
        for kind, tally in totals.items()
        for state, value in (
            (JobState.SUCCEEDED, tally.of(Figure.SUCCEEDED)),
            (JobState.FAILED, tally.failed),
            (JobState.CANCELED, tally.of(Figure.CANCELED)),
        )
    ]


def _failed(totals: Mapping[str, Tally]) -> Sequence[Sample]:
    return [
        Sample(labels={"kind": kind, "class": error_class}, value=value)
        for kind, tally in totals.items()
        for error_class, value in sorted(tally.failed_by_class.items())
    ]


def _histogram(kind: str, spans: Spans) -> Iterator[Sample]:
    for bound in BOUNDS_MS:
        labels = {"kind": kind, "le": repr(bound / 1000)}
        yield Sample(labels=labels, value=spans.at_most(bound), suffix="_bucket")
    yield Sample(labels={"kind": kind, "le": "+Inf"}, value=spans.count, suffix="_bucket")
    yield Sample(labels={"kind": kind}, value=spans.count, suffix="_count")
    yield Sample(labels={"kind": kind}, value=spans.total.total_seconds(), suffix="_sum")


def _backlog(backlog: Backlog, kinds: Sequence[str]) -> Iterator[Family]:
    live = [
        Sample(labels={"kind": kind, "state": state}, value=backlog.of(state, kind=kind))
        for kind in kinds
        for state in (JobState.ACCEPTED, JobState.RUNNING, JobState.RETRYING)
    ]
    yield _family("uketsuke_backlog_jobs", Sort.GAUGE, "Live jobs.", live)
    ready = [Sample(labels={"kind": kind}, value=backlog.ready(kind=kind)) for kind in kinds]
    yield _family("uketsuke_backlog_ready_jobs", Sort.GAUGE, "Of those that wait, due.", ready)
    for name, about, age in (
        ("waiting", "Since the oldest job that waits was accepted.", backlog.oldest_waiting),
        ("due", "Since the job that is overdue most was due.", backlog.oldest_due),
        ("running", "Since the oldest attempt began.", backlog.oldest_running),
    ):
        yield _gauge(f"uketsuke_oldest_{name}_seconds", about, age or timedelta())


def _letters(letters: LetterFigures, conditions: Sequence[Condition]) -> Iterator[Family]:
    yield _gauge("uketsuke_dead_letters_open", "Dead letters that wait.", letters.open)
    yield _gauge("uketsuke_dead_letters_past_triage", "Of them, overdue.", letters.past_triage)
    yield _gauge("uketsuke_dead_letters_expiring", "Inputs about to go.", letters.expiring)
    held = [Sample(labels={"name": each.name}, value=int(each.holds)) for each in conditions]
    yield _family("uketsuke_condition", Sort.GAUGE, "1 while a condition holds.", held)


def _lags(seen: Overview) -> Iterator[Family]:
    look, gauges = seen.look, seen.look.reading.rolled.gauges
    if look.sweep_lag is not None:
        about = "Since the duty that was done least lately."
        yield _gauge("uketsuke_sweep_lag_seconds", about, look.sweep_lag)
    about = "How overdue the job is that nobody looked at."
    yield _gauge("uketsuke_outbox_lag_seconds", about, look.outbox_lag)
    if gauges is not None:
        about = "How far the Worker's clock is ahead of the database's."
        yield _gauge("uketsuke_clock_skew_seconds", about, gauges.clock_skew)
    told = queues_of(gauges).items()
    waiting = [
        Sample(labels={"queue": name}, value=queue.backlog)
        for name, queue in told
        if queue.backlog is not None
    ]
    yield _family("uketsuke_queue_messages", Sort.GAUGE, "Messages that wait.", waiting)
    oldest = [
        Sample(labels={"queue": name}, value=queue.oldest.total_seconds())
        for name, queue in told
        if queue.oldest is not None
    ]
    about = "How long the oldest message waits."
    yield _family("uketsuke_queue_oldest_message_seconds", Sort.GAUGE, about, oldest)


def _gauge(name: str, about: str, value: int | timedelta) -> Family:
    number = value.total_seconds() if isinstance(value, timedelta) else value
    return _family(name, Sort.GAUGE, about, [Sample(labels={}, value=number)])
