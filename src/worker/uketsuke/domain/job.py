"""The job, and the small values that it is made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import NamedTuple

from uketsuke.domain.audit import Act
from uketsuke.domain.failure import ErrorClass, Failure, Road
from uketsuke.domain.lane import Park
from uketsuke.domain.lifecycle import TERMINAL, WAITING, Engine, JobState, Origin, Outcome
from uketsuke.domain.price import Expected


class JobKey(NamedTuple):
    """A job's whole name: every statement on a tenant's data has the tenant in it."""

    tenant_id: str
    job_id: str


class InputForm(StrEnum):
    """How a submission gave its input."""

    TEXT = "text"
    TEXTS = "texts"
    REF = "ref"
    REFS = "refs"


@dataclass(frozen=True, slots=True, kw_only=True)
class InputPlace:
    """Where a job's input lies: beside its submission, in an object of its own, or uploaded before.

    ``object_key`` is null for an inline input; ``refs`` names the uploads. ``bytes`` is the size.
    """

    form: InputForm
    bytes: int
    object_key: str | None = None
    refs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultPlace:
    """Where the one result that counts lies: in the row of its attempt, or in an object."""

    bytes: int
    content_type: str
    attempt: int
    object_key: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EncodedResult:
    """A result that its kind has put into bytes itself, because it is large."""

    content: bytes
    content_type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far the work is, in steps of the kind's own choosing."""

    done: int
    total: int


class Funds(StrEnum):
    """Why a budget does not let an attempt begin: our error codes."""

    EXCEEDED = "budget_exceeded"  # alone, it would be too much
    PRICE_UNKNOWN = "price_unknown"  # nobody can tell
    RESERVED = "budget_reserved"  # what is left is reserved by others, for now


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What the provider's calls of one attempt used. An unknown figure is None, never 0.

    ``model`` is the one that answered, ``asked_model`` the one that was asked for: prices are its.
    ``cost_micros`` is what is known of the cost, ``unknown_calls`` how many calls it leaves out;
    ``charged_micros`` is what counts against budgets, with estimates for what is in doubt.
    """

    provider: str | None = None
    model: str | None = None
    asked_model: str | None = None
    provider_request_id: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    audio_ms: int | None = None
    cost_micros: int | None = None
    charged_micros: int | None = None
    unknown_calls: int | None = None

    @property
    def whole_cost(self) -> int | None:
        """The cost in micro-dollars, if it is known of every call."""
        return None if self.unknown_calls else self.cost_micros

    def plus(self, more: Usage) -> Usage:
        """Add what other calls used; the model and the request's id are the last one's."""
        return Usage(
            provider=more.provider or self.provider,
            model=more.model or self.model,
            asked_model=more.asked_model or self.asked_model,
            provider_request_id=more.provider_request_id or self.provider_request_id,
            input_tokens=_sum(self.input_tokens, more.input_tokens),
            output_tokens=_sum(self.output_tokens, more.output_tokens),
            audio_ms=_sum(self.audio_ms, more.audio_ms),
            cost_micros=_sum(self.cost_micros, more.cost_micros),
            charged_micros=_sum(self.charged_micros, more.charged_micros),
            unknown_calls=_sum(self.unknown_calls, more.unknown_calls),
        )


def _sum(total: int | None, more: int | None) -> int | None:
    return total if more is None else (total or 0) + more


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One accepted request for AI work, as its row says. Times are aware and UTC."""

    id: str
    tenant_id: str
    kind: str
    engine: Engine
    origin: Origin
    state: JobState
    run_key: str | None
    attempts: int
    attempt_no: int
    max_attempts: int
    progress: Progress | None
    created_at: datetime
    started_at: datetime | None
    leased_at: datetime | None
    finished_at: datetime | None
    due_at: datetime
    deadline_at: datetime
    expires_at: datetime | None
    cancel_requested_at: datetime | None
    erased_at: datetime | None
    error_class: ErrorClass | None
    error_code: str | None
    usage: Usage | None
    attempts_cost_micros: int | None
    redriven_from: str | None
    redriven_to: str | None
    metadata: Mapping[str, str]
    params: Mapping[str, object]
    input: InputPlace
    result: ResultPlace | None
    traceparent: str | None
    max_cost_micros: int | None = None
    charged_micros: int = 0  # of all attempts that have ended; see Usage
    unknown_costs: int = 0  # attempts whose cost is not known, or not whole
    expected: Expected | None = None
    redrives: int = 0  # how many of its line lie before it

    @property
    def key(self) -> JobKey:
        return JobKey(self.tenant_id, self.id)

    @property
    def terminal(self) -> bool:
        return self.state in TERMINAL


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStart:
    """A job that is born running: the lease that its first attempt has from the first moment."""

    token: str
    lease: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class Redriving:
    """A job that is born of a dead letter: which one, for whose act, and in which bulk redrive.

    ``job_id`` is the job that the letter is of; ``redrives`` counts the line's, this one included.
    """

    letter_id: str
    job_id: str
    redrives: int
    act: Act
    redrive_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rework:
    """How work that was accepted before would be done today."""

    engine: Engine
    run_limit: timedelta
    expected: Expected | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewJob:
    """What a submission writes. The database adds its own now to every duration.

    With ``start`` the row is ``running`` from the first moment; without, ``accepted``. With
    ``redriving`` it is written only while that dead letter is open, and resolves it.
    """

    key: JobKey
    request_key: str
    kind: str
    engine: Engine
    origin: Origin
    run_key: str | None
    max_attempts: int
    deadline: timedelta
    first_wake: timedelta
    metadata: Mapping[str, str]
    params: Mapping[str, object]
    input: InputPlace
    inline_input: str | None
    fingerprint: Mapping[str, str] | None
    traceparent: str | None
    keep_uploads: timedelta
    run_limit: timedelta
    start: RunStart | None = None
    max_cost_micros: int | None = None
    expected: Expected | None = None
    redriving: Redriving | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LeasedJob:
    """A job and the right to work it, until ``lease`` after the statement that gave it.

    ``probes`` are the parked lanes whose time is over and that this attempt is to try out.
    """

    job: Job
    token: str
    call_epoch: int
    inline_input: str | None
    time_left: timedelta  # until the job's deadline
    limit_left: timedelta  # until the attempt has taken as long as one may
    taken_over: bool  # an attempt crashed: it may have left a result that was paid for
    probes: frozenset[str] = frozenset()
    # What the attempt may cost, if a budget binds it; and what keeps it from having that.
    reserved_micros: int | None = None
    funds: Funds | None = None
    lives: int = 0  # how often the instance of a run has begun, with this time
    lost_before: bool = False  # the lease was another's, whose attempt ended by that

    @property
    def attempt(self) -> int:
        """The number of this try; the first is 1."""
        return self.job.attempt_no


@dataclass(frozen=True, slots=True, kw_only=True)
class SilentRun:
    """A run on a Workflow whose lease has expired. Its instance must be asked what became of it.

    ``nudges`` is how often it was woken in vain since it was last heard of; ``outlived`` says that
    it is older than a run may become, ``overdue`` that its job's deadline has passed.
    """

    job: Job
    token: str
    nudges: int
    outlived: bool
    overdue: bool = False

    @property
    def instance_id(self) -> str:
        return instance_id(self.job.id, self.job.attempt_no)


def instance_id(job_id: str, attempt: int) -> str:
    """Name the Workflow instance of an attempt: the same each time that somebody would start it."""
    return f"{job_id}-{attempt}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """What a step brought: JSON text. ``digest`` is of what it was given.

    ``usage`` is that of all its tries, and of calls in which ``lost_lives`` of its attempt ended.
    """

    step: str
    digest: str
    attempt: int
    content: str | None
    object_key: str | None = None
    usage: Usage | None = None
    lost_lives: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenJob:
    """A job that was looked at and not leased, with the waits that the database reckons."""

    job: Job
    lease_ends_in: timedelta | None
    due_in: timedelta
    time_left: timedelta  # until the job's deadline
    quarantined: bool
    spent: bool  # no attempt left, or two lone crashes
    park: Park | None = None  # of a lane that it asks, and that turns it away
    funds: Funds | None = None  # what a budget says against it, once it is due

    @property
    def overdue(self) -> bool:
        return self.time_left <= timedelta()

    @property
    def lease_expired(self) -> bool:
        return self.lease_ends_in is not None and self.lease_ends_in <= timedelta()

    @property
    def turned_away(self) -> bool:
        """Nothing but a parked lane stood in the way."""
        due = self.job.state in WAITING and self.due_in <= timedelta()
        unwanted = self.spent or self.overdue or self.job.cancel_requested_at
        return self.park is not None and due and not unwanted

    @property
    def may_be_leased_alone(self) -> bool:
        """Nothing but its quarantine stood in the way."""
        waits = self.job.state is not JobState.RUNNING and self.due_in <= timedelta()
        free = self.lease_expired or (waits and not self.job.terminal)
        return (
            free
            and self.quarantined
            and not (self.spent or self.overdue or self.job.cancel_requested_at)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """What an attempt's holder writes at its end, under its lease token.

    ``state`` is where the job goes: succeeded, retrying (``wait``), failed (``road``) or canceled.
    ``result_text`` is a small result, which the attempt's own row keeps.
    """

    key: JobKey
    token: str
    attempt: int
    state: JobState
    outcome: Outcome
    failure: Failure | None = None
    wait: timedelta = field(default_factory=timedelta)
    gives_back: bool = False
    new_epoch: bool = False
    road: Road | None = None
    result: ResultPlace | None = None
    result_text: str | None = None
    usage: Usage | None = None
    provider_ms: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """An input that was uploaded ahead of its job."""

    ref: str
    tenant_id: str
    object_key: str
    bytes: int
    sha256: str
    content_type: str
    expires_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One try, as its row says; written once, when it is settled."""

    number: int
    started_at: datetime
    ended_at: datetime
    outcome: Outcome
    state: JobState
    error_class: ErrorClass | None
    error_code: str | None
    usage: Usage | None
    provider_ms: int
