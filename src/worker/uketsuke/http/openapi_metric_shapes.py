"""The shapes of what operators are told of how the deployment does."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from uketsuke.http.openapi_shapes import Money, Shape


class LiveCounts(Shape):
    """Live jobs by state; of those that wait, how many are due, and how many wait to be."""

    accepted: int
    running: int
    retrying: int
    ready: int
    delayed: int


class BacklogCounts(LiveCounts):
    """All live jobs, as they were at a time, and those of each kind."""

    at: datetime
    by_kind: dict[str, LiveCounts]


class Percentiles(Shape):
    """How long something took at most, for so many of a hundred; null if there were none."""

    p50: float | None
    p95: float | None
    p99: float | None


class Counted(Shape):
    """What was counted of jobs and attempts. Without any to tell of, rates are null."""

    accepted: int
    succeeded: int
    failed: int
    canceled: int
    attempts: int
    retried: int
    success_rate: float | None
    retry_rate: float | None
    cost_usd: Money | None
    failed_cost_usd: Money | None


class HourOfKind(Counted):
    """What was counted in the last hour."""

    failed_by_class: dict[str, int]
    finished_per_minute: float
    queue_seconds: Percentiles
    run_seconds: Percentiles
    unknown_cost_attempts: int


class Hour(HourOfKind):
    """The same of all kinds, and of each."""

    by_kind: dict[str, HourOfKind]


class LetterCounts(Shape):
    """How many dead letters there are. ``expiring``: open ones whose input goes soon."""

    open: int
    past_triage: int
    expiring: int
    last_hour: int


class Condition(Shape):
    """What is worth an alert: it holds while the value is above the limit."""

    name: str
    value: int | None
    limit: int
    compared_to: int | None
    subject: str | None
    holds: bool
    since: datetime | None
    computed_at: datetime


class QueueMetrics(Shape):
    """How a queue does; null where nobody tells."""

    backlog: int | None
    oldest_seconds: int | None


class Metrics(Shape):
    """How the deployment does. Null: nobody knows, or there is none to tell of."""

    at: datetime
    rolled_at: datetime | None
    backlog: BacklogCounts | None
    oldest_waiting_seconds: float | None
    oldest_waiting_job_id: str | None
    oldest_due_seconds: float | None
    oldest_running_seconds: float | None
    oldest_running_job_id: str | None
    last_hour: Hour
    dead_letters: LetterCounts
    late_writes: int
    sweep_lag_seconds: float | None
    outbox_lag_seconds: float
    clock_skew_seconds: float | None
    queues: dict[str, QueueMetrics]
    conditions: list[Condition]


class MetricsPoint(Counted):
    """What was counted from a time on. ``waiting_seconds``: null if no sweep looked."""

    at: datetime
    waiting_seconds: float | None
    queue_seconds_p95: float | None
    run_seconds_p95: float | None


class MetricsSeries(Shape):
    """A range of time, oldest point first."""

    range: Literal["hour", "day", "week"]
    step_seconds: int
    points: list[MetricsPoint]
