"""The log lines of a job's life, written in one way whoever works it."""

from __future__ import annotations

from uketsuke.domain.job import Ending, Job, LeasedJob
from uketsuke.domain.lifecycle import JobState
from uketsuke.telemetry import Fields, event, where_raised


def trace_of(leased: LeasedJob) -> Fields:
    """Return the fields that name an attempt."""
    job = leased.job
    return Fields(job_id=job.id, tenant_id=job.tenant_id, kind=job.kind, attempt=leased.attempt)


def tell_leased(leased: LeasedJob) -> None:
    event("job_leased", **trace_of(leased))


def tell_end(leased: LeasedJob, ending: Ending, state: JobState) -> None:
    """Tell how an attempt ended, and where its job went."""
    trace = trace_of(leased)
    trace["outcome"] = ending.outcome
    if ending.failure:
        trace["error_class"] = ending.failure.error_class
        trace["error_code"] = ending.failure.code
    event(f"job_{state}", **trace)


def tell_unexpected(leased: LeasedJob, error: Exception) -> None:
    """Tell of an error that has no class yet: its type and place, and no text of it."""
    trace = trace_of(leased)
    trace["error_type"] = type(error).__name__
    trace["error_at"] = where_raised(error)
    event("unexpected_error", **trace)


def tell_taken(job: Job) -> None:
    """Tell what became of a job that nobody worked any more."""
    event(
        f"job_{job.state}",
        job_id=job.id,
        tenant_id=job.tenant_id,
        kind=job.kind,
        attempt=job.attempt_no,
        error_class=job.error_class or "",
        error_code=job.error_code or "",
    )
