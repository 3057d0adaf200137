"""From the JSON of ``PUT /v1/schedules/{name}`` to a wanted schedule or all faults, and back."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from uketsuke.domain.api_key import Caller
from uketsuke.domain.cron import BadCron, check_expression, find_zone
from uketsuke.domain.job import InputForm
from uketsuke.domain.schedule import SCHEDULE_NAME, Last, Overlap, Schedule, ScheduleKey
from uketsuke.http.answer import rfc3339
from uketsuke.http.asked_work import Surroundings, expected_of, work_faults
from uketsuke.http.characters import bad_characters
from uketsuke.http.input_member import InputMember, given_input
from uketsuke.http.problem import Fault
from uketsuke.http.walk import find_faults
from uketsuke.services.schedules import WantedSchedule

LONGEST_CRON: Final = 200  # of a cron expression, or of a zone's name


class ScheduleMembers(msgspec.Struct, frozen=True, kw_only=True):
    """The members of a schedule. What ``input`` and ``params`` hold depends on the kind."""

    name: str | UnsetType = UNSET
    cron: Annotated[str, Meta(max_length=LONGEST_CRON)]
    timezone: Annotated[str, Meta(max_length=LONGEST_CRON)] = "UTC"
    kind: str
    input: InputMember
    params: dict[str, Any] = {}
    run_key: Annotated[str, Meta(min_length=1, max_length=200)] | None = None
    overlap: Literal["skip", "allow"] = "skip"
    enabled: bool = True


def schedule_faults(document: object, around: Surroundings, *, name: str) -> Iterator[Fault]:
    """Find everything that is wrong with a document that is put under ``name``."""
    if not SCHEDULE_NAME.fullmatch(name):
        detail = "A schedule's name has 1 to 100 letters, digits, . _ or -, no sign first."
        yield Fault(pointer="", code="bad_value", detail=detail)
    yield from bad_characters(document)
    yield from find_faults(document, ScheduleMembers)
    if isinstance(document, dict):
        yield from work_faults(document, around)
        yield from _name_faults(document, name)
        yield from cron_faults("cron", document.get("cron"), check_expression)
        yield from cron_faults("timezone", document.get("timezone"), find_zone)
        yield from _overlap_faults(document)


def _name_faults(document: Mapping[str, object], name: str) -> Iterator[Fault]:
    given = document.get("name", name)
    if isinstance(given, str) and given != name:
        detail = "The path names another schedule. Leave the name here, or say the same."
        yield Fault(pointer="/name", code="bad_value", detail=detail)


def cron_faults(member: str, given: object, check: Callable[[str], object]) -> Iterator[Fault]:
    """Find what the domain's ``check`` has against an expression or a zone."""
    if isinstance(given, str) and len(given) <= LONGEST_CRON:
        try:
            check(given)
        except BadCron as bad:
            yield Fault(pointer=f"/{member}", code="bad_value", detail=str(bad))


def _overlap_faults(document: Mapping[str, object]) -> Iterator[Fault]:
    if document.get("overlap") == Overlap.ALLOW and isinstance(document.get("run_key"), str):
        detail = "With the overlap allow, jobs start without a run key. Leave it, or say skip."
        yield Fault(pointer="/run_key", code="bad_value", detail=detail)


def to_wanted(
    document: Mapping[str, Any], around: Surroundings, *, key: ScheduleKey
) -> WantedSchedule:
    """Turn a sound document into what is wanted. The parameters stay as they were sent."""
    members = msgspec.convert(document, ScheduleMembers)
    given = given_input(document["input"], around.sizes)
    overlap = Overlap(members.overlap)
    run_key = members.run_key or f"schedule:{key.name}"
    return WantedSchedule(
        key=key,
        cron=members.cron,
        timezone=members.timezone,
        kind=members.kind,
        form=given.form,
        content=given.content,
        refs=given.refs,
        input_bytes=given.bytes,
        params=members.params,
        run_key=None if overlap is Overlap.ALLOW else run_key,
        overlap=overlap,
        enabled=members.enabled,
        expected=expected_of(around.kinds[members.kind], given, members.params),
    )


def schedule_path(name: str) -> str:
    return f"/v1/schedules/{name}"


def show_schedule(schedule: Schedule, *, caller: Caller) -> dict[str, object]:
    """Return the schedule's document; operators get null for its content."""
    sees_content = caller.tenant_id is not None
    return {
        "name": schedule.name,
        "tenant_id": schedule.tenant_id,
        "cron": schedule.cron,
        "timezone": schedule.timezone,
        "kind": schedule.kind,
        "input": _input(schedule) if sees_content else None,
        "params": schedule.params if sees_content else None,
        "run_key": schedule.run_key,
        "overlap": schedule.overlap,
        "enabled": schedule.enabled,
        "next_at": rfc3339(schedule.next_at) if schedule.next_at else None,
        "last": _last(schedule.last) if schedule.last else None,
        "created_at": rfc3339(schedule.created_at),
        "updated_at": rfc3339(schedule.updated_at),
    }


def _input(schedule: Schedule) -> dict[str, object]:
    place = schedule.input
    if schedule.content is not None:
        return {place.form: json.loads(schedule.content)}
    return {place.form: place.refs[0] if place.form is InputForm.REF else place.refs}


def _last(last: Last) -> dict[str, object]:
    return {"at": rfc3339(last.at), "job_id": last.job_id, "outcome": last.outcome}
