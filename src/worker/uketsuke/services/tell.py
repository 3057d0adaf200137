"""The log lines of a job's life, written in one way whoever moves it.

Each transition of ``domain.lifecycle`` that concerns more than a lease's length has its line,
written by whoever's statement made it, once the answer is there.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

from uketsuke.domain.failure import ErrorClass, Failure
from uketsuke.domain.ids import letter_id
from uketsuke.domain.job import Ending, Job, LeasedJob
from uketsuke.domain.lifecycle import JobEvent, JobState, Outcome
from uketsuke.domain.trace import Span, attempt_span, read_traceparent
from uketsuke.services.messages import Message, read_message
from uketsuke.services.ports import Delivery
from uketsuke.telemetry import (
    EventName,
    Fields,
    Messaging,
    Spent,
    Traced,
    event,
    raised,
)

_LINES: Final[dict[JobState, EventName]] = {
    JobState.RETRYING: "job_retrying",
    JobState.SUCCEEDED: "job_succeeded",
    JobState.FAILED: "job_failed",
    JobState.CANCELED: "job_canceled",
}


def traced(span: Span | None) -> Traced:
    """Return the fields of a span, as far as they are known."""
    if span is None:
        return {}
    found: Traced = {"trace_id": span.trace_id, "span_id": span.span_id}
    return found if span.parent_id is None else {**found, "parent_id": span.parent_id}


def spent(begin: datetime, end: datetime) -> Spent:
    """Return the fields of a span's time."""
    return {
        "started_at": _written(begin),
        "ended_at": _written(end),
        "duration_ms": _ms(end - begin),
    }


def trace_of(leased: LeasedJob) -> Fields:
    """Return the fields that name an attempt."""
    return {**_named(leased.job), **traced(span_of(leased.job))}


def span_of(job: Job) -> Span | None:
    """Return the span of a job's present attempt."""
    return attempt_span(job.traceparent, job_id=job.id, attempt=job.attempt_no)


def tell_accepted(job: Job) -> None:
    """Tell that a job is durable. A run on a Workflow has begun its first attempt with that."""
    told: Fields = {
        **_named(job),
        **traced(read_traceparent(job.traceparent)),
        "engine": job.engine,
        "origin": job.origin,
    }
    if job.redriven_from is not None:
        told["redriven_from"] = job.redriven_from
    event("job_accepted", **told)
    if job.state is JobState.RUNNING:
        tell_leased(job, transition=JobEvent.LEASED)


def tell_leased(job: Job, *, transition: JobEvent, delivery: Delivery | None = None) -> None:
    """Tell that an attempt has begun, and how long the job was due before."""
    told: Fields = {**_named(job), **traced(span_of(job)), "transition": transition}
    # After a holder was lost nobody knows how long the job has waited, and how long it was worked.
    if job.leased_at is not None and transition is JobEvent.LEASED:
        told["queue_ms"] = _ms(job.leased_at - job.due_at)
    if delivery is not None:
        told = {**told, **message_of(delivery)}
    event("job_leased", **told)


def tell_end(leased: LeasedJob, ending: Ending, state: JobState, *, ended_at: datetime) -> None:
    """Tell how an attempt ended, by its holder's word, and where its job went."""
    told: Fields = {
        **trace_of(leased),
        **_time_of(leased.job, ended_at),
        "state": state,
        "transition": _ended_by(ending, state),
        "outcome": ending.outcome,
        "provider_ms": ending.provider_ms,
        **_why(ending.failure),
    }
    if state is JobState.RETRYING:
        told["wait_ms"] = _ms(ending.wait)
    given_back = state is JobState.RETRYING and ending.outcome is Outcome.DEFERRED
    _tell("job_deferred" if given_back else _LINES[state], told)


def tell_taken(job: Job) -> None:
    """Tell what became of a job that nobody worked any more."""
    told: Fields = {
        **_named(job),
        "transition": _taken_by(job),
        "error_class": job.error_class or "",
        "error_code": job.error_code or "",
    }
    if job.state is JobState.RETRYING or job.error_class in _OF_A_LOST_HOLDER:
        # What waits again is due from the moment at which it was taken back.
        ended_at = job.finished_at or job.due_at
        told = {**told, **traced(span_of(job)), **_time_of(job, ended_at)}
    else:
        told = {**told, **traced(read_traceparent(job.traceparent))}
    _tell("job_taken_back" if job.state is JobState.RETRYING else _LINES[job.state], told)


def tell_found_complete(job: Job, *, now: datetime) -> None:
    """Tell that the result which a run has kept was found, and counts."""
    told: Fields = {**_named(job), **traced(span_of(job)), **_time_of(job, now)}
    told["state"] = JobState.SUCCEEDED
    told["transition"] = JobEvent.FOUND_COMPLETE
    told["outcome"] = Outcome.SUCCEEDED
    _tell("job_succeeded", told)


def tell_cancel(job: Job, *, wished_before: bool) -> None:
    """Tell what a wish to cancel did, unless it was there before."""
    told: Fields = {**_named(job), **traced(read_traceparent(job.traceparent))}
    if job.state is JobState.CANCELED:
        told["transition"] = JobEvent.CANCELED
        event("job_canceled", **told)
    elif not wished_before:
        told["transition"] = JobEvent.CANCEL_REQUESTED
        event("job_cancel_requested", **told)


def tell_redriven(job: Job, *, redrive_id: str | None) -> None:
    """Tell of the job that failed which one takes up its work, and in which bulk redrive."""
    told: Fields = {
        **Fields(tenant_id=job.tenant_id, kind=job.kind, redriven_to=job.id),
        **traced(read_traceparent(job.traceparent)),
    }
    if job.redriven_from is not None:
        told["job_id"] = job.redriven_from
    if redrive_id is not None:
        told["redrive_id"] = redrive_id
    event("job_redriven", **told)


def tell_buried(delivery: Delivery, *, code: str) -> None:
    """Tell of a message that names no job of ours; what it says is told only if we wrote it."""
    told: Fields = {**Fields(error_code=code), **message_of(delivery)}
    message = read_message(delivery.body)
    if isinstance(message, Message):
        told["job_id"] = message.key.job_id
        told = {**told, **traced(read_traceparent(message.traceparent))}
    event("message_buried", **told)


def tell_unexpected(leased: LeasedJob, error: Exception) -> None:
    """Tell of an error that has no class yet: its type and place, and no text of it."""
    told: Fields = {**trace_of(leased), **raised(error)}
    event("unexpected_error", **told)


# These classes are written only when an attempt is ended that somebody else held.
_OF_A_LOST_HOLDER: Final = frozenset({ErrorClass.CRASHED, ErrorClass.STALE})


def _named(job: Job) -> Fields:
    told = Fields(job_id=job.id, tenant_id=job.tenant_id, kind=job.kind, state=job.state)
    if job.attempt_no:
        told["attempt"] = job.attempt_no
    return told


def _tell(name: EventName, told: Fields) -> None:
    """Write the end of an attempt, or of its job; what failed is buried in the same moment."""
    if name == "job_failed":
        told["dead_letter"] = letter_id(told["job_id"])
    event(name, **told)


def _ended_by(ending: Ending, state: JobState) -> JobEvent:
    match state:
        case JobState.SUCCEEDED:
            return JobEvent.COMPLETED
        case JobState.RETRYING:
            return JobEvent.DEFERRED
        case JobState.CANCELED:
            return JobEvent.CANCELED
    out_of_time = ending.failure and ending.failure.error_class is ErrorClass.DEADLINE
    return JobEvent.DEADLINE_PASSED if out_of_time else JobEvent.GAVE_UP


def _taken_by(job: Job) -> JobEvent:
    if job.state is JobState.RETRYING:
        return JobEvent.TAKEN_BACK
    if job.state is JobState.CANCELED:
        return JobEvent.CANCELED
    match job.error_class:
        case ErrorClass.DEADLINE:
            return JobEvent.DEADLINE_PASSED
        case ErrorClass.STALE:
            return JobEvent.OUTLIVED
        case ErrorClass.CRASHED:
            return JobEvent.ABANDONED
        case _:
            return JobEvent.FOUND_HOPELESS


def _why(failure: Failure | None) -> Fields:
    if failure is None:
        return {}
    return Fields(error_class=failure.error_class, error_code=failure.code)


def message_of(delivery: Delivery) -> Messaging:
    """Return the fields of a message that is being handled."""
    return {
        "messaging.system": "cloudflare_queues",
        "messaging.operation.name": "process",
        "messaging.operation.type": "process",
        "messaging.destination.name": delivery.queue,
        "messaging.message.id": delivery.id,
        "delivery": delivery.number,
    }


def _time_of(job: Job, ended_at: datetime) -> Spent:
    return {} if job.leased_at is None else spent(job.leased_at, ended_at)


def _ms(duration: timedelta) -> int:
    """Whole milliseconds; clocks of two machines may differ, but nothing takes less than none."""
    return max(0, round(duration.total_seconds() * 1000))


def _written(time: datetime) -> str:
    return time.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
