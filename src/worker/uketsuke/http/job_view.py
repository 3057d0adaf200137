"""A job as the API shows it, and how soon to ask for it again.

Operators see no content, and what a tenant writes into ``metadata`` is content: they get its
names with null for each value.
"""

from __future__ import annotations

import math
from datetime import datetime, timedelta
from typing import Final

from uketsuke.domain.api_key import Caller
from uketsuke.domain.failure import RETRYABLE, message_of
from uketsuke.domain.job import Job, Usage
from uketsuke.domain.lifecycle import WAITING, JobState
from uketsuke.domain.money import show_usd
from uketsuke.domain.trace import read_traceparent
from uketsuke.http.answer import rfc3339

_LONGEST_POLL: Final = timedelta(seconds=10)


def show_job(job: Job, *, caller: Caller) -> dict[str, object]:
    """Return the job's document, as far as the caller may see it."""
    return {
        "id": job.id,
        "tenant_id": job.tenant_id,
        "kind": job.kind,
        "state": job.state,
        "terminal": job.terminal,
        "engine": job.engine,
        "origin": job.origin,
        "run_key": job.run_key,
        "attempts": job.attempts,
        "max_attempts": job.max_attempts,
        "progress": _progress(job),
        **_times(job),
        "error": _error(job),
        "max_cost_usd": _money(job.max_cost_micros),
        "usage": _usage(job),
        "redriven_from": job.redriven_from,
        "redriven_to": job.redriven_to,
        "trace_id": _trace_id(job),
        "metadata": _metadata(job, caller),
        "links": _links(job),
    }


def job_path(job: Job) -> str:
    return f"/v1/jobs/{job.id}"


def next_attempt_at(job: Job) -> datetime | None:
    """When a waiting job is due, unless it was due from the start."""
    waits = job.state in WAITING and job.due_at > job.created_at
    return job.due_at if waits else None


def poll_after(job: Job, *, now: datetime) -> int:
    """Return after how many seconds it is worth asking again: 0 once the job has ended.

    A tenth of the job's age, from 1 s to 10 s, since who has waited long can wait a little
    longer; but while the job waits for its next attempt nothing happens before that.
    """
    if job.terminal:
        return 0
    wait = min(_LONGEST_POLL, (now - job.created_at) / 10)
    due = next_attempt_at(job)
    if due is not None:
        wait = max(wait, min(due, job.deadline_at) - now)
    return max(1, math.ceil(wait.total_seconds()))


def _times(job: Job) -> dict[str, str | None]:
    times = {
        "created_at": job.created_at,
        "started_at": job.started_at,
        "finished_at": job.finished_at,
        "next_attempt_at": next_attempt_at(job),
        "deadline_at": job.deadline_at,
        "expires_at": job.expires_at,
        "cancel_requested_at": job.cancel_requested_at,
        "erased_at": job.erased_at,
    }
    return {name: None if time is None else rfc3339(time) for name, time in times.items()}


def _progress(job: Job) -> dict[str, int] | None:
    progress = job.progress
    return None if progress is None else {"done": progress.done, "total": progress.total}


def _error(job: Job) -> dict[str, object] | None:
    """Say why the last attempt failed; a job that succeeded in the end has no error."""
    if job.error_class is None or job.state is JobState.SUCCEEDED:
        return None
    code = job.error_code or "unexpected"
    return {
        "class": job.error_class,
        "code": code,
        "message": message_of(code),
        "retryable": job.error_class in RETRYABLE,
    }


def _usage(job: Job) -> dict[str, object] | None:
    if job.usage is None and job.attempts_cost_micros is None:
        return None
    usage = job.usage or Usage()
    attempts_cost = None if job.unknown_costs else job.attempts_cost_micros
    return {
        "provider": usage.provider,
        "model": usage.model,
        "provider_request_id": usage.provider_request_id,
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "audio_seconds": None if usage.audio_ms is None else usage.audio_ms / 1000,
        "cost_usd": _money(usage.whole_cost),
        "attempts_cost_usd": _money(attempts_cost),
    }


def _trace_id(job: Job) -> str | None:
    """Return what to look for in logs: the caller's trace, or the one that was begun."""
    span = read_traceparent(job.traceparent)
    return span.trace_id if span else None


def _money(micros: int | None) -> str | None:
    return None if micros is None else show_usd(micros)


def _metadata(job: Job, caller: Caller) -> dict[str, str | None]:
    if caller.tenant_id is None:
        return dict.fromkeys(job.metadata)
    return dict(job.metadata)


def _links(job: Job) -> dict[str, str]:
    path = job_path(job)
    return {
        "self": path,
        "result": f"{path}/result",
        "events": f"{path}/events",
        "cancel": f"{path}/cancel",
    }
