"""The consumer Worker's entry: queues, cron and Workflows. No logic here."""

from __future__ import annotations

import sys
from typing import Any

from workers import WorkerEntrypoint, WorkflowEntrypoint

from uketsuke.handlers.dead_letter_queue import handle_dead_batch
from uketsuke.handlers.queue import handle_batch
from uketsuke.handlers.scheduled import handle_tick
from uketsuke.handlers.workflow import handle_instance

# The platform stores and shows the whole text of what a run raises. Ours is a code of a few
# letters; the places in our source do not belong there.
sys.tracebacklimit = 0

DEAD_LETTER_QUEUE = "uketsuke-jobs-dlq"


class Default(WorkerEntrypoint):
    # The runtime calls both with three arguments, and passes nothing in the last two.
    async def queue(self, batch: Any, env: Any = None, ctx: Any = None) -> None:
        handle = handle_dead_batch if batch.queue == DEAD_LETTER_QUEUE else handle_batch
        await handle(batch, self.env)

    async def scheduled(self, controller: Any, env: Any = None, ctx: Any = None) -> None:
        await handle_tick(self.env)


class JobWorkflow(WorkflowEntrypoint):
    async def run(self, event: Any, step: Any) -> dict[str, str]:
        return await handle_instance(event, step, self.env)
