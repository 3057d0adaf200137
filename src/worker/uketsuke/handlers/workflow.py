"""A Workflow instance comes in: it looks at its job as a delivery of the queue would."""

from __future__ import annotations

from typing import Any

from uketsuke.handlers.queue import work_deliveries
from uketsuke.services.ports import Delivery

QUEUE = "workflow"


async def run_instance(event: Any, env: Any) -> None:
    """Work the job that the instance's payload names; the row says how it went."""
    body = dict(event["payload"])
    delivery = Delivery(id=str(event["instanceId"]), queue=QUEUE, number=1, body=body)
    await work_deliveries([delivery], env)
