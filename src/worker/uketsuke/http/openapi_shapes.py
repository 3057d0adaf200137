"""The shapes of the answers, as OpenAPI tells them. A test holds real answers to them."""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, UnsetType

from uketsuke.domain.api_key import Scope
from uketsuke.domain.audit import Action
from uketsuke.domain.failure import ErrorClass
from uketsuke.domain.lifecycle import Engine, JobState, Origin
from uketsuke.http.problem import FaultCode


class Shape(msgspec.Struct, kw_only=True):
    """What every shape below has in common: members by name, all of them always there."""


class Key(Shape):
    """The key that asked; operators' and administrators' belong to no tenant."""

    key_id: str
    tenant_id: str | None
    scopes: list[Scope]


class Progress(Shape):
    """How far the work is, in steps of the kind's own choosing."""

    done: int
    total: int


class Error(Shape, rename={"error_class": "class"}):
    """Why the last attempt failed, in our words."""

    error_class: ErrorClass
    code: str
    message: str
    retryable: bool


Money = Annotated[str, Meta(pattern=r"^\d+\.\d{6}$", description="US dollars")]


class Usage(Shape):
    """What the provider's calls used. An unknown figure is null, never 0."""

    provider: str | None
    model: str | None
    provider_request_id: str | None
    input_tokens: int | None
    output_tokens: int | None
    audio_seconds: float | None
    cost_usd: Money | None
    attempts_cost_usd: Money | None


class Links(Shape, rename={"own": "self"}):
    """Where to go from here; path-absolute."""

    own: str
    result: str
    events: str
    cancel: str


class Job(Shape):
    """One job, as its row says."""

    id: str
    tenant_id: str
    kind: str
    state: JobState
    terminal: bool
    engine: Engine
    origin: Origin
    run_key: str | None
    attempts: int
    max_attempts: int
    progress: Progress | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    next_attempt_at: datetime | None
    deadline_at: datetime
    expires_at: datetime | None
    cancel_requested_at: datetime | None
    erased_at: datetime | None
    error: Error | None
    max_cost_usd: Money | None
    usage: Usage | None
    redriven_from: str | None
    redriven_to: str | None
    trace_id: str | None
    metadata: dict[str, str | None]
    links: Links


class JobList(Shape):
    """A page of jobs, newest first."""

    items: list[Job]
    next: str | None


class JobCount(Shape):
    """How many jobs of a state were seen; ``capped``: there may be more."""

    state: JobState
    count: int
    capped: bool


class JobCounts(Shape):
    """Every state, in the lifecycle's order."""

    items: list[JobCount]


class Event(Shape, rename={"error_class": "class"}):
    """One event of a job's life. What ended an attempt says how long it took, why, its calls."""

    id: str
    type: str
    at: datetime
    attempt: int | None
    error_class: ErrorClass | None
    duration_ms: int | None
    provider_ms: int | None
    code: str | None
    message: str | None
    provider: str | None
    model: str | None
    provider_request_id: str | None
    cost_usd: Money | None


class EventList(Shape):
    """A job's life so far, oldest first."""

    items: list[Event]
    next: None


class Upload(Shape):
    """An input that was uploaded ahead of its job."""

    ref: str
    bytes: int
    sha256: str
    content_type: str
    expires_at: datetime


class Last(Shape):
    """The last occurrence whose outcome is known."""

    at: datetime
    job_id: str | None
    outcome: Literal["started", "skipped"]


class Schedule(Shape):
    """A schedule; operators get null for its content."""

    name: str
    tenant_id: str
    cron: str
    timezone: str
    kind: str
    input: dict[str, Any] | None
    params: dict[str, Any] | None
    run_key: str | None
    overlap: Literal["skip", "allow"]
    enabled: bool
    next_at: datetime | None
    last: Last | None
    created_at: datetime
    updated_at: datetime


class ScheduleList(Shape):
    """A page of schedules."""

    items: list[Schedule]
    next: str | None


class CronPreview(Shape):
    """When an expression comes true next; fewer times if there are no more."""

    cron: str
    timezone: str
    next: list[datetime]


class Used(Shape):
    """What some attempts used. Costs are sums of what is known, null if nothing is."""

    attempts: int
    failed_attempts: int
    input_tokens: int
    output_tokens: int
    audio_seconds: float
    cost_usd: Money | None
    failed_cost_usd: Money | None
    unknown_cost_attempts: int


class UsageItem(Shape):
    """What one tenant used in one day (UTC), of one kind and model."""

    day: date
    tenant_id: str
    kind: str
    provider: str | None
    model: str | None
    attempts: int
    failed_attempts: int
    input_tokens: int
    output_tokens: int
    audio_seconds: float
    cost_usd: Money | None
    failed_cost_usd: Money | None
    unknown_cost_attempts: int


class DayBudget(Shape):
    """A tenant's budget of today (UTC)."""

    daily_usd: Money
    spent_usd: Money
    reserved_usd: Money


class UsageList(Shape, rename={"start": "from", "end": "to"}):
    """A page of usage, newest day first; the totals are of all pages."""

    start: date
    end: date
    items: list[UsageItem]
    totals: Used
    budget: DayBudget | None
    next: str | None


class AuditItem(Shape):
    """One act of an operator or administrator: who, what, to what, why."""

    id: str
    at: datetime
    actor: str
    action: Action
    target: str
    tenant_id: str | None
    reason: str | None
    request_id: str
    detail: dict[str, Any]


class AuditList(Shape):
    """A page of acts, newest first."""

    items: list[AuditItem]
    next: str | None


class Status(Shape):
    """Whether this Worker lives."""

    status: Literal["ok"]


class Readiness(Shape):
    """Whether this Worker can work; and how long ago the sweep did anything, null if it never did.

    The sweep comes each minute: if it is silent for several, no alert is sent.
    """

    status: Literal["ready"]
    sweep_silent_seconds: int | None


class Fault(Shape):
    """One thing that is wrong with a request, and where."""

    pointer: str
    code: FaultCode
    detail: str


class Problem(Shape):
    """A refusal (RFC 9457). ``errors`` has every fault at once.

    ``needs_force`` is with ``not_replayable``: whether the letter is redriven if ``force`` is sent.
    """

    type: str
    title: str
    status: int
    detail: str
    instance: str
    code: str
    request_id: str
    errors: list[Fault] | UnsetType = msgspec.UNSET
    needs_force: bool | UnsetType = msgspec.UNSET
