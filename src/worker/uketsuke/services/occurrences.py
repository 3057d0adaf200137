"""Start what schedules are due: each occurrence is recorded first, then started once.

An occurrence runs as a Workflow instance, whatever the engine of its kind, named as the first
attempt of its job is; the instance's first step writes the job's row. Nothing is started twice: the
record is guarded by the time that was read; the job's id and the instance's name follow from it.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from uketsuke.domain.cron import BadCron, parse
from uketsuke.domain.ids import RANDOM_BYTES, time_sorted_id
from uketsuke.domain.job import JobKey, RunStart, instance_id
from uketsuke.domain.lifecycle import Engine, Origin
from uketsuke.domain.schedule import Occurrence, OccurrenceState, Schedule, ScheduleKey
from uketsuke.services.ports import (
    AcceptedNew,
    InputVanished,
    InstanceState,
    Ports,
    Steps,
    Unavailable,
)
from uketsuke.services.run import ORDER_VERSION, Order, read_order
from uketsuke.services.schedules import submission_of
from uketsuke.services.submit import admit
from uketsuke.telemetry import event, raised

# How long an attempt of each kind may take on a Workflow; what is not in it is no kind of ours.
RunLimits = Mapping[str, timedelta]

_PAGE: Final = 100
_PAGES_A_TICK: Final = 10
# So often the sweep wakes or makes the instance of an occurrence; then it writes the row itself.
_TRIES: Final = 3


async def start_due(ports: Ports) -> int:
    """Record and start what is due. After an outage only the latest missed occurrence counts."""
    count, after = 0, None
    for _ in range(_PAGES_A_TICK):
        due = await ports.occurrences.due(after=after, limit=_PAGE)
        for schedule in due.schedules:
            try:
                count += await _record_and_start(schedule, due.now, ports=ports)
            except BadCron:  # sound when it was put; the zones' data may have changed since
                event("schedule_unreadable", tenant_id=schedule.tenant_id)
            except Unavailable:  # it is still due at the next tick; the others need not wait
                event("start_failed", tenant_id=schedule.tenant_id)
        if len(due.schedules) < _PAGE:
            break
        after = due.schedules[-1]
    return count


async def _record_and_start(schedule: Schedule, now: datetime, *, ports: Ports) -> bool:
    assert schedule.next_at is not None
    cron = parse(schedule.cron, schedule.timezone)
    at = cron.latest_in(schedule.next_at - timedelta(seconds=1), now) or schedule.next_at
    job_id = job_id_of(schedule.key, generation=schedule.generation, at=at)
    recorded = await ports.occurrences.record(
        schedule, due_at=at, job_id=job_id, next_at=cron.next_after(now)
    )
    if recorded:
        await _start(schedule.key, at, schedule.generation, job_id, ports=ports)
    return recorded


def job_id_of(key: ScheduleKey, *, generation: str, at: datetime) -> str:
    """Name an occurrence's job: the same each time, and another if the schedule is made anew."""
    milliseconds = int(at.timestamp() * 1000)
    named = json.dumps([*key, generation, milliseconds])
    entropy = hashlib.sha256(named.encode()).digest()[:RANDOM_BYTES]
    return time_sorted_id("job", now_ms=milliseconds, entropy=entropy)


async def _start(
    key: ScheduleKey, at: datetime, generation: str, job_id: str, *, ports: Ports
) -> None:
    """Start the occurrence's instance. A failure is noted: the sweep takes the record up again."""
    order = {
        "v": ORDER_VERSION,
        "tenant": key.tenant_id,
        "schedule": key.name,
        "generation": generation,
        "at": int(at.timestamp() * 1000),
        "job": job_id,
        "token": ports.dice.entropy(16).hex(),
    }
    try:
        await ports.workflows.create(instance_id(job_id, 1), order)
    except Unavailable:
        event("start_failed", job_id=job_id, tenant_id=key.tenant_id, attempt=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class _OccurrenceOrder:
    """What the instance of an occurrence is told."""

    occurrence: Occurrence
    token: str

    @property
    def order(self) -> Order:
        """The order for the job's first attempt, once its row is there."""
        key = JobKey(self.occurrence.tenant_id, self.occurrence.job_id)
        return Order(key=key, attempt=1, token=self.token)


async def order_in(
    payload: Mapping[str, Any], *, steps: Steps, limits: RunLimits, ports: Ports
) -> Order | None:
    """Return what an instance is to work: for an occurrence, once its job has its row.

    None if the occurrence was skipped.
    """
    if "schedule" not in payload:
        return read_order(payload)
    asked = _read_occurrence(payload)
    began = await _begin(asked, steps=steps, limits=limits, ports=ports)
    return asked.order if began else None


def _read_occurrence(payload: Mapping[str, Any]) -> _OccurrenceOrder:
    at = datetime.fromtimestamp(int(payload["at"]) / 1000, UTC)
    occurrence = Occurrence(
        tenant_id=str(payload["tenant"]),
        schedule=str(payload["schedule"]),
        generation=str(payload["generation"]),
        due_at=at,
        job_id=str(payload["job"]),
        state=OccurrenceState.RECORDED,
        reason=None,
        recorded_at=at,
        tries=0,
    )
    return _OccurrenceOrder(occurrence=occurrence, token=str(payload["token"]))


async def _begin(asked: _OccurrenceOrder, *, steps: Steps, limits: RunLimits, ports: Ports) -> bool:
    """Write the row of an occurrence's job, as the first step of its instance.

    Return whether there is one to work. Raises ``Unavailable`` if the database stays away: the
    sweep takes the occurrence up again.
    """
    start = RunStart(token=asked.token, lease=ports.settings.lease)

    async def first_step() -> Mapping[str, object]:
        for pause in (*_PAUSES, None):
            try:
                state = await open_job(asked.occurrence, start=start, limits=limits, ports=ports)
            except Unavailable:
                if pause is not None:
                    await asyncio.sleep(pause)
            else:
                return {"state": state.value}
        return {"away": True}

    outcome = await steps.do("begin", first_step)
    if "away" in outcome:
        raise Unavailable("the database stayed away")
    return outcome.get("state") == OccurrenceState.STARTED


async def open_job(
    occurrence: Occurrence, *, start: RunStart | None, limits: RunLimits, ports: Ports
) -> OccurrenceState:
    """Decide an occurrence: its job's row is written, or there is a reason why not. Repeatable."""
    decided = await ports.occurrences.state_of(occurrence)
    if decided is not OccurrenceState.RECORDED:
        return decided or OccurrenceState.SKIPPED
    reason = await _open(occurrence, start=start, limits=limits, ports=ports)
    state = OccurrenceState.STARTED if reason is None else OccurrenceState.SKIPPED
    if not await ports.occurrences.settle(occurrence, state=state, reason=reason):
        return await ports.occurrences.state_of(occurrence) or state  # another one was first
    event(
        "occurrence_started" if reason is None else "occurrence_skipped",
        job_id=occurrence.job_id,
        tenant_id=occurrence.tenant_id,
        error_code=reason or "",
    )
    return state


async def _open(
    occurrence: Occurrence, *, start: RunStart | None, limits: RunLimits, ports: Ports
) -> str | None:
    """Write the job's row; return why it was not."""
    if await ports.jobs.find(occurrence.job_id, tenant_id=occurrence.tenant_id):
        return None  # by an earlier try, whatever became of the schedule since
    schedule = await ports.schedules.find(occurrence.schedule_key)
    if schedule is None or schedule.generation != occurrence.generation:
        return "schedule_deleted"
    if not schedule.enabled:
        return "schedule_disabled"
    if schedule.kind not in limits:
        return "kind_unknown"
    limit = min(limits[schedule.kind], ports.settings.longest_run)
    admission = await admit(
        submission_of(
            schedule, engine=Engine.WORKFLOW, run_limit=limit, origin=Origin.SCHEDULE, ports=ports
        ),
        job_id=occurrence.job_id,
        start=start,
        ports=ports,
    )
    match admission:
        case AcceptedNew():
            return None
        case InputVanished():
            return "input_gone"
        case _:
            return "run_in_progress"


async def look_after_occurrences(ports: Ports, *, limits: RunLimits) -> int:
    """Take up again what was recorded and then left: each gets its row, or a reason why not."""
    taken = await ports.occurrences.take_up(older_than=ports.settings.first_wake, limit=_PAGE)
    for occurrence in taken:
        try:
            await _look_after(occurrence, limits=limits, ports=ports)
        except Exception as error:  # it is taken up again; one must not stop the others
            event(
                "run_not_asked",
                job_id=occurrence.job_id,
                tenant_id=occurrence.tenant_id,
                **raised(error),
            )
    return len(taken)


async def _look_after(occurrence: Occurrence, *, limits: RunLimits, ports: Ports) -> None:
    name = instance_id(occurrence.job_id, 1)
    state = await ports.workflows.state(name)
    given_up = occurrence.tries > _TRIES and state is not InstanceState.QUEUED
    if given_up or state in (InstanceState.COMPLETE, InstanceState.BROKEN):
        # No instance will write it: the row waits for a message, as after an attempt that was lost.
        await open_job(occurrence, start=None, limits=limits, ports=ports)
    elif state is InstanceState.LIVE:
        await ports.workflows.wake(name)
    elif state is InstanceState.ABSENT:
        await _start(
            occurrence.schedule_key,
            occurrence.due_at,
            occurrence.generation,
            occurrence.job_id,
            ports=ports,
        )


_PAUSES: Final = (0.5, 2.0, 5.0)
