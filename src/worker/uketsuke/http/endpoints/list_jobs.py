"""A page of jobs, newest first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final
from urllib.parse import urlencode

from uketsuke.domain.ids import JOB_ID
from uketsuke.domain.lifecycle import JobState
from uketsuke.http.answer import PRIVATE, json_answer
from uketsuke.http.context import Context
from uketsuke.http.job_view import show_job
from uketsuke.http.message import Request, Response
from uketsuke.http.problem import Fault, refuse, refuse_faults
from uketsuke.services.ports import JobFilter

QUERY: Final = frozenset({"state", "kind", "run_key", "limit", "cursor", "tenant"})
_DEFAULT: Final = 50
_MOST: Final = 200


async def list_jobs(request: Request, context: Context) -> Response:
    """Answer a page; it may be short, or empty, and still have a next one."""
    asked = _read_query(request.query, context)
    limit = int(asked.get("limit", _DEFAULT))
    tenant = context.caller.tenant_id or asked.get("tenant")
    page = await context.ports.listing.page(
        JobFilter(state=asked.get("state"), kind=asked.get("kind"), run_key=asked.get("run_key")),
        tenant_id=tenant,
        before=asked.get("cursor"),
        limit=limit,
    )
    document = {
        "items": [show_job(job, caller=context.caller) for job in page.jobs],
        "next": _next(request.path, asked, page.cursor),
    }
    return json_answer(200, document, headers=PRIVATE)


def _next(path: str, asked: Mapping[str, str], cursor: str | None) -> str | None:
    return f"{path}?{urlencode({**asked, 'cursor': cursor})}" if cursor else None


def _read_query(query: Mapping[str, tuple[str, ...]], context: Context) -> Mapping[str, str]:
    faults = [_fault(name, "is said twice") for name, values in query.items() if len(values) > 1]
    asked = {name: values[-1] for name, values in query.items()}
    if "state" in asked and asked["state"] not in set(JobState):
        faults.append(_fault("state", f"is one of {', '.join(JobState)}"))
    if not _is_limit(asked.get("limit", str(_DEFAULT))):
        faults.append(_fault("limit", f"is a number from 1 to {_MOST}"))
    if "tenant" in asked and context.caller.tenant_id is not None:
        faults.append(_fault("tenant", "is for operators; your key sees its own tenant"))
    if faults:
        raise refuse_faults(faults)
    if "cursor" in asked and not JOB_ID.fullmatch(asked["cursor"]):
        raise refuse("invalid_cursor")
    return asked


def _is_limit(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 4 and 1 <= int(text) <= _MOST


def _fault(name: str, what: str) -> Fault:
    return Fault(pointer="", code="bad_value", detail=f"The query parameter {name} {what}.")
