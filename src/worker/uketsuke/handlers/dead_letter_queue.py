"""A batch of what the jobs queue gave up on comes in."""

from __future__ import annotations

from typing import Any

from uketsuke.adapters.cloudflare.queue import answer_batch, read_batch
from uketsuke.services.revive import revive
from uketsuke.wiring import build_ports, consumer_needs


async def handle_dead_batch(batch: Any, env: Any) -> None:
    """Decide about each message, one after another: there is no hurry here."""
    ports = build_ports(env, needs=consumer_needs)
    verdicts = {delivery.id: await revive(delivery, ports=ports) for delivery in read_batch(batch)}
    answer_batch(batch, verdicts)
