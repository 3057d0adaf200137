"""Sort a batch of messages into those that name a job of ours, and the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from uketsuke.domain.job import JobKey
from uketsuke.services.bury import bury_unknown, bury_unreadable
from uketsuke.services.knock import Done, KnockAgain, Verdict, later
from uketsuke.services.messages import Message, Newer, Undecodable, read_message
from uketsuke.services.ports import Delivery, Ports, Unavailable
from uketsuke.services.tell import tell_taken


@dataclass(frozen=True, slots=True, kw_only=True)
class Readable:
    """A delivery whose message names a job."""

    delivery: Delivery
    key: JobKey


# A rollout may be under way: a newer consumer will take it.
_ROLLOUT_PAUSE = timedelta(minutes=10)
_ROLLOUT_KNOCKS = 6


async def read_deliveries(
    deliveries: Sequence[Delivery], *, kinds: frozenset[str], ports: Ports
) -> tuple[list[Readable], dict[str, Verdict]]:
    """Return the readable deliveries, one a job, and the verdicts on all others."""
    readable: dict[JobKey, Readable] = {}
    verdicts: dict[str, Verdict] = {}
    for delivery in deliveries:
        message = read_message(delivery.body)
        if not isinstance(message, Message) or message.kind not in kinds:
            verdicts[delivery.id] = await _unreadable(delivery, message, ports=ports)
        elif message.key in readable:
            # The queue brought the same job twice: the other delivery carries on for both.
            verdicts[delivery.id] = Done()
        else:
            readable[message.key] = Readable(delivery=delivery, key=message.key)
    return list(readable.values()), verdicts


async def _unreadable(
    delivery: Delivery, message: Message | Newer | Undecodable, *, ports: Ports
) -> Verdict:
    if not isinstance(message, Undecodable) and delivery.number <= _ROLLOUT_KNOCKS:
        return KnockAgain(after=_ROLLOUT_PAUSE)
    try:
        await _bury(delivery, message, ports=ports)
    except Unavailable:
        return later(ports.settings.lease)
    return Done()


async def _bury(
    delivery: Delivery, message: Message | Newer | Undecodable, *, ports: Ports
) -> None:
    match message:
        case Message(key=key, kind=kind):
            job = await ports.jobs.find(key.job_id, tenant_id=key.tenant_id)
            if job is None:
                await bury_unknown(key, delivery, ports=ports)
            elif job.kind == kind:  # the row's word counts: a message is only a hint
                failed = await ports.jobs.fail_hopeless(key, code="kind_unknown")
                if failed is not None:
                    tell_taken(failed)
        case unreadable:
            await bury_unreadable(delivery, unreadable, ports=ports)
