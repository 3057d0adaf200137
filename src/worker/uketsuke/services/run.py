"""Run a job on a Workflow: start its instance, and what the instance does from begin to end."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, Final, TypeVar

from uketsuke.domain.job import (
    Checkpoint,
    Ending,
    Funds,
    Job,
    JobKey,
    LeasedJob,
    SilentRun,
    Usage,
    instance_id,
)
from uketsuke.domain.lifecycle import JobState, Outcome
from uketsuke.domain.trace import attempt_span
from uketsuke.services.adopt import read_paid, write_paid
from uketsuke.services.execute import (
    Attempt,
    Tally,
    Worker,
    awaiting_budget,
    ending_of,
    execute,
)
from uketsuke.services.leases import LeaseKeeper
from uketsuke.services.messages import message_for
from uketsuke.services.ports import Ports, Steps, Unavailable
from uketsuke.services.settle import Settler
from uketsuke.services.steps import DurableSteps
from uketsuke.services.tell import span_of, tell_end, trace_of, traced
from uketsuke.telemetry import Fields, event

T = TypeVar("T")
ORDER_VERSION: Final = 1
RESULT: Final = ("result", "")  # the checkpoint's step and digest


class RunFailed(Exception):
    """A run ended badly, and its row says so already. The text is our code, for the platform."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What an instance is told: which attempt of which job, and the right to work it."""

    key: JobKey
    attempt: int
    token: str
    traceparent: str | None = None

    @property
    def instance_id(self) -> str:
        return instance_id(self.key.job_id, self.attempt)


def order_for(job: Job, *, token: str) -> Mapping[str, object]:
    """Write the order for a job's present attempt. ``token`` is the lease token, whole or not."""
    return {
        "v": ORDER_VERSION,
        "job": job.id,
        "tenant": job.tenant_id,
        "attempt": job.attempt_no,
        "token": token.removesuffix(f".{job.id}"),
        "traceparent": job.traceparent,
    }


def read_order(payload: Mapping[str, Any]) -> Order:
    """Read an order as ``order_for`` wrote it."""
    return Order(
        key=JobKey(str(payload["tenant"]), str(payload["job"])),
        attempt=int(payload["attempt"]),
        token=str(payload["token"]),
        traceparent=payload.get("traceparent"),  # an order of before has none
    )


async def start_instance(job: Job, *, token: str, ports: Ports) -> bool:
    """Start the instance of a job that is ``running`` already; False if the name is taken.

    A failure is noted and otherwise ignored: the row is durable, and once its lease has expired the
    sweep finds it and starts or fails it.
    """
    name = instance_id(job.id, job.attempt_no)
    limit = ports.settings.intake_send_timeout.total_seconds()
    try:
        async with asyncio.timeout(limit):
            return await ports.workflows.create(name, order_for(job, token=token))
    except (TimeoutError, Unavailable):
        event(
            "start_failed",
            job_id=job.id,
            tenant_id=job.tenant_id,
            attempt=job.attempt_no,
            **traced(span_of(job)),
        )
        return True


async def run_instance(order: Order, work: Worker, *, steps: Steps, ports: Ports) -> str:
    """Work an attempt as its Workflow instance does, and return what became of the job.

    The engine calls this anew after each death; whatever happened before stands in the row and in
    the job's checkpoints. Raises ``RunFailed`` once the row says ``failed``.
    """
    while (began := await _resume(order, ports=ports)) is not None:
        event("run_began", **trace_of(began[0]))
        state = await _live(*began, work, steps=steps, ports=ports)
        if state is JobState.CANCELED:
            await _terminate(order, ports=ports)
        if state is not None:
            return state.value
        # The lease was given up because the database was away; nobody else may have it since.
    event("lease_lost", **_named(order))
    return "lost"


def _named(order: Order) -> Fields:
    """Name an attempt by its order alone: its job's row is another one's by now."""
    tenant_id, job_id = order.key
    span = attempt_span(order.traceparent, job_id=job_id, attempt=order.attempt)
    named = Fields(job_id=job_id, tenant_id=tenant_id, attempt=order.attempt)
    return {**named, **traced(span)}


async def _live(
    leased: LeasedJob, asked_at: float, work: Worker, *, steps: Steps, ports: Ports
) -> JobState | None:
    """Work for as long as the lease holds; None if it was lost, or the end was refused."""
    keeper = LeaseKeeper(jobs=ports.jobs, clock=ports.clock, settings=ports.settings)
    keeper.hold(leased, asked_at=asked_at)
    durable = DurableSteps(leased=leased, steps=steps, keeper=keeper, ports=ports)
    attempt = Attempt(leased=leased, asked_at=asked_at, tally=Tally(), keeper=keeper, steps=durable)
    beating = asyncio.ensure_future(keeper.run())
    try:
        return await _work_and_settle(attempt, durable, work, ports=ports)
    finally:
        beating.cancel()


async def _resume(order: Order, *, ports: Ports) -> tuple[LeasedJob, float] | None:
    """Go on under the order's token; return when that was asked, too (monotonic seconds)."""

    async def ask() -> tuple[LeasedJob, float] | None:
        asked_at = ports.clock.monotonic()  # of the ask that is answered: others may have hung
        lease = ports.settings.lease
        leased = await ports.runs.resume(order.key, token=order.token, lease=lease)
        return None if leased is None else (leased, asked_at)

    return await _patiently(ask)


async def _patiently(ask: Callable[[], Awaitable[T]]) -> T:
    """Ask the store a few times: a run that would break for one lost answer costs an attempt."""
    for pause in _PAUSES:
        try:
            return await ask()
        except Unavailable:
            await asyncio.sleep(pause)
    return await ask()


async def _work_and_settle(
    attempt: Attempt, durable: DurableSteps, work: Worker, *, ports: Ports
) -> JobState | None:
    await _patiently(durable.load)
    ending = await _adopted(attempt, durable) or _no_room(attempt.leased)
    attempt.tally.lost_calls = durable.lost_before()
    attempt.tally.usage = durable.paid_before()
    ending = ending or await execute(attempt, work, ports=ports)
    if ending is None:
        return None
    ending = _with_lost_calls(ending, attempt)
    if ending.state is JobState.SUCCEEDED:
        await _keep_result(ending, ports=ports)
    ended_at = attempt.database_time(now=ports.clock.monotonic())
    settler = Settler(jobs=ports.jobs, clock=ports.clock, settings=ports.settings)
    state = await settler.settle(ending, until=attempt.keeper.let_end(ending.key))
    if state is None:
        return None
    tell_end(attempt.leased, ending, state, ended_at=ended_at)
    if state is JobState.RETRYING:
        await _knock_again(attempt.leased.job, ending.wait, ports=ports)
    if state is JobState.FAILED:
        raise RunFailed(ending.failure.code if ending.failure else "unexpected")
    return state


def _no_room(leased: LeasedJob) -> Ending | None:
    """Let a run wait that has found what it needs reserved by others."""
    return awaiting_budget(leased) if leased.funds is Funds.RESERVED else None


def _with_lost_calls(ending: Ending, attempt: Attempt) -> Ending:
    """Count what earlier lives may have paid for, if this one has called nobody since.

    One that succeeds so had no call to make again: whatever was in doubt before a step succeeded
    was kept with it.
    """
    lost, leased = attempt.tally.lost_calls, attempt.leased
    if not lost or ending.state is JobState.SUCCEEDED:
        return ending
    calls = leased.job.expected.calls if leased.job.expected else 1
    reserved, used = leased.reserved_micros or 0, ending.usage or Usage()
    one_call = -(-reserved // calls)
    # They have made no call for which there was nothing reserved.
    left = max(0, reserved - (used.charged_micros or 0))
    in_doubt = Usage(unknown_calls=lost, charged_micros=min(lost * one_call, left))
    return replace(ending, usage=used.plus(in_doubt))


async def _adopted(attempt: Attempt, durable: DurableSteps) -> Ending | None:
    """Take over the result of an earlier life or attempt whose end was never written."""
    kept = durable.kept.get(RESULT)
    if kept is None or kept.content is None:
        return None
    return with_result(attempt.leased, kept)


def with_result(held: LeasedJob | SilentRun, kept: Checkpoint) -> Ending:
    """Return the ending of an attempt whose result was kept before, by it or by an earlier one."""
    paid = read_paid(kept.content or "", attempt=held.job.attempt_no)
    done = ending_of(held, JobState.SUCCEEDED, Outcome.SUCCEEDED)
    # What an earlier attempt has paid for is in its own row: its steps were kept.
    usage = paid.usage if kept.attempt == held.job.attempt_no else None
    return replace(done, result=paid.place, result_text=paid.text, usage=usage)


async def _keep_result(ending: Ending, *, ports: Ports) -> None:
    """Note the result before the row is told: should that fail, the sweep settles it from here."""
    step, digest = RESULT
    checkpoint = Checkpoint(
        step=step, digest=digest, attempt=ending.attempt, content=json.dumps(write_paid(ending))
    )
    try:
        await ports.runs.keep(ending.key, checkpoint)
    except Unavailable:
        event("paid_result_lost", tenant_id=ending.key.tenant_id, job_id=ending.key.job_id)


async def _knock_again(job: Job, wait: timedelta, *, ports: Ports) -> None:
    """Tell the queue when to look at the job; after a longer wait the sweep does."""
    if wait > ports.settings.longest_knock:
        return
    try:
        await ports.queue.send(message_for(job), delay=wait)
    except Unavailable:
        event("send_failed", job_id=job.id, tenant_id=job.tenant_id)


async def _terminate(order: Order, *, ports: Ports) -> None:
    """End the own instance, so that the platform shows a canceled run as what it is."""
    try:
        await ports.workflows.terminate(order.instance_id)
    except Unavailable:
        event("terminate_failed", **_named(order))


_PAUSES: Final = (0.5, 2, 5, 10)
