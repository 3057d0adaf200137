"""A page of jobs, newest first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from uketsuke.domain.ids import JOB_ID
from uketsuke.domain.lifecycle import JobState
from uketsuke.http.answer import PRIVATE, json_answer
from uketsuke.http.context import Context
from uketsuke.http.job_view import show_job
from uketsuke.http.message import Request, Response
from uketsuke.http.paging import next_page, page_limit, query_fault, read_list_query
from uketsuke.http.problem import refuse, refuse_faults
from uketsuke.services.ports import JobFilter

QUERY: Final = frozenset({"state", "kind", "run_key", "limit", "cursor", "tenant"})


async def list_jobs(request: Request, context: Context) -> Response:
    """Answer a page; it may be short, or empty, and still have a next one."""
    asked = _read_query(request.query, context)
    tenant = context.caller.tenant_id or asked.get("tenant")
    page = await context.ports.listing.page(
        JobFilter(state=asked.get("state"), kind=asked.get("kind"), run_key=asked.get("run_key")),
        tenant_id=tenant,
        before=asked.get("cursor"),
        limit=page_limit(asked),
    )
    document = {
        "items": [show_job(job, caller=context.caller) for job in page.jobs],
        "next": next_page(request.path, asked, page.cursor),
    }
    return json_answer(200, document, headers=PRIVATE)


def _read_query(query: Mapping[str, tuple[str, ...]], context: Context) -> Mapping[str, str]:
    asked, faults = read_list_query(query, caller=context.caller)
    if "state" in asked and asked["state"] not in set(JobState):
        faults.append(query_fault("state", f"is one of {', '.join(JobState)}"))
    if faults:
        raise refuse_faults(faults)
    if "cursor" in asked and not JOB_ID.fullmatch(asked["cursor"]):
        raise refuse("invalid_cursor")
    return asked
