"""``GET /v1/cron``: when an expression comes true, for whoever may make a schedule of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Final

from uketsuke.domain.cron import Cron, check_expression, find_zone, parse
from uketsuke.http.answer import PRIVATE, rfc3339, tagged_answer
from uketsuke.http.context import Context
from uketsuke.http.message import Request, Response
from uketsuke.http.paging import query_fault
from uketsuke.http.problem import Fault, refuse_faults
from uketsuke.http.schedule_document import LONGEST_CRON, cron_faults

QUERY: Final = frozenset({"cron", "timezone"})
_TIMES: Final = 3


async def preview_cron(request: Request, context: Context) -> Response:
    """Answer the next times, as a schedule would have them, or all that is wrong."""
    asked = {name: values[-1] for name, values in request.query.items()}
    faults = list(_faults(request, asked))
    if faults:
        raise refuse_faults(faults)
    cron = parse(asked["cron"], asked.get("timezone", "UTC"))
    document = {
        "cron": cron.expression,
        "timezone": str(cron.zone),
        "next": [rfc3339(at) for at in _next_times(cron, context.ports.clock.now())],
    }
    return tagged_answer(document, asked=request.headers, headers=PRIVATE)


def _faults(request: Request, asked: Mapping[str, str]) -> Iterator[Fault]:
    for name, values in request.query.items():
        if len(values) > 1:
            yield query_fault(name, "is said twice")
    if "cron" not in asked:
        yield query_fault("cron", "says when; give it")
    yield from cron_faults("cron", asked.get("cron"), check_expression)
    yield from cron_faults("timezone", asked.get("timezone"), find_zone)
    for name, value in asked.items():
        if len(value) > LONGEST_CRON:
            yield query_fault(name, f"has up to {LONGEST_CRON} characters")


def _next_times(cron: Cron, now: datetime) -> Iterator[datetime]:
    for _ in range(_TIMES):
        found = cron.next_after(now)
        if found is None:
            return
        yield found
        now = found
