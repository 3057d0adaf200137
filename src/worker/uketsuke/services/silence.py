"""Runs on Workflows that are not heard of: ask the instance, then settle, wake or end it."""

from __future__ import annotations

from typing import Final

from uketsuke.domain.failure import ErrorClass
from uketsuke.domain.job import SilentRun
from uketsuke.services.messages import message_for
from uketsuke.services.ports import InstanceState, Ports, Unavailable
from uketsuke.services.run import RESULT, order_for, with_result
from uketsuke.services.tell import span_of, tell_found_complete, tell_taken, traced
from uketsuke.telemetry import event

# Woken so often and never heard of since: nobody lives there.
_NUDGES: Final = 2
_PAGE: Final = 100


async def look_after(run: SilentRun, *, ports: Ports) -> None:
    """Find out what became of a silent run, and act on it. Safe to repeat.

    The engine wakes nothing by itself after a restart: an instance that is told to be live is woken
    (which does a healthy one no harm) and one that is missing is made, a few times; then the run
    has crashed. Raises ``Unavailable`` when the platform does not tell.
    """
    state = await _state_of(run, ports=ports)
    if state in _OVER and await _settle_kept(run, ports=ports):
        return
    if run.outlived and state in _BEYOND:
        await _end(run, ErrorClass.STALE, ports=ports)
    elif state is InstanceState.QUEUED and not (_wished(run) or run.overdue):
        await ports.runs.nudge(run, lease=ports.settings.lease, counted=False)
    elif state in _WAKABLE and _may_go_on(run):
        await _wake(run, state, ports=ports)
    else:
        await _end(run, ErrorClass.CRASHED, ports=ports)


# It does nothing more; but it may have done all, and only its last write was lost.
_OVER: Final = frozenset({InstanceState.COMPLETE, InstanceState.BROKEN})
# A run that is live beyond its limit, or that lost its lease there and stopped.
_BEYOND: Final = frozenset({InstanceState.QUEUED, InstanceState.LIVE, InstanceState.COMPLETE})
_WAKABLE: Final = frozenset({InstanceState.LIVE, InstanceState.ABSENT})


async def _state_of(run: SilentRun, *, ports: Ports) -> InstanceState:
    """Ask for the instance's state; a run that must end anyhow does not wait for the answer."""
    try:
        return await ports.workflows.state(run.instance_id)
    except Unavailable:
        if run.outlived or run.overdue or _wished(run):
            return InstanceState.LIVE
        raise


def _wished(run: SilentRun) -> bool:
    return run.job.cancel_requested_at is not None


def _may_go_on(run: SilentRun) -> bool:
    return not (_wished(run) or run.outlived or run.overdue) and run.nudges < _NUDGES


async def _wake(run: SilentRun, state: InstanceState, *, ports: Ports) -> None:
    if state is InstanceState.ABSENT:
        await ports.workflows.create(run.instance_id, order_for(run.job, token=run.token))
    else:
        await ports.workflows.wake(run.instance_id)
    await ports.runs.nudge(run, lease=ports.settings.lease)
    job = run.job
    event(
        "run_nudged",
        job_id=job.id,
        tenant_id=job.tenant_id,
        attempt=job.attempt_no,
        **traced(span_of(job)),
    )


async def _end(run: SilentRun, error_class: ErrorClass, *, ports: Ports) -> None:
    for job in await ports.runs.end_silent([run], error_class=error_class):
        tell_taken(job)
        if not job.terminal:
            await ports.queue.send(message_for(job))


async def _settle_kept(run: SilentRun, *, ports: Ports) -> bool:
    """Write the result that the instance has kept, if there is one, under that attempt's token."""
    kept = await ports.runs.checkpoints(run.job.key)
    found = next((one for one in kept if (one.step, one.digest) == RESULT), None)
    if found is None or found.content is None:
        return False
    if await ports.jobs.settle([with_result(run, found)]):
        tell_found_complete(run.job, now=ports.clock.now())
    return True


async def end_doomed(ports: Ports) -> int:
    """Terminate the instances whose runs are over by the row's word; what fails, comes again."""
    doomed = await ports.runs.doomed(limit=_PAGE)
    ended = []
    for name in doomed:
        try:
            await ports.workflows.terminate(name)
        except Unavailable:
            continue
        ended.append(name)
    if ended:
        await ports.runs.forget_doomed(ended)
    return len(ended)
