"""The cron's tick comes in."""

from __future__ import annotations

from typing import Any

from uketsuke.kinds.registry import RUN_LIMITS
from uketsuke.services.sweep import sweep
from uketsuke.wiring import build_ports, consumer_needs


async def handle_tick(env: Any) -> None:
    """Sweep. Ticks may overlap, come late or twice: the duties' leases keep them apart."""
    await sweep(build_ports(env, needs=consumer_needs), limits=RUN_LIMITS)
