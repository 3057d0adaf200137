"""``GET /v1/jobs/counts``: how many jobs there are of each state, as far as is looked."""

from __future__ import annotations

from typing import Final

from uketsuke.http.answer import PRIVATE, tagged_answer
from uketsuke.http.context import Context
from uketsuke.http.message import Request, Response
from uketsuke.http.paging import read_list_query
from uketsuke.http.problem import refuse_faults
from uketsuke.services.ports import JobFilter

COUNT_QUERY: Final = frozenset({"kind", "run_key", "tenant"})


async def count_jobs(request: Request, context: Context) -> Response:
    """Answer a count for each state, in the lifecycle's order; a capped one may be higher."""
    asked, faults = read_list_query(request.query, caller=context.caller)
    if faults:
        raise refuse_faults(faults)
    counts = await context.ports.listing.counts(
        JobFilter(kind=asked.get("kind"), run_key=asked.get("run_key")),
        tenant_id=context.caller.tenant_id or asked.get("tenant"),
    )
    items = [{"state": each.state, "count": each.count, "capped": each.capped} for each in counts]
    return tagged_answer({"items": items}, asked=request.headers, headers=PRIVATE)
