"""The cron's tick comes in."""

from __future__ import annotations

from functools import partial
from typing import Any

from uketsuke.kinds.plan import rework
from uketsuke.kinds.registry import KINDS, RUN_LIMITS
from uketsuke.services.sweep import sweep
from uketsuke.settings import BadSettings
from uketsuke.telemetry import event
from uketsuke.wiring import build_ports, consumer_needs


async def handle_tick(env: Any) -> None:
    """Sweep. Ticks may overlap, come late or twice: the duties' leases keep them apart."""
    try:
        ports = build_ports(env, needs=consumer_needs)
    except BadSettings as mistakes:
        event("bad_settings", error_code=str(mistakes))
        return
    planner = partial(rework, kinds=KINDS, settings=ports.settings)
    await sweep(ports, limits=RUN_LIMITS, planner=planner)
