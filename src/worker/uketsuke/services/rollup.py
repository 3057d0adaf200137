"""Keep figures over time: add to the points what happened since they were rolled up last."""

from __future__ import annotations

from typing import Final

from uketsuke.domain.rollup import Gauges, QueueFigures, roll, skew
from uketsuke.services.ports import Ports, WatchedQueue

JOBS_QUEUE: Final = "uketsuke-jobs"
DEAD_LETTER_QUEUE: Final = "uketsuke-jobs-dlq"


async def roll_up(ports: Ports) -> int:
    """Return 0: that it was done says nothing by itself. Safe to repeat, and beside another.

    If another one stored meanwhile, that one has added what there was.
    """
    queues = {
        JOBS_QUEUE: await _ask(ports.live_queue, ports),
        DEAD_LETTER_QUEUE: await _ask(ports.dead_queue, ports),
    }
    before = ports.clock.now()
    reading, points = await ports.metrics.read()
    ahead = skew(reading.at, before=before, after=ports.clock.now())
    assert reading.backlog is not None
    gauges = Gauges(backlog=reading.backlog, clock_skew=ahead, queues=queues)
    rolled, changed = roll(reading, points, gauges=gauges)
    await ports.metrics.store(rolled, changed)
    return 0


async def _ask(queue: WatchedQueue, ports: Ports) -> QueueFigures:
    oldest = await queue.oldest_age(now=ports.clock.now())
    return QueueFigures(backlog=await queue.backlog(), oldest=oldest)
