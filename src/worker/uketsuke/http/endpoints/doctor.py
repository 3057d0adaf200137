"""``GET /v1/doctor`` and ``POST /v1/doctor/repair``: is the store sound, and if not, what then."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

import msgspec

from uketsuke.domain.diagnosis import Finding
from uketsuke.http.answer import PRIVATE, json_answer, tagged_answer
from uketsuke.http.characters import bad_characters
from uketsuke.http.context import Context
from uketsuke.http.json_body import read_json
from uketsuke.http.message import Request, Response
from uketsuke.http.paging import query_fault
from uketsuke.http.problem import MOST_FAULTS, Fault, refuse, refuse_faults
from uketsuke.http.reason import Reason, reason_faults
from uketsuke.http.walk import find_faults
from uketsuke.services.doctor import examine, repair
from uketsuke.services.redrive import new_act

QUERY: Final = frozenset({"check"})


class RepairBody(msgspec.Struct, frozen=True, kw_only=True):
    """Which check's offenders to mend, and why."""

    check: str
    reason: Reason


async def get_doctor(request: Request, context: Context) -> Response:
    """Answer each check, or the one that is asked for."""
    asked = request.query.get("check", ())
    if len(asked) > 1:
        raise refuse_faults([query_fault("check", "is said twice")])
    if asked and asked[0] not in context.ports.doctor.questions:
        raise refuse_faults([query_fault("check", _NAMES)])
    findings = await examine(asked[0] if asked else None, ports=context.ports)
    return tagged_answer(show_diagnosis(findings), asked=request.headers, headers=PRIVATE)


async def repair_store(request: Request, context: Context) -> Response:
    """Mend some of a check's offenders, and answer which; whoever has more repeats it."""
    document = await read_json(request, limit=context.settings.max_body_bytes)
    faults = list(islice(_faults(document, context), MOST_FAULTS + 1))
    if faults:
        raise refuse_faults(faults)
    asked = msgspec.convert(document, RepairBody)
    question = context.ports.doctor.questions[asked.check]
    if question.repair is None:
        raise refuse("not_repairable", question.by_hand or "", members={"check": asked.check})
    act = new_act(
        context.caller.key_id,
        reason=asked.reason,
        request_id=context.request_id,
        ports=context.ports,
    )
    done = await repair(asked.check, act=act, ports=context.ports)
    report = {"check": asked.check, "count": len(done.rows), "rows": done.rows, "left": done.left}
    return json_answer(200, report)


def show_diagnosis(findings: Sequence[Finding]) -> dict[str, object]:
    """Return the findings' document."""
    return {
        "ok": all(finding.ok for finding in findings),
        "items": [_show(finding) for finding in findings],
    }


def _show(finding: Finding) -> dict[str, object]:
    question = finding.question
    return {
        "check": question.name,
        "description": question.holds,
        "ok": finding.ok,
        "count": finding.count,
        "rows": finding.rows,
        "looked_at": _NOTHING if finding.unknown else question.looked_at,
        "repair": question.repair,
        "by_hand": question.by_hand,
    }


def _faults(document: object, context: Context) -> Iterator[Fault]:
    yield from bad_characters(document)
    yield from find_faults(document, RepairBody)
    yield from reason_faults(document)
    check = document.get("check") if isinstance(document, dict) else None
    if isinstance(check, str) and check not in context.ports.doctor.questions:
        yield Fault(pointer="/check", code="bad_value", detail=f"The check {_NAMES}.")


_NAMES: Final = "is one of those that GET /v1/doctor lists"
_NOTHING: Final = "nothing: the storage did not answer"
