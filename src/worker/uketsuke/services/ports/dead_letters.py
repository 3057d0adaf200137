"""What the services need of the store for dead letters and what is done about them."""

from __future__ import annotations

from typing import Protocol

from uketsuke.domain.audit import Act
from uketsuke.domain.dead_letter import DeadLetter
from uketsuke.domain.job import JobKey
from uketsuke.services.ports.platform import Delivery


class DeadLetters(Protocol):
    """The record of what ended badly. A job's own is written with its end; a message's is here.

    (A redrive resolves its letter with the new job's row: see ``NewJob.redriving``.)
    """

    async def bury_message(self, delivery: Delivery, *, code: str, version: int | None) -> None:
        """Record a message that cannot be read, once however often it comes."""
        ...

    async def bury_unknown_job(self, key: JobKey, delivery: Delivery) -> None:
        """Record a message whose job does not exist, once however often it comes."""
        ...

    async def find(self, letter_id: str) -> DeadLetter | None: ...

    async def discard(self, letter_id: str, *, act: Act) -> bool:
        """Discard a letter that is open, with its audit row; False if it is not open."""
        ...
