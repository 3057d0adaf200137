"""Discard a dead letter: a person has seen it, and its work will not be done."""

from __future__ import annotations

from uketsuke.domain.audit import Act
from uketsuke.domain.dead_letter import DeadLetter
from uketsuke.services.ports import Ports
from uketsuke.services.redrive import AlreadyResolved, drop_strays


async def discard(letter: DeadLetter, *, act: Act, ports: Ports) -> DeadLetter | AlreadyResolved:
    """Discard an open letter with its audit row, and return it as it is then.

    Of a discard and redrives at the same time one happens. Raises ``Unavailable`` if it is not
    known whether it did; the letter tells.
    """
    discarded = await ports.dead_letters.discard(letter.id, act=act)
    now = await ports.dead_letters.find(letter.id) or letter
    if not discarded:
        return AlreadyResolved(letter=now)
    await drop_strays(now, kept=None, ports=ports)
    return now
