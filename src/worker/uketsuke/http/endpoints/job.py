"""What can be asked of one job: its state, result and events, and to stop it."""

from __future__ import annotations

from uketsuke.domain.failure import message_of
from uketsuke.domain.job import Job, Usage
from uketsuke.domain.lifecycle import JobState
from uketsuke.domain.money import show_usd
from uketsuke.http.answer import PRIVATE, Headers, json_answer, rfc3339, tagged_answer
from uketsuke.http.context import Context
from uketsuke.http.job_view import poll_after, show_job
from uketsuke.http.json_body import read_nothing
from uketsuke.http.message import Request, Response
from uketsuke.http.problem import Refused, refuse
from uketsuke.http.result import answer_result
from uketsuke.services.cancel import AlreadyFinished, cancel
from uketsuke.services.inspect import JobEventView, events_of, find_job


async def get_job(request: Request, context: Context, *, job_id: str) -> Response:
    """Show a job, however it stands."""
    job = await _find(job_id, context)
    headers = (*PRIVATE, *_retry_after(job, context))
    document = show_job(job, caller=context.caller)
    return tagged_answer(document, asked=request.headers, headers=headers)


async def get_result(request: Request, context: Context, *, job_id: str) -> Response:
    """Send the result of a job that succeeded, to its tenant only."""
    job = await _find(job_id, context)
    if context.caller.tenant_id is None:
        raise refuse("content_denied")
    if job.erased_at is not None:
        raise refuse("erased")
    if job.state is not JobState.SUCCEEDED:
        raise _no_result(job, context)
    return await answer_result(job, asked=request.headers, ports=context.ports)


async def get_events(request: Request, context: Context, *, job_id: str) -> Response:
    """Tell a job's life so far. It is short, so all of it is one page."""
    job = await _find(job_id, context)
    events = await events_of(job, ports=context.ports)
    document = {"items": [_show_event(event) for event in events], "next": None}
    return tagged_answer(document, asked=request.headers, headers=PRIVATE)


async def cancel_job(request: Request, context: Context, *, job_id: str) -> Response:
    """Stop a job, or note the wish on one that runs."""
    await read_nothing(request, limit=context.settings.max_body_bytes)
    job = await _find(job_id, context)
    try:
        after = await cancel(job, ports=context.ports)
    except AlreadyFinished as finished:
        ended = finished.job
        raise refuse("already_finished", members={"id": ended.id, "state": ended.state}) from None
    headers = _retry_after(after, context)
    return json_answer(200, show_job(after, caller=context.caller), headers=headers)


async def _find(job_id: str, context: Context) -> Job:
    job = await find_job(job_id, caller=context.caller, ports=context.ports)
    if job is None:
        raise refuse("not_found")
    return job


def _retry_after(job: Job, context: Context) -> Headers:
    wait = poll_after(job, now=context.ports.clock.now())
    return (("retry-after", str(wait)),) if wait else ()


def _no_result(job: Job, context: Context) -> Refused:
    match job.state:
        case JobState.FAILED:
            return refuse("job_failed")
        case JobState.CANCELED:
            return refuse("job_canceled")
        case _:
            return refuse("not_finished", headers=_retry_after(job, context))


def _show_event(event: JobEventView) -> dict[str, object]:
    return {
        "id": event.id,
        "type": event.type,
        "at": rfc3339(event.at),
        "attempt": event.attempt,
        "class": event.error_class,
        "duration_ms": event.duration_ms,
        "provider_ms": event.provider_ms,
        **_evidence(event),
    }


def _evidence(event: JobEventView) -> dict[str, object]:
    usage = event.usage or Usage()
    cost = usage.whole_cost
    return {
        "code": event.error_code,
        "message": message_of(event.error_code) if event.error_code else None,
        "provider": usage.provider,
        "model": usage.model,
        "provider_request_id": usage.provider_request_id,
        "cost_usd": None if cost is None else show_usd(cost),
    }
