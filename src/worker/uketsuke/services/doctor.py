"""Hold the store against its invariants, and mend what a machine may mend."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from uketsuke.domain.audit import Act
from uketsuke.domain.diagnosis import Finding, Mended, Offender, Repaired
from uketsuke.services.ports import InstanceState, Ports, Unavailable
from uketsuke.services.tell import tell_taken
from uketsuke.telemetry import event

# The questions that the store alone cannot answer: see the functions below.
RESULT_OBJECTS: Final = "result_object_missing"
DOOMED: Final = "doomed_left"
# Of these the rows may be the last that lead to a job's objects.
LEFT_BEHIND: Final = frozenset({"rows_outlive_job", "submission_without_job"})
# So many questions a call: the free plan allows 50 calls to the database and the storage, and what
# is asked together keeps others waiting.
_TOGETHER: Final = 6
_NOTHING: Final = Mended(rows=(), jobs=())
_OVER: Final = frozenset({InstanceState.ABSENT, InstanceState.COMPLETE, InstanceState.BROKEN})


async def examine(name: str | None = None, *, ports: Ports) -> Sequence[Finding]:
    """Answer one question, or all. A few at a time: others use the database in between."""
    names = list(ports.doctor.questions) if name is None else [name]
    findings: list[Finding] = []
    for start in range(0, len(names), _TOGETHER):
        findings += await ports.doctor.ask(names[start : start + _TOGETHER])
    return [await _with_objects(each, ports=ports) for each in findings]


async def repair(name: str, *, act: Act, ports: Ports) -> Repaired:
    """Mend some of a question's offenders; whoever has more repeats it.

    With nothing to mend nothing is written, the audit row included.
    """
    offenders = await ports.doctor.repairable(name)
    if name == DOOMED:
        offenders = await _that_are_over(offenders, ports=ports)
    elif name in LEFT_BEHIND:
        await _delete_objects(offenders, ports=ports)
    mended = await ports.doctor.repair(name, offenders, act=act) if offenders else _NOTHING
    for job in mended.jobs:
        tell_taken(job)
    if mended.rows:
        event("doctor_repaired", count=len(mended.rows), request_id=act.request_id)
    (finding,) = await examine(name, ports=ports)
    return Repaired(rows=mended.rows, left=finding.count)


async def _with_objects(finding: Finding, *, ports: Ports) -> Finding:
    if finding.question.name != RESULT_OBJECTS:
        return finding
    return await _look_at_objects(finding, ports=ports)


async def _delete_objects(offenders: Sequence[Offender], *, ports: Ports) -> None:
    """Delete what lies under jobs that are gone, before the rows that name them, as the purge does.

    No job gets the id of one that was. Raises ``Unavailable``: then the rows stay for another time.
    """
    for each in offenders:
        tenant_id, *_ = each.key
        if left := await ports.blobs.names(f"{tenant_id}/{each.id}/"):
            await ports.blobs.delete(left)


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
