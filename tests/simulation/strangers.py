"""Messages that nobody of ours has sent, on the queue and on the dead-letter queue."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from tests.simulation.world import World


@dataclass(slots=True)
class Strangers:
    """Producers that are not ours, and queues that bring what nobody gave up on."""

    world: World
    sent: list[object] = field(default_factory=list)  # what is no job's

    def start(self) -> None:
        for number in range(self.world.profile.garbage):
            self._send_garbage(number)
        for _ in range(self.world.profile.echoes):
            self.world.spawn(self._echo())

    def _send_garbage(self, number: int) -> None:
        rng = self.world.rng
        body = rng.choice(
            (
                "hello",
                [number],
                {"v": 1, "job": "job_" + f"{number:026}", "tenant": "acme", "kind": "summarize"},
                {"v": 9, "future": number},
                {"v": 1, "job": 7},
            )
        )
        queue = rng.choice((self.world.queue, self.world.dead_queue))
        queue.push(body)
        self.sent.append(body)

    async def _echo(self) -> None:
        """Bring a message of a job to the dead-letter queue, whatever its job is doing."""
        world = self.world
        await asyncio.sleep(world.rng.uniform(0, world.profile.heals_at))
        if not world.ledger.rows:
            return
        key = world.rng.choice(list(world.ledger.rows))
        world.trace.count("dlq:echo")
        body = {"v": 1, "job": key.job_id, "tenant": key.tenant_id, "kind": "summarize"}
        world.dead_queue.push(body)
