"""Reckon what is worth an alert, and keep it with the time since it holds."""

from __future__ import annotations

from uketsuke.domain.condition import measures_of
from uketsuke.domain.objective import bounds_of
from uketsuke.services.ports import Ports


async def reckon_conditions(ports: Ports) -> int:
    """Return how many conditions began to hold."""
    bounds = bounds_of(ports.settings.objectives)
    oldest = await ports.dead_queue.oldest_age(now=ports.clock.now())
    figures = await ports.conditions.figures()
    measures = measures_of(figures, dlq_oldest=oldest, bounds=bounds)
    return await ports.conditions.keep(measures)
