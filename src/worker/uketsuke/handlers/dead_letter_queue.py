"""A batch of what the jobs queue gave up on comes in."""

from __future__ import annotations

from typing import Any

from uketsuke.adapters.cloudflare.queue import answer_batch, read_batch
from uketsuke.services.revive import revive_all
from uketsuke.wiring import build_ports, consumer_needs


async def handle_dead_batch(batch: Any, env: Any) -> None:
    """Decide about each message, one after another: there is no hurry here."""
    # What jobs cannot be worked without is needed here, too: one sent again would only come back.
    verdicts = await revive_all(
        read_batch(batch), open_ports=lambda: build_ports(env, needs=consumer_needs)
    )
    answer_batch(batch, verdicts)
