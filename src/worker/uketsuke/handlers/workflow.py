"""A Workflow instance comes in: it works one attempt of one job."""

from __future__ import annotations

from typing import Any

from uketsuke.adapters.cloudflare.workflows import CloudflareSteps
from uketsuke.kinds.registry import KINDS
from uketsuke.providers.work import run_kind
from uketsuke.services.run import read_order, run_instance
from uketsuke.wiring import CONSUMER_NEEDS, build_ports, build_provider


async def handle_instance(event: Any, step: Any, env: Any) -> dict[str, str]:
    """Work the order in the instance's payload; the row says how it went."""
    ports = build_ports(env, needs=CONSUMER_NEEDS)
    provider = build_provider(ports)
    outcome = await run_instance(
        read_order(dict(event["payload"])),
        lambda attempt: run_kind(attempt, kinds=KINDS, provider=provider, ports=ports),
        steps=CloudflareSteps(step),
        ports=ports,
    )
    return {"outcome": outcome}
