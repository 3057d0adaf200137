"""Schedules: a list of them, and one by its name."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Final

from uketsuke.domain.schedule import SCHEDULE_NAME, ScheduleKey
from uketsuke.http.answer import PRIVATE, json_answer, tagged_answer
from uketsuke.http.asked_work import look_around, vanished
from uketsuke.http.context import Context
from uketsuke.http.json_body import read_json, read_nothing
from uketsuke.http.message import Request, Response
from uketsuke.http.paging import next_page, page_limit, query_fault, read_list_query
from uketsuke.http.problem import MOST_FAULTS, refuse, refuse_faults
from uketsuke.http.schedule_document import (
    schedule_faults,
    schedule_path,
    show_schedule,
    to_wanted,
)
from uketsuke.services.ports.schedules import SchedulePage
from uketsuke.services.schedules import put_schedule

LIST_QUERY: Final = frozenset({"limit", "cursor", "tenant"})
ONE_QUERY: Final = frozenset({"tenant"})


async def list_schedules(request: Request, context: Context) -> Response:
    """Answer a page, by name; it may be short, or empty, and still have a next one."""
    asked, faults = read_list_query(request.query, caller=context.caller)
    if faults:
        raise refuse_faults(faults)
    tenant = context.caller.tenant_id or asked.get("tenant")
    page = await _page(asked, tenant, context)
    cursor = _cursor(page.cursor, tenant) if page.cursor else None
    document = {
        "items": [show_schedule(schedule, caller=context.caller) for schedule in page.schedules],
        "next": next_page(request.path, asked, cursor),
    }
    return tagged_answer(document, asked=request.headers, headers=PRIVATE)


async def get_schedule(request: Request, context: Context, *, name: str) -> Response:
    """Show a schedule. Names are a tenant's own, so an operator says whose."""
    key = ScheduleKey(_tenant_meant(request, context), name)
    schedule = await context.ports.schedules.find(key) if SCHEDULE_NAME.fullmatch(name) else None
    if schedule is None:
        raise refuse("not_found")
    return tagged_answer(
        show_schedule(schedule, caller=context.caller), asked=request.headers, headers=PRIVATE
    )


async def put_schedule_document(request: Request, context: Context, *, name: str) -> Response:
    """Make a schedule, 201, or replace it, 200."""
    document = await read_json(request, limit=context.settings.max_body_bytes)
    around = await look_around(document, context, tenant_id=context.tenant_id)
    faults = list(islice(schedule_faults(document, around, name=name), MOST_FAULTS + 1))
    if faults:
        raise refuse_faults(faults)
    key = ScheduleKey(context.tenant_id, name)
    put = await put_schedule(to_wanted(document, around, key=key), ports=context.ports)
    if put is None:
        raise refuse_faults(vanished(document))
    shown = show_schedule(put.schedule, caller=context.caller)
    if not put.created:
        return json_answer(200, shown)
    return json_answer(201, shown, headers=(("location", schedule_path(name)),))


async def delete_schedule(request: Request, context: Context, *, name: str) -> Response:
    """Delete a schedule. The jobs that it started live on."""
    await read_nothing(request, limit=context.settings.max_body_bytes)
    if not await context.ports.schedules.delete(ScheduleKey(context.tenant_id, name)):
        raise refuse("not_found")
    return Response(status=204)


def _tenant_meant(request: Request, context: Context) -> str:
    asked, faults = read_list_query(request.query, caller=context.caller)
    tenant = context.caller.tenant_id or asked.get("tenant")
    if tenant is None:
        faults.append(query_fault("tenant", "says whose schedule you mean; give it"))
    if tenant is None or faults:
        raise refuse_faults(faults)
    return tenant


async def _page(asked: Mapping[str, str], tenant: str | None, context: Context) -> SchedulePage:
    """Ask the store behind the cursor: a name, or a tenant and a name in a list of all."""
    schedules, limit = context.ports.schedules, page_limit(asked)
    owner, _, name = asked.get("cursor", "").rpartition("/")
    whose = "/" in asked.get("cursor", "")
    sound = SCHEDULE_NAME.fullmatch(name) and whose is (tenant is None) and bool(owner) is whose
    if "cursor" in asked and not sound:
        raise refuse("invalid_cursor")
    if tenant is None:
        after = ScheduleKey(owner, name) if owner else None
        return await schedules.page_of_all(after=after, limit=limit)
    sees_content = context.caller.tenant_id is not None
    return await schedules.page(
        tenant_id=tenant, after=name, limit=limit, with_content=sees_content
    )


def _cursor(key: ScheduleKey, tenant: str | None) -> str:
    return key.name if tenant else f"{key.tenant_id}/{key.name}"
