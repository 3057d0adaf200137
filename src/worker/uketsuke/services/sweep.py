"""The cron's bounded pass over what nobody looked at in time.

Each duty commits by itself and under a lease of its own that expires by itself, so that one that
fails or dies stops no other. It never runs as a job in the queue that it watches.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import timedelta
from functools import partial
from types import MappingProxyType
from typing import Final

from uketsuke.domain.job import Job, SilentRun
from uketsuke.services.alerts import look_after_alerts
from uketsuke.services.conditions import reckon_conditions
from uketsuke.services.messages import message_for
from uketsuke.services.occurrences import RunLimits, look_after_occurrences, start_due
from uketsuke.services.ports import Ports, Unavailable
from uketsuke.services.purge import purge_inputs, purge_jobs, purge_letters
from uketsuke.services.redrive import Planner
from uketsuke.services.redrives import drive_redrives
from uketsuke.services.rollup import roll_up
from uketsuke.services.silence import end_doomed, look_after
from uketsuke.services.tell import tell_taken
from uketsuke.telemetry import event, raised

_NO_KINDS: Final[RunLimits] = MappingProxyType({})
_REDRIVES: Final = "redrives"
Duty = Callable[[Ports], Awaitable[int]]

_PAGE: Final = 200
_PAGES_A_TICK: Final = 10
# As many messages wait already: those that we would add are most likely among them.
_BACKLOG_IS_BEHIND: Final = 1000
DUTY_LEASE: Final = timedelta(minutes=5)


async def sweep(
    ports: Ports, *, limits: RunLimits = _NO_KINDS, planner: Planner | None = None
) -> None:
    """Do every duty that no other sweep is at. Never raises for what a duty met.

    ``limits`` are of the kinds that schedules may start; ``planner`` says how bulk redrives are
    worked, and without one they wait.
    """
    for name, duty in _duties(limits, planner).items():
        try:
            await _do(name, duty, ports)
        except Exception as error:  # one failing duty must not stop the others
            event("duty_failed", duty=name, **raised(error))


async def _do(name: str, duty: Duty, ports: Ports) -> None:
    token = ports.dice.entropy(16).hex()
    if not await ports.sweeping.claim_duty(name, token=token, lease=DUTY_LEASE):
        return
    done = False
    try:
        count = await duty(ports)
        done = True
    finally:
        await ports.sweeping.finish_duty(name, token=token, done=done)
    if count:
        event("duty_done", duty=name, count=count)


async def wake(ports: Ports) -> int:
    """Send again what is past its wake-up time; take back expired leases; end what is overdue."""
    behind = (await ports.queue.backlog() or 0) >= _BACKLOG_IS_BEHIND
    cursor, count = None, 0
    for _ in range(_PAGES_A_TICK):
        woken = await ports.sweeping.wake_page(
            cursor, limit=_PAGE, first_grace=ports.settings.first_wake
        )
        for job in (*woken.ended, *woken.taken_back):
            tell_taken(job)
        count += len(woken.ended) + len(woken.to_send) + len(woken.silent)
        if not behind:
            await _send(woken.to_send, ports)
        await _look_after(woken.silent, ports)
        cursor = woken.cursor
        if cursor is None:
            break
    return count


async def _send(jobs: Sequence[Job], ports: Ports) -> None:
    if not jobs:
        return
    try:
        await ports.queue.send_many([message_for(job) for job in jobs])
    except Unavailable:
        # Their wake-up time has moved on by the grace: the next sweep that finds them tries again.
        event("send_failed", count=len(jobs))


async def _look_after(runs: Sequence[SilentRun], ports: Ports) -> None:
    for run in runs:
        try:
            await look_after(run, ports=ports)
        except Exception as error:  # it stays silent, and is found again; the others go on
            event(
                "run_not_asked",
                job_id=run.job.id,
                tenant_id=run.job.tenant_id,
                **raised(error),
            )


def duty_names() -> Sequence[str]:
    """Return the duties that a sweep does, each with a row that says when it was done last."""
    return (*_duties(_NO_KINDS, None), _REDRIVES)


async def _conditions(ports: Ports) -> int:
    return await reckon_conditions(ports, duties=duty_names())


def _duties(limits: RunLimits, planner: Planner | None) -> Mapping[str, Duty]:
    """Each duty by its name; what is due on the minute comes first, what asks the most last."""
    redrives = {_REDRIVES: partial(drive_redrives, planner=planner)} if planner else {}
    return {
        "start_due": start_due,
        "occurrences": partial(look_after_occurrences, limits=limits),
        "wake": wake,
        "end_doomed": end_doomed,
        "purge_jobs": purge_jobs,
        "purge_inputs": purge_inputs,
        "purge_letters": purge_letters,
        "roll_up": roll_up,
        "conditions": _conditions,
        "alerts": look_after_alerts,
        **redrives,
    }
