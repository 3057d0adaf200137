"""A batch of the jobs queue comes in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, Final

from uketsuke.adapters.cloudflare.queue import answer_batch, read_batch
from uketsuke.kinds.kind import lanes_of
from uketsuke.kinds.registry import KINDS
from uketsuke.providers.work import run_kind
from uketsuke.services.consume import consume
from uketsuke.services.knock import KnockAgain, Verdict
from uketsuke.services.ports import Delivery
from uketsuke.settings import BadSettings
from uketsuke.telemetry import event
from uketsuke.wiring import build_ports, build_providers, consumer_needs

_UNTIL_SET_UP: Final = timedelta(minutes=1)


async def handle_batch(batch: Any, env: Any) -> None:
    """Work the batch; each message gets its own verdict."""
    answer_batch(batch, await work_deliveries(read_batch(batch), env))


async def work_deliveries(deliveries: Sequence[Delivery], env: Any) -> Mapping[str, Verdict]:
    """Work what the deliveries point at with the deployment's kinds and providers.

    A deployment that is set up wrongly works nothing: its messages wait for it, and should the
    queue give them up, the rows' wake-up times bring new ones.
    """
    try:
        ports = build_ports(env, needs=consumer_needs)
        providers = build_providers(env, ports)
    except BadSettings as mistakes:
        event("bad_settings", error_code=str(mistakes))
        return {delivery.id: KnockAgain(after=_UNTIL_SET_UP) for delivery in deliveries}
    return await consume(
        deliveries,
        lambda attempt: run_kind(attempt, kinds=KINDS, providers=providers, ports=ports),
        kinds=frozenset(KINDS),
        lanes=lanes_of(KINDS, ports.settings),
        ports=ports,
    )
