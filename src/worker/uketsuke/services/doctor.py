"""Hold the store against its invariants, and mend what a machine may mend."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from uketsuke.domain.audit import Act
from uketsuke.domain.diagnosis import Finding, Offender, Repaired
from uketsuke.services.ports import InstanceState, Ports, Unavailable
from uketsuke.telemetry import event

# The questions that the store alone cannot answer: see the functions below.
RESULT_OBJECTS: Final = "result_object_missing"
DOOMED: Final = "doomed_left"
_OVER: Final = frozenset({InstanceState.ABSENT, InstanceState.COMPLETE, InstanceState.BROKEN})


async def examine(name: str | None = None, *, ports: Ports) -> Sequence[Finding]:
    """Answer one question, or all. A question at a time: others use the database in between."""
    names = ports.doctor.questions if name is None else (name,)
    return [await _ask(each, ports=ports) for each in names]


async def repair(name: str, *, act: Act, ports: Ports) -> Repaired:
    """Mend some of a question's offenders; whoever has more repeats it.

    With nothing to mend nothing is written, the audit row included.
    """
    offenders = await ports.doctor.repairable(name)
    if name == DOOMED:
        offenders = await _that_are_over(offenders, ports=ports)
    rows = await ports.doctor.repair(name, offenders, act=act) if offenders else ()
    if rows:
        event("doctor_repaired", count=len(rows), request_id=act.request_id)
    finding = await _ask(name, ports=ports)
    return Repaired(rows=rows, left=finding.count)


async def _ask(name: str, *, ports: Ports) -> Finding:
    finding = await ports.doctor.ask(name)
    return await _look_at_objects(finding, ports=ports) if name == RESULT_OBJECTS else finding


async def _look_at_objects(finding: Finding, *, ports: Ports) -> Finding:
    """Ask the storage for a byte of each of the newest results that are objects."""
    named = await ports.doctor.stored_results()
    try:
        missing = [
            each.id
            for each in named
            if await ports.blobs.part(each.key[-1], offset=0, length=1) is None
        ]
    except Unavailable:
        return replace(finding, unknown=True)
    return replace(finding, count=len(missing), rows=missing)


async def _that_are_over(doomed: Sequence[Offender], *, ports: Ports) -> Sequence[Offender]:
    """Leave out instances that the platform may yet let go on: they must be stopped, not forgotten.

    One whose state it does not tell is left out, too.
    """
    over = []
    for instance in doomed:
        try:
            state = await ports.workflows.state(instance.id)
        except Unavailable:
            continue
        if state in _OVER:
            over.append(instance)
    return over
