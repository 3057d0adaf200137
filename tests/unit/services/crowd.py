"""A crowd of jobs at one model: real kinds and adapter, a queue that knocks, several consumers."""

from __future__ import annotations

import asyncio
import itertools
import json
import math
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from tests.unit.services.world import World
from uketsuke.domain.job import Job
from uketsuke.domain.lane import ProviderName
from uketsuke.kinds.kind import lanes_of
from uketsuke.kinds.registry import KINDS
from uketsuke.providers.calls import Providers
from uketsuke.providers.openai_compatible import OpenAICompatible
from uketsuke.providers.work import run_kind
from uketsuke.services.consume import consume
from uketsuke.services.execute import Attempt, Worker
from uketsuke.services.knock import KnockAgain, Verdict
from uketsuke.services.messages import message_for
from uketsuke.services.ports import Delivery, HttpAnswer, StreamedBody

_deliveries = itertools.count(1)


@dataclass(frozen=True)
class Refusal:
    """How the model turns people away, and until when (virtual seconds)."""

    status: int
    until: float = math.inf
    retry_after: int | None = None
    code: str | None = None


@dataclass
class Model:
    """``services.ports.HttpClient`` at whose other end a model answers, or turns away, or hangs."""

    seconds: float = 1.0
    refusal: Refusal | None = None
    hangs_until: float = 0.0
    calls: list[tuple[float, int]] = field(default_factory=list)  # when, and the status
    keys: list[str] = field(default_factory=list)

    async def post(
        self, url: str, *, headers: Mapping[str, str], body: bytes, timeout: timedelta
    ) -> HttpAnswer:
        now, refusal = asyncio.get_running_loop().time(), self.refusal
        self.keys.append(headers["idempotency-key"])
        if now < self.hangs_until:
            self.calls.append((now, 0))
            await asyncio.sleep(timeout.total_seconds())
            raise TimeoutError
        if refusal is None or now >= refusal.until:
            self.calls.append((now, 200))
            await asyncio.sleep(self.seconds)
            return _answered(url, json.loads(body))
        self.calls.append((now, refusal.status))
        await asyncio.sleep(self.seconds)
        return _refused(refusal)

    async def post_stream(
        self, url: str, *, headers: Mapping[str, str], body: StreamedBody, timeout: timedelta
    ) -> HttpAnswer:
        raise NotImplementedError("nobody here sends a recording")

    @property
    def statuses(self) -> list[int]:
        return [status for _, status in self.calls]

    def busiest(self, seconds: float, *, status: int = 200) -> int:
        """Return how many calls of that status came within the busiest stretch so long."""
        times = [at for at, found in self.calls if found == status]
        return max(sum(1 for at in times if start <= at < start + seconds) for start in times)


def _answered(url: str, asked: Mapping[str, Any]) -> HttpAnswer:
    answer: dict[str, Any] = {"model": "m-1"}
    if url.endswith("embeddings"):
        answer["data"] = [
            {"index": index, "embedding": [1.0, 2.0]} for index, _ in enumerate(asked["input"])
        ]
    else:
        answer["choices"] = [{"finish_reason": "stop", "message": {"content": "Short."}}]
    return HttpAnswer(status=200, headers={}, body=json.dumps(answer).encode())


def _refused(refusal: Refusal) -> HttpAnswer:
    headers = {} if refusal.retry_after is None else {"retry-after": str(refusal.retry_after)}
    body = json.dumps({"error": {"code": refusal.code}}).encode()
    return HttpAnswer(status=refusal.status, headers=headers, body=body)


@dataclass
class SeededDice:
    """``services.ports.Dice`` that draws as real ones do, the same each time."""

    rng: random.Random = field(default_factory=lambda: random.Random(7))

    def draw(self) -> float:
        return self.rng.random()

    def entropy(self, count: int) -> bytes:
        return self.rng.randbytes(count)


def with_real_dice(world: World) -> None:
    """Let the waits of a world differ, as they do outside."""
    world.ports = replace(world.ports, dice=SeededDice())


def worker_at(world: World, model: Model) -> Worker:
    """Return what works an attempt with the product's kinds, at this model."""

    async def work(attempt: Attempt) -> Any:
        providers = _providers(world, model)
        return await run_kind(attempt, kinds=KINDS, providers=providers, ports=world.ports)

    return work


def _providers(world: World, model: Model) -> Providers:
    talking = OpenAICompatible(
        http=model,
        blobs=world.ports.blobs,
        clock=world.ports.clock,
        base_url="http://ai/v1",
        api_key="k",
    )
    return {ProviderName.OPENAI_COMPATIBLE: talking}


async def deliver(
    world: World, model: Model, jobs: Sequence[Job], *, number: int = 1
) -> list[Verdict]:
    """Hand a batch of messages over, and return their verdicts."""
    deliveries = [
        Delivery(id=f"c-{next(_deliveries)}", queue="jobs", number=number, body=message_for(job))
        for job in jobs
    ]
    verdicts = await consume(
        deliveries,
        worker_at(world, model),
        kinds=frozenset(KINDS),
        lanes=lanes_of(KINDS, world.settings),
        ports=world.ports,
    )
    return [verdicts[delivery.id] for delivery in deliveries]


@dataclass
class Crowd:
    """Jobs whose messages several consumers work until none is left."""

    world: World
    model: Model
    batch: int = 10
    consumers: int = 5
    waiting: list[tuple[float, Job, int]] = field(default_factory=list)
    at_work: int = 0

    async def work(self, jobs: Sequence[Job]) -> Counter[str]:
        """Work all of them to their end; return how many ended in each state."""
        self.waiting = [(0.0, job, 1) for job in jobs]
        await asyncio.gather(*(self._consume() for _ in range(self.consumers)))
        return Counter([(await self.world.now(job)).state.value for job in jobs])

    async def _consume(self) -> None:
        while self.waiting or self.at_work:
            batch = self._next_batch()
            if not batch:
                await asyncio.sleep(0.5)
                continue
            self.at_work += 1
            number = max(number for _, _, number in batch)
            jobs = [job for _, job, _ in batch]
            verdicts = await deliver(self.world, self.model, jobs, number=number)
            self.at_work -= 1
            for (_, job, knocked), verdict in zip(batch, verdicts, strict=True):
                if isinstance(verdict, KnockAgain):
                    delay = math.ceil(verdict.after.total_seconds())
                    self.waiting.append((self._now() + delay, job, knocked + 1))

    def _next_batch(self) -> list[tuple[float, Job, int]]:
        now = self._now()
        ready = [one for one in self.waiting if one[0] <= now][: self.batch]
        for one in ready:
            self.waiting.remove(one)
        return ready

    def _now(self) -> float:
        return asyncio.get_running_loop().time()
