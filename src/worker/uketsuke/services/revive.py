"""What the queue gave up on: look at the row, and let the job live on or end."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Final

from uketsuke.domain.job import Job, JobKey, SeenJob
from uketsuke.domain.lifecycle import Engine, JobState
from uketsuke.domain.trace import read_traceparent
from uketsuke.services.bury import bury_unknown, bury_unreadable
from uketsuke.services.knock import Done, KnockAgain, Verdict, after_lease
from uketsuke.services.messages import Message, message_for, read_message
from uketsuke.services.ports import Counter, Delivery, Ports, Unavailable
from uketsuke.services.tell import message_of, tell_taken, traced
from uketsuke.settings import BadSettings
from uketsuke.telemetry import EventName, Messaging, event, raised

# The dead-letter queue's own patience: so often does it bring what could not be decided, a hundred
# times (wrangler.consumer.toml). What even that loses, the row's wake-up time brings back.
PATIENCE: Final = timedelta(hours=1)


async def revive_all(
    deliveries: Sequence[Delivery], *, open_ports: Callable[[], Ports]
) -> Mapping[str, Verdict]:
    """Return the verdict on each delivery of a batch, by its id. Never raises.

    Behind this queue there is no other: what was raised here a hundred times would be lost. A
    deployment that is set up wrongly can work no job either, so its messages wait for it.
    """
    try:
        ports = open_ports()
    except BadSettings as mistakes:
        event("bad_settings", error_code=str(mistakes))
    except Exception as error:  # whatever it is, no message must suffer from it
        _tell_unexpected(error)
    else:
        return {delivery.id: await revive(delivery, ports=ports) for delivery in deliveries}
    return {delivery.id: KnockAgain(after=PATIENCE) for delivery in deliveries}


async def revive(delivery: Delivery, *, ports: Ports) -> Verdict:
    """Decide about one message of the dead-letter queue. Never raises, whatever it meets.

    The row decides: a job that ended needs nothing, one that is being worked is looked at again
    after its lease, one with attempts and time left is sent again, one without is ended.
    """
    try:
        return await _decide(delivery, ports=ports)
    except Unavailable:
        event("dead_message_put_off", **message_of(delivery))
    except Exception as error:  # a fault of ours: it may be mended before the patience ends
        _tell_unexpected(error, delivery)
    return KnockAgain(after=PATIENCE)


async def _decide(delivery: Delivery, *, ports: Ports) -> Verdict:
    message = read_message(delivery.body)
    if isinstance(message, Message):  # what it says of its job's kind is only a hint
        return await _revive_job(message.key, delivery, ports=ports)
    await bury_unreadable(delivery, message, ports=ports)
    return Done()


async def _revive_job(key: JobKey, delivery: Delivery, *, ports: Ports) -> Verdict:
    changed = await ports.jobs.take_back([key], given_up=delivery)
    for job in changed:
        tell_taken(job)
    if any(job.terminal for job in changed):
        return Done()
    seen = await ports.jobs.look(key)
    if seen is None:
        await bury_unknown(key, delivery, ports=ports)
    elif seen.job.terminal:
        await _count(Counter.DUPLICATES, seen.job, delivery, ports=ports)
    elif seen.job.state is JobState.RUNNING:
        return _while_running(seen)
    else:
        await ports.queue.send(message_for(seen.job))
        await _count(Counter.REVIVED, seen.job, delivery, ports=ports)
    return Done()


def _while_running(seen: SeenJob) -> Verdict:
    if seen.lease_expired and seen.job.engine is Engine.WORKFLOW:
        return Done()  # a silent run: the sweep asks its instance
    return after_lease(seen)


async def _count(counter: Counter, job: Job, delivery: Delivery, *, ports: Ports) -> None:
    """Tell and count what was done; it is done, whether that can be counted or not."""
    event(
        _COUNTED[counter],
        job_id=job.id,
        tenant_id=job.tenant_id,
        **message_of(delivery),
        **traced(read_traceparent(job.traceparent)),
    )
    try:
        await ports.dead_letters.count(counter)
    except Unavailable:
        return


_COUNTED: Final[Mapping[Counter, EventName]] = {
    Counter.DUPLICATES: "dead_message_outlived",
    Counter.REVIVED: "job_sent_again",
}


def _tell_unexpected(error: Exception, delivery: Delivery | None = None) -> None:
    brought: Messaging = message_of(delivery) if delivery else {}
    event("unexpected_error", **raised(error), **brought)
