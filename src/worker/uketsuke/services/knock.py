"""What a message is told: that it is done with, or when to knock again."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from uketsuke.domain.job import Funds, JobKey, SeenJob
from uketsuke.domain.lifecycle import WAITING, Engine, JobState
from uketsuke.services.bury import bury_unknown
from uketsuke.services.ports import Delivery, Ports, Unavailable
from uketsuke.services.tell import tell_taken


@dataclass(frozen=True, slots=True)
class Done:
    """Nobody needs this message any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnockAgain:
    """Bring the message again after a while."""

    after: timedelta


Verdict = Done | KnockAgain

# A queue gives a message up after its max_retries (100): long before, the row's wake-up time
# takes over, and the sweep sends a fresh message.
LAST_DELIVERY = 50
# A job that waits for what others have reserved is looked at again after this long.
BUDGET_WAIT = timedelta(seconds=15)
_SOON = timedelta(seconds=1)


def later(after: timedelta = _SOON) -> KnockAgain:
    """Bring it again, not at once: a busy loop between queue and consumer helps nobody."""
    return KnockAgain(after=max(after, _SOON))


def at_most(verdict: Verdict, delivery: Delivery) -> Verdict:
    """Let go of a message that has knocked too often; its job's row will be woken."""
    return Done() if delivery.number >= LAST_DELIVERY else verdict


def after_lease(seen: SeenJob) -> KnockAgain:
    """Bring it again when what is left of the job's lease is over."""
    return later(_just_after(seen.lease_ends_in))


async def verdict_for(
    key: JobKey, delivery: Delivery, seen: SeenJob | None, *, ports: Ports
) -> Verdict:
    """Decide about a message whose job was not leased. ``seen`` None: there is no such job."""
    try:
        if seen is None:
            await bury_unknown(key, delivery, ports=ports)
            return Done()
        if seen.job.terminal:
            return Done()
        if seen.job.state is JobState.RUNNING and not seen.lease_expired:
            return after_lease(seen)
        if seen.lease_expired and seen.job.engine is Engine.WORKFLOW:
            return later(ports.settings.lease)  # the sweep asks its instance
        if seen.overdue or seen.lease_expired:
            return await _take_back(key, ports=ports)
        if seen.funds is not None and seen.due_in <= timedelta():
            return await _heed_budget(seen, ports=ports)
    except Unavailable:
        return later(ports.settings.lease)
    return _until_due(seen, ports=ports)


async def _heed_budget(seen: SeenJob, *, ports: Ports) -> Verdict:
    """Fail a job that its budget can never allow; let it wait for what others have reserved."""
    key = seen.job.key
    if seen.funds is Funds.RESERVED:
        await ports.costs.await_budget(key, wait=BUDGET_WAIT)
        return later(BUDGET_WAIT)
    failed = await ports.costs.fail_over_budget(key)
    if failed is None:  # it is allowed by now, or somebody else was quicker
        return later()
    tell_taken(failed)
    return Done()


async def _take_back(key: JobKey, *, ports: Ports) -> Verdict:
    """End what nothing can lease any more: its time is over, or its attempts are spent."""
    changed = await ports.jobs.take_back([key])
    for job in changed:
        tell_taken(job)
    return Done() if changed and changed[0].terminal else later()


def _until_due(seen: SeenJob, *, ports: Ports) -> Verdict:
    if seen.job.state in WAITING and seen.due_in > ports.settings.longest_knock:
        return Done()  # the sweep sends a new message when it is due
    return later(_just_after(seen.due_in))


def _just_after(wait: timedelta | None) -> timedelta:
    return (wait or timedelta()) + _SOON
