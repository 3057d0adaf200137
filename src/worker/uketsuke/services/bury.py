"""Record a message that leads to no job, so that a person may find it, and tell of it."""

from __future__ import annotations

from uketsuke.domain.job import JobKey
from uketsuke.services.messages import Newer, Undecodable
from uketsuke.services.ports import Delivery, Ports
from uketsuke.services.tell import tell_buried


async def bury_unreadable(
    delivery: Delivery, message: Newer | Undecodable, *, ports: Ports
) -> None:
    """Record a message that is not ours, or not yet."""
    version = message.version if isinstance(message, Newer) else None
    code = "body_undecodable" if version is None else "schema_newer"
    await ports.dead_letters.bury_message(delivery, code=code, version=version)
    tell_buried(delivery, code=code)


async def bury_unknown(key: JobKey, delivery: Delivery, *, ports: Ports) -> None:
    """Record a message whose job does not exist."""
    await ports.dead_letters.bury_unknown_job(key, delivery)
    tell_buried(delivery, code="job_unknown")
