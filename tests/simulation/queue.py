"""A queue as the platform's: at least once, in no order, late, and with a dead-letter queue.

A handler that dies or throws has its whole batch delivered again; otherwise each message gets its
own verdict. (platform documentation: Queues, delivery guarantees and retries.)
"""

from __future__ import annotations

import asyncio
import json
import math
import random
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from contextvars import Context
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from tests.simulation.isolate import Isolate
from tests.simulation.profile import QueueHabits
from tests.simulation.provider import SECRET
from tests.simulation.trace import Trace, name_of
from tests.simulation.wire import Wire
from uketsuke.services.knock import KnockAgain, Verdict
from uketsuke.services.ports import Delivery

_LONGEST_DELAY = 86_400
_MESSAGE_BYTES = 1_000

Handler = Callable[[Sequence[Delivery]], Awaitable[Mapping[str, Verdict] | None]]


@dataclass(slots=True, eq=False)
class _Message:
    id: str
    body: object
    ready_at: float
    deliveries: int = 0


@dataclass(slots=True)
class VirtualQueue:
    """``handler`` returns the verdicts, or None if it died or threw."""

    name: str
    rng: random.Random
    trace: Trace
    world: Context
    habits: QueueHabits
    spawn: Callable[[Coroutine[Any, Any, None]], None]
    retry_delay: float = 0.0
    max_retries: int = 100
    dead_letters: VirtualQueue | None = None
    handler: Handler | None = None
    calm: bool = False
    waiting: list[_Message] = field(default_factory=list)
    busy: int = 0
    _sent: int = 0

    def push(self, body: object, *, delay: float = 0.0) -> None:
        """Take a message in; perhaps it will come twice."""
        self._check(body)
        self._sent += 1
        copies = 1 if self.calm or self.rng.random() >= self.habits.duplicate else 2
        for copy in range(copies):
            late = 0.0 if self.calm else self.rng.random() * self.habits.longest_delay
            if copy:
                late += self.rng.uniform(0, 90)
                self.trace.count("queue:duplicate")
            self._put(_Message(f"{self.name}-{self._sent}", body, self._now() + delay + late))

    def _check(self, body: object) -> None:
        text = json.dumps(body)
        self.trace.require(SECRET not in text, "no-content-in-messages", text)
        self.trace.require(len(text) < _MESSAGE_BYTES, "messages-are-small", text)

    def _now(self) -> float:
        return asyncio.get_running_loop().time()

    def _put(self, message: _Message) -> None:
        self.waiting.append(message)
        self.look(max(message.ready_at - self._now(), 0.0))

    def look(self, after: float = 0.0) -> None:
        """See to it that what is ready is delivered, with whatever has gathered by then."""
        now, gathering = self._now(), 0.001 if self.calm else self.habits.gathering
        when = math.ceil((now + after) / gathering) * gathering
        asyncio.get_running_loop().call_later(when - now + 0.001, self._deliver, context=self.world)

    def _deliver(self) -> None:
        opens = self._opens_at()
        if opens is not None:
            self.look(opens - self._now())
            return
        consumers = 5 if self.calm else self.habits.consumers
        while self.busy < consumers and (batch := self._next_batch()):
            self.busy += 1
            self.spawn(self._hand_over(batch))

    def _opens_at(self) -> float | None:
        for start, end in self.habits.closed:
            if start <= self._now() < end and not self.calm:
                return end
        return None

    def _next_batch(self) -> list[_Message]:
        ready = [message for message in self.waiting if message.ready_at <= self._now()]
        self.rng.shuffle(ready)
        batch: dict[str, _Message] = {}
        for message in ready:
            if len(batch) < self.habits.batch:
                batch.setdefault(message.id, message)
        for message in batch.values():
            self.waiting.remove(message)
        return list(batch.values())

    async def _hand_over(self, batch: Sequence[_Message]) -> None:
        for message in batch:
            message.deliveries += 1
        deliveries = [
            Delivery(id=m.id, queue=self.name, number=m.deliveries, body=m.body) for m in batch
        ]
        self.trace.note(f"{self.name} delivers {', '.join(map(_label, deliveries))}")
        assert self.handler is not None
        verdicts = await self.handler(deliveries)
        self.busy -= 1
        for message in batch:
            self._take(message, None if verdicts is None else verdicts[message.id], verdicts)
        self.look()

    def _take(
        self, message: _Message, verdict: Verdict | None, verdicts: Mapping[str, Verdict] | None
    ) -> None:
        if verdicts is None:
            self._again(message, self.retry_delay)
        elif isinstance(verdict, KnockAgain):
            self._again(message, min(math.ceil(verdict.after.total_seconds()), _LONGEST_DELAY))

    def _again(self, message: _Message, delay: float) -> None:
        if message.deliveries <= self.max_retries:
            message.ready_at = self._now() + delay
            self._put(message)
        elif self.dead_letters is not None:
            self.trace.note(f"{self.name} gives up {message.id}")
            self.trace.count("queue:dlq")
            self.dead_letters.push(message.body)


@dataclass(slots=True)
class QueuePort:
    """``services.ports.JobQueue`` in one isolate."""

    queue: VirtualQueue
    wire: Wire
    isolate: Isolate

    async def send(self, body: Mapping[str, object], *, delay: timedelta = timedelta()) -> None:
        await self.wire.call(
            "send",
            lambda: self.queue.push(dict(body), delay=delay.total_seconds()),
            isolate=self.isolate,
        )

    async def send_many(self, bodies: Sequence[Mapping[str, object]]) -> None:
        def push_all() -> None:
            for body in bodies:
                self.queue.push(dict(body))

        await self.wire.call("send_many", push_all, isolate=self.isolate)

    async def backlog(self) -> int | None:
        return len(self.queue.waiting)

    async def oldest_age(self, *, now: datetime) -> timedelta | None:
        return None  # nobody tells


def _label(delivery: Delivery) -> str:
    body = delivery.body
    job = name_of(str(body.get("job"))) if isinstance(body, Mapping) else "garbage"
    return f"{delivery.id}#{delivery.number}({job})"
