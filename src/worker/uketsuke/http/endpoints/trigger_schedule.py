"""``POST /v1/schedules/{name}/trigger``: start a schedule's job now, as a person would."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from uketsuke.domain.lifecycle import Origin
from uketsuke.domain.schedule import SCHEDULE_NAME, Schedule, ScheduleKey
from uketsuke.http.context import Context
from uketsuke.http.endpoints.submit_job import answer_admission
from uketsuke.http.idempotency_key import read_key
from uketsuke.http.json_body import read_nothing
from uketsuke.http.message import Request, Response
from uketsuke.http.problem import Fault, refuse, refuse_faults
from uketsuke.kinds.plan import run_limit
from uketsuke.services.schedules import submission_of
from uketsuke.services.submit import Submission, submit


async def trigger_schedule(request: Request, context: Context, *, name: str) -> Response:
    """Start it, enabled or not: 202 with the job; 409 if its run key is held by a live one."""
    await read_nothing(request, limit=context.settings.max_body_bytes)
    idempotency_key, faults = read_key(request.headers)
    if faults:
        raise refuse_faults(list(faults))
    key = ScheduleKey(context.tenant_id, name)
    schedule = await context.ports.schedules.find(key) if SCHEDULE_NAME.fullmatch(name) else None
    if schedule is None:
        raise refuse("not_found")
    document = _document(schedule)
    wanted = replace(
        _submission(schedule, context),
        idempotency_key=idempotency_key,
        document=document,
        traceparent=context.traceparent,
    )
    admission = await submit(wanted, ports=context.ports)
    return answer_admission(admission, document, context)


def _document(schedule: Schedule) -> dict[str, Any]:
    """What the request stands for; a repeat of its idempotency key is held against this."""
    place = schedule.input
    return {"schedule": schedule.name, "input": {place.form.value: list(place.refs)}}


def _submission(schedule: Schedule, context: Context) -> Submission:
    kind = context.kinds.get(schedule.kind)
    if kind is None:
        detail = "This deployment knows no such kind any more. Put the schedule with another."
        raise refuse_faults([Fault(pointer="/kind", code="unknown_kind", detail=detail)])
    engine = kind.engine(schedule.input.form, schedule.input.bytes)
    return submission_of(
        schedule,
        engine=engine,
        run_limit=run_limit(kind, engine, context.settings),
        origin=Origin.API,
        ports=context.ports,
    )
