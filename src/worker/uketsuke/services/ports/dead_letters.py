"""What the services need of the store for dead letters and what is done about them."""

from __future__ import annotations

from enum import StrEnum
from typing import Protocol

from uketsuke.domain.audit import Act
from uketsuke.domain.dead_letter import DeadLetter
from uketsuke.domain.job import JobKey
from uketsuke.services.ports.platform import Delivery


class Counter(StrEnum):
    """What the dead-letter queue's consumer counts."""

    DUPLICATES = "dlq_duplicates"  # messages of jobs that had ended
    REVIVED = "dlq_revived"  # jobs that were sent again


class DeadLetters(Protocol):
    """The record of what ended badly. A job's own is written with its end; a message's is here.

    (A redrive resolves its letter with the new job's row: see ``NewJob.redriving``.)
    """

    async def bury_message(self, delivery: Delivery, *, code: str, version: int | None) -> None:
        """Record a message that cannot be read, once however often it comes.

        Of its body only the hash and the shape are kept. The record follows the latest delivery; if
        it was discarded it stays so, and that the message came again is counted.
        """
        ...

    async def bury_unknown_job(self, key: JobKey, delivery: Delivery) -> None:
        """Record a message whose job does not exist, in the same way."""
        ...

    async def count(self, counter: Counter) -> None:
        """Count one more."""
        ...

    async def find(self, letter_id: str) -> DeadLetter | None: ...

    async def discard(self, letter_id: str, *, act: Act) -> bool:
        """Discard a letter that is open, with its audit row; False if it is not open."""
        ...
