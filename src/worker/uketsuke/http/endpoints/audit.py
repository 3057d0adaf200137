"""``GET /v1/audit``: who did what, when and why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from uketsuke.domain.audit import AUDIT_ID, Action, AuditRow
from uketsuke.http.answer import PRIVATE, rfc3339, tagged_answer
from uketsuke.http.context import Context
from uketsuke.http.message import Request, Response
from uketsuke.http.paging import next_page, page_limit, query_fault, read_list_query
from uketsuke.http.problem import refuse, refuse_faults
from uketsuke.services.ports import AuditFilter

QUERY: Final = frozenset({"action", "target", "actor", "tenant", "limit", "cursor"})


async def list_audit(request: Request, context: Context) -> Response:
    """Answer a page, newest first; a tenant sees what was done about what is its own."""
    asked = _read_query(request.query, context)
    wanted = AuditFilter(
        action=asked.get("action"),
        target=asked.get("target"),
        actor=asked.get("actor"),
        tenant_id=context.caller.tenant_id or asked.get("tenant"),
    )
    page = await context.ports.audit.page(
        wanted, before=asked.get("cursor"), limit=page_limit(asked)
    )
    document = {
        "items": [_show(row) for row in page.rows],
        "next": next_page(request.path, asked, page.cursor),
    }
    return tagged_answer(document, asked=request.headers, headers=PRIVATE)


def _read_query(query: Mapping[str, tuple[str, ...]], context: Context) -> Mapping[str, str]:
    asked, faults = read_list_query(query, caller=context.caller)
    if "action" in asked and asked["action"] not in set(Action):
        faults.append(query_fault("action", f"is one of {', '.join(Action)}"))
    if faults:
        raise refuse_faults(faults)
    if "cursor" in asked and not AUDIT_ID.fullmatch(asked["cursor"]):
        raise refuse("invalid_cursor")
    return asked


def _show(row: AuditRow) -> dict[str, object]:
    return {
        "id": row.act.id,
        "at": rfc3339(row.at),
        "actor": row.act.actor,
        "action": row.action,
        "target": row.target,
        "tenant_id": row.tenant_id,
        "reason": row.act.reason,
        "request_id": row.act.request_id,
        "detail": row.act.detail,
    }
