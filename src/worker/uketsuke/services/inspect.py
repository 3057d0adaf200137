"""Look at a job: its state, its result, its life so far. Looking never starts work."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from uketsuke.domain.api_key import Caller
from uketsuke.domain.failure import ErrorClass
from uketsuke.domain.ids import JOB_ID
from uketsuke.domain.job import Attempt, Job, Usage
from uketsuke.domain.lifecycle import JobState, Outcome
from uketsuke.services.ports import Ports


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultBody:
    """A result to send: ``content`` if it is small, ``stream`` if not; neither when it is gone."""

    content_type: str
    content: bytes | None = None
    bytes: int
    stream: object | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class JobEventView:
    """One thing that happened to a job; ``id`` is the same whenever one asks.

    What ended an attempt has how long it took, and how long the provider took within it, and the
    evidence: why it failed, and what its calls used.
    """

    id: str
    type: str
    at: datetime
    attempt: int | None
    error_class: ErrorClass | None
    duration_ms: int | None = None
    provider_ms: int | None = None
    error_code: str | None = None
    usage: Usage | None = None


async def find_job(job_id: str, *, caller: Caller, ports: Ports) -> Job | None:
    """Return the job if it exists and the caller may know of it."""
    if not JOB_ID.fullmatch(job_id):
        return None
    return await ports.jobs.find(job_id, tenant_id=caller.tenant_id)


async def result_of(job: Job, *, ports: Ports) -> ResultBody:
    """Return the result of a job that succeeded."""
    place = job.result
    if place is None:
        return ResultBody(content_type="application/json", bytes=0)
    if place.object_key is not None:
        stream = await ports.blobs.stream(place.object_key)
        return ResultBody(content_type=place.content_type, bytes=place.bytes, stream=stream)
    text = await ports.jobs.result_text(job.key, attempt=place.attempt)
    content = None if text is None else text.encode()
    return ResultBody(content_type=place.content_type, bytes=place.bytes, content=content)


async def events_of(job: Job, *, ports: Ports) -> Sequence[JobEventView]:
    """Return the job's life, oldest first, told from its rows."""
    attempts = await ports.jobs.attempts_of(job.key)
    return list(_life(job, attempts))


def _life(job: Job, attempts: Sequence[Attempt]) -> Iterator[JobEventView]:
    yield _event(job, 0, "accepted", job.created_at)
    settled = 0
    for attempt in attempts:
        settled = attempt.number
        yield _event(
            job, 2 * attempt.number - 1, "leased", attempt.started_at, number=attempt.number
        )
        yield _event(job, 2 * attempt.number, _name_of(attempt), attempt.ended_at, attempt)
    if job.state is JobState.RUNNING and job.attempt_no > settled and job.leased_at:
        yield _event(job, 2 * job.attempt_no - 1, "leased", job.leased_at, number=job.attempt_no)
    ended_by_an_attempt = bool(attempts) and attempts[-1].state is job.state
    if job.terminal and job.finished_at and not ended_by_an_attempt:
        yield _event(job, 2 * job.attempt_no + 1, job.state, job.finished_at)


def _name_of(attempt: Attempt) -> str:
    # An attempt that was given back is worth telling apart; else what became of the job says most.
    waits = attempt.state is JobState.RETRYING
    return "deferred" if waits and attempt.outcome is Outcome.DEFERRED else str(attempt.state)


def _event(
    job: Job,
    place: int,
    name: str,
    at: datetime,
    attempt: Attempt | None = None,
    *,
    number: int | None = None,
) -> JobEventView:
    return JobEventView(
        id=f"{job.id}.{place}",
        type=name,
        at=at,
        attempt=attempt.number if attempt else number,
        error_class=attempt.error_class if attempt else None,
        duration_ms=_duration_ms(attempt) if attempt else None,
        provider_ms=attempt.provider_ms if attempt else None,
        error_code=attempt.error_code if attempt else None,
        usage=attempt.usage if attempt else None,
    )


def _duration_ms(attempt: Attempt) -> int:
    return (attempt.ended_at - attempt.started_at) // timedelta(milliseconds=1)
