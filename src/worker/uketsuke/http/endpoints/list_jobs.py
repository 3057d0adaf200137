"""A page of jobs, newest first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from uketsuke.domain.ids import JOB_ID
from uketsuke.domain.lifecycle import JobState
from uketsuke.http.answer import PRIVATE, tagged_answer
from uketsuke.http.context import Context
from uketsuke.http.job_view import show_job
from uketsuke.http.message import Request, Response
from uketsuke.http.paging import next_page, page_limit, query_fault, read_list_query
from uketsuke.http.problem import Fault, refuse, refuse_faults
from uketsuke.http.query_times import time_faults, time_in
from uketsuke.services.ports import JobFilter

_TIMES: Final = ("created_after", "created_before", "finished_after", "finished_before")
_DUE: Final = {"true": True, "false": False}
_WAITING: Final = (JobState.ACCEPTED, JobState.RETRYING)
QUERY: Final = frozenset({"state", "kind", "run_key", "due", *_TIMES, "limit", "cursor", "tenant"})


async def list_jobs(request: Request, context: Context) -> Response:
    """Answer a page; it may be short, or empty, and still have a next one."""
    asked = _read_query(request.query, context)
    tenant = context.caller.tenant_id or asked.get("tenant")
    page = await context.ports.listing.page(
        _wanted(asked),
        tenant_id=tenant,
        before=asked.get("cursor"),
        limit=page_limit(asked),
    )
    document = {
        "items": [show_job(job, caller=context.caller) for job in page.jobs],
        "next": next_page(request.path, asked, page.cursor),
    }
    return tagged_answer(document, asked=request.headers, headers=PRIVATE)


def _read_query(query: Mapping[str, tuple[str, ...]], context: Context) -> Mapping[str, str]:
    asked, faults = read_list_query(query, caller=context.caller)
    if "state" in asked and asked["state"] not in set(JobState):
        faults.append(query_fault("state", f"is one of {', '.join(JobState)}"))
    faults += [*_due_faults(asked), *time_faults(_TIMES, asked)]
    if faults:
        raise refuse_faults(faults)
    if "cursor" in asked and not JOB_ID.fullmatch(asked["cursor"]):
        raise refuse("invalid_cursor")
    return asked


def _wanted(asked: Mapping[str, str]) -> JobFilter:
    times = {name: time_in(asked, name) for name in _TIMES}
    return JobFilter(
        state=asked.get("state"),
        kind=asked.get("kind"),
        run_key=asked.get("run_key"),
        due=_DUE[asked["due"]] if "due" in asked else None,
        **times,
    )


def _due_faults(asked: Mapping[str, str]) -> Iterator[Fault]:
    if asked.get("due", "true") not in _DUE:
        yield query_fault("due", "is true or false")
    if "due" in asked and asked.get("state", JobState.ACCEPTED) not in _WAITING:
        waiting = " or ".join(_WAITING)
        yield query_fault("due", f"is asked of jobs that wait: leave out state, or say {waiting}")
