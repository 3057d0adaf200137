"""A Workflow instance comes in: it works one attempt of one job, or begins a schedule's."""

from __future__ import annotations

from typing import Any

from uketsuke.adapters.cloudflare.workflows import CloudflareSteps
from uketsuke.kinds.registry import KINDS, RUN_LIMITS
from uketsuke.providers.work import run_kind
from uketsuke.services.occurrences import order_in
from uketsuke.services.run import run_instance
from uketsuke.settings import BadSettings
from uketsuke.telemetry import event as tell
from uketsuke.wiring import build_ports, build_providers, consumer_needs


async def handle_instance(event: Any, step: Any, env: Any) -> dict[str, str]:
    """Work the order in the instance's payload; the row says how it went."""
    try:
        ports = build_ports(env, needs=consumer_needs)
        providers = build_providers(env, ports)
    except BadSettings as mistakes:  # the run breaks, and the sweep finds it
        tell("bad_settings", error_code=str(mistakes))
        raise
    steps = CloudflareSteps(step)
    payload = dict(event["payload"])
    order = await order_in(payload, steps=steps, limits=RUN_LIMITS, ports=ports)
    if order is None:
        return {"outcome": "skipped"}
    outcome = await run_instance(
        order,
        lambda attempt: run_kind(attempt, kinds=KINDS, providers=providers, ports=ports),
        steps=steps,
        ports=ports,
    )
    return {"outcome": outcome}
