"""Reckon what is worth an alert, and keep it with the time since it holds."""

from __future__ import annotations

from uketsuke.domain.condition import measures_of
from uketsuke.services.ports import Ports


async def reckon_conditions(ports: Ports) -> int:
    """Return how many conditions began to hold."""
    oldest = await ports.dead_queue.oldest_age(now=ports.clock.now())
    figures = await ports.conditions.figures()
    return await ports.conditions.keep(measures_of(figures, dlq_oldest=oldest))
