"""The cron's tick comes in."""

from __future__ import annotations

from typing import Any

from uketsuke.kinds.registry import RUN_LIMITS
from uketsuke.services.sweep import sweep
from uketsuke.wiring import CONSUMER_NEEDS, build_ports


async def handle_tick(env: Any) -> None:
    """Sweep. Ticks may overlap, come late or twice: the duties' leases keep them apart."""
    await sweep(build_ports(env, needs=CONSUMER_NEEDS), limits=RUN_LIMITS)
