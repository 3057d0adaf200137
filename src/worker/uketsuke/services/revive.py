"""What the queue gave up on: look at the row, and let the job live on or end."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from uketsuke.domain.job import JobKey
from uketsuke.domain.lifecycle import JobState
from uketsuke.services.knock import Done, KnockAgain, Verdict, later
from uketsuke.services.messages import Message, Newer, message_for, read_message
from uketsuke.services.ports import Delivery, Ports, Unavailable
from uketsuke.services.tell import tell_buried, tell_taken

# The dead-letter queue's own patience: a hundred times, an hour apart.
_WHEN_AWAY: Final = timedelta(hours=1)


async def revive(delivery: Delivery, *, ports: Ports) -> Verdict:
    """Decide about one message of the dead-letter queue. Never raises for what it met.

    The row decides: a job that ended needs nothing, one that is being worked is looked at again
    after its lease, one with attempts and time left is sent again, one without is ended.
    """
    try:
        match read_message(delivery.body):
            case Message(key=key):
                return await _revive_job(key, delivery, ports=ports)
            case Newer(version=version):
                await ports.dead_letters.bury_message(
                    delivery, code="schema_newer", version=version
                )
                tell_buried(delivery, code="schema_newer")
            case _:
                await ports.dead_letters.bury_message(
                    delivery, code="body_undecodable", version=None
                )
                tell_buried(delivery, code="body_undecodable")
    except Unavailable:
        return KnockAgain(after=_WHEN_AWAY)
    return Done()


async def _revive_job(key: JobKey, delivery: Delivery, *, ports: Ports) -> Verdict:
    for taken in await ports.jobs.take_back([key], given_up=delivery):
        tell_taken(taken)
    job = await ports.jobs.find(key.job_id, tenant_id=key.tenant_id)
    if job is None:
        await ports.dead_letters.bury_unknown_job(key, delivery)
        tell_buried(delivery, code="job_unknown")
    elif job.state is JobState.RUNNING:
        return later(ports.settings.lease)
    elif not job.terminal:
        await ports.queue.send(message_for(job))
    return Done()
