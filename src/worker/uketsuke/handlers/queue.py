"""A batch of the jobs queue comes in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from uketsuke.adapters.cloudflare.queue import answer_batch, read_batch
from uketsuke.kinds.kind import lanes_of
from uketsuke.kinds.registry import KINDS
from uketsuke.providers.work import run_kind
from uketsuke.services.consume import consume
from uketsuke.services.knock import Verdict
from uketsuke.services.ports import Delivery
from uketsuke.wiring import build_ports, build_providers, consumer_needs


async def handle_batch(batch: Any, env: Any) -> None:
    """Work the batch; each message gets its own verdict."""
    answer_batch(batch, await work_deliveries(read_batch(batch), env))


async def work_deliveries(deliveries: Sequence[Delivery], env: Any) -> Mapping[str, Verdict]:
    """Work what the deliveries point at with the deployment's kinds and providers."""
    ports = build_ports(env, needs=consumer_needs)
    providers = build_providers(env, ports)
    return await consume(
        deliveries,
        lambda attempt: run_kind(attempt, kinds=KINDS, providers=providers, ports=ports),
        kinds=frozenset(KINDS),
        lanes=lanes_of(KINDS, ports.settings),
        ports=ports,
    )
