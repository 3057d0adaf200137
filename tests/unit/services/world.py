"""A world for the services' own tests: the real SQL, virtual time, and ports that fail on order."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Collection, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from tests.simulation.loop import VirtualLoop, run
from tests.support.sqlite import SqliteDatabase, connect
from tests.support.workflows import MemoryWorkflows
from uketsuke.adapters.sql.alerts import SqlAlerts
from uketsuke.adapters.sql.audit import SqlAudit
from uketsuke.adapters.sql.conditions import SqlConditions
from uketsuke.adapters.sql.costs import SqlCosts
from uketsuke.adapters.sql.database import Row, Statement
from uketsuke.adapters.sql.dead_letters import SqlDeadLetters
from uketsuke.adapters.sql.doctor import SqlDoctor
from uketsuke.adapters.sql.doctor_check import patience_of
from uketsuke.adapters.sql.inputs import SqlInputs
from uketsuke.adapters.sql.keys import SqlKeys
from uketsuke.adapters.sql.lanes import SqlLanes
from uketsuke.adapters.sql.letter_terms import Ages
from uketsuke.adapters.sql.listing import SqlListing
from uketsuke.adapters.sql.metrics import SqlMetrics
from uketsuke.adapters.sql.money_and_lanes import SqlMoneyAndLanes
from uketsuke.adapters.sql.occurrences import SqlOccurrences
from uketsuke.adapters.sql.purging import SqlPurging
from uketsuke.adapters.sql.redrives import SqlRedrives
from uketsuke.adapters.sql.repository import Retention, SqlJobs
from uketsuke.adapters.sql.runs import SqlRuns
from uketsuke.adapters.sql.schedules import SqlSchedules
from uketsuke.adapters.sql.sweeping import SqlSweeping
from uketsuke.adapters.sql.triage import SqlTriage
from uketsuke.domain.alert import DeliveryFault
from uketsuke.domain.job import InputForm, Job, Usage
from uketsuke.domain.lane import Capability
from uketsuke.domain.lifecycle import Engine
from uketsuke.services.consume import consume
from uketsuke.services.execute import Attempt, Worker
from uketsuke.services.knock import Verdict
from uketsuke.services.messages import message_for
from uketsuke.services.ports import (
    AcceptedNew,
    Delivery,
    Ports,
    StoredStream,
    TooLarge,
    Unavailable,
)
from uketsuke.services.submit import Submission, submit
from uketsuke.settings import Settings

T = TypeVar("T")
START = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)
KINDS = frozenset({"summarize", "embed", "transcribe", "report"})
_deliveries = itertools.count(1)


@dataclass
class FlakyDatabase:
    """SQLite that is away, or loses its answer, at statements that match, as often as told."""

    inner: SqliteDatabase
    failing: list[tuple[str, str]] = field(default_factory=list)
    calls: int = 0

    async def batch(self, statements: Sequence[Statement]) -> Sequence[Sequence[Row]]:
        self.calls += 1
        await asyncio.sleep(0.001)
        how = self._next_failure(statements)
        if how == "before":
            raise Unavailable
        answers = self.inner.run(statements)
        if how == "after":
            raise Unavailable
        return answers

    def _next_failure(self, statements: Sequence[Statement]) -> str | None:
        for position, (part, how) in enumerate(self.failing):
            if any(part in statement.sql for statement in statements):
                del self.failing[position]
                return how
        return None


@dataclass
class MemoryBlobs:
    """Objects in a dictionary."""

    kept: dict[str, bytes] = field(default_factory=dict)
    away: bool = False

    def _look(self) -> None:
        if self.away:
            raise Unavailable

    async def put(self, key: str, content: bytes, *, content_type: str) -> None:
        self._look()
        self.kept[key] = content

    async def put_stream(
        self, key: str, stream: object, *, limit: int, content_type: str
    ) -> StoredStream:
        assert isinstance(stream, bytes)
        if len(stream) > limit:
            raise TooLarge
        await self.put(key, stream, content_type=content_type)
        return StoredStream(bytes=len(stream), sha256="0" * 64)

    async def get(self, key: str) -> bytes | None:
        self._look()
        return self.kept.get(key)

    async def part(self, key: str, *, offset: int, length: int) -> bytes | None:
        content = await self.get(key)
        return None if content is None else content[offset : offset + length]

    async def stream(self, key: str, *, offset: int = 0) -> object | None:
        content = await self.get(key)
        return None if content is None else content[offset:]

    async def names(self, prefix: str) -> Sequence[str]:
        self._look()
        return [key for key in self.kept if key.startswith(prefix)]

    async def delete(self, keys: Collection[str]) -> None:
        self._look()
        for key in keys:
            self.kept.pop(key, None)


@dataclass
class NotingQueue:
    """A queue that notes what was sent; it may hang, or be away."""

    sent: list[Mapping[str, object]] = field(default_factory=list)
    away: bool = False
    hangs: bool = False
    waiting: int | None = None

    async def send(self, body: Mapping[str, object], *, delay: timedelta = timedelta()) -> None:
        await self.send_many([body])

    async def send_many(self, bodies: Sequence[Mapping[str, object]]) -> None:
        if self.hangs:
            await asyncio.get_running_loop().create_future()
        if self.away:
            raise Unavailable
        self.sent += bodies

    async def backlog(self) -> int | None:
        return self.waiting


@dataclass
class AgingQueue:
    """A queue whose oldest message is as old as a test says."""

    age: timedelta | None = field(default_factory=timedelta)
    waiting: int | None = 0

    async def oldest_age(self, *, now: datetime) -> timedelta | None:
        return self.age

    async def backlog(self) -> int | None:
        return self.waiting


@dataclass
class NotingReceiver:
    """Whoever is told of alerts; it fails as often as told, or dies with whoever speaks to it."""

    heard: list[Mapping[str, Any]] = field(default_factory=list)
    faults: list[DeliveryFault | Exception] = field(default_factory=list)

    async def tell(self, message: Mapping[str, object]) -> DeliveryFault | None:
        fault = self.faults.pop(0) if self.faults else None
        if isinstance(fault, DeliveryFault):
            return fault
        self.heard.append(message)
        if fault is not None:
            raise fault
        return None


@dataclass
class LoopClock:
    loop: VirtualLoop

    def now(self) -> datetime:
        return START + timedelta(seconds=self.loop.time())

    def monotonic(self) -> float:
        return self.loop.time()


@dataclass
class CountingDice:
    number: int = 0

    def draw(self) -> float:
        return 0.5

    def entropy(self, count: int) -> bytes:
        self.number += 1
        return self.number.to_bytes(count)


class World:
    """One deployment in virtual time."""

    def __init__(self, **settings: Any) -> None:
        self.loop = VirtualLoop()
        start_ms = START.timestamp() * 1000
        # How far the database's clock is ahead of everybody's.
        self.ahead = timedelta()
        self.connection = connect(
            lambda: start_ms + (self.loop.time() + self.ahead.total_seconds()) * 1000
        )
        self.database = FlakyDatabase(SqliteDatabase(self.connection))
        self.blobs = MemoryBlobs()
        self.queue = NotingQueue()
        self.live_queue = AgingQueue()
        self.dead_queue = AgingQueue()
        self.workflows = MemoryWorkflows()
        self.receiver = NotingReceiver()
        self.settings = replace(Settings(key_hash_secret=b"s"), **settings)
        retention = Retention(
            keep_results=self.settings.keep_results,
            triage_within=self.settings.triage_within,
            grace=self.settings.first_wake,
            lease=self.settings.lease,
            longest_knock=self.settings.longest_knock,
        )
        ages = Ages.of(
            keep_inputs=self.settings.keep_inputs,
            keep_results=self.settings.keep_results,
            expiring_within=self.settings.expiring_within,
        )
        tariff = self.settings.tariff({"summarize": {Capability.CHAT}})
        self.ports = Ports(
            settings=self.settings,
            jobs=SqlJobs(self.database, retention, tariff),
            listing=SqlListing(self.database),
            sweeping=SqlSweeping(self.database, retention),
            runs=SqlRuns(self.database, retention, tariff),
            costs=SqlCosts(self.database, retention, tariff),
            lanes=SqlLanes(self.database, retention),
            purging=SqlPurging(self.database),
            inputs=SqlInputs(self.database),
            schedules=SqlSchedules(
                self.database,
                keep_inputs=self.settings.keep_inputs,
                keep_results=self.settings.keep_results,
            ),
            occurrences=SqlOccurrences(self.database),
            dead_letters=SqlDeadLetters(self.database, triage_within=self.settings.triage_within),
            triage=SqlTriage(self.database, ages),
            conditions=SqlConditions(self.database, ages),
            money_and_lanes=SqlMoneyAndLanes(
                self.database, daily_budget_micros=self.settings.daily_budget_micros
            ),
            alerts=SqlAlerts(self.database),
            receiver=self.receiver if self.settings.alert_webhook_url else None,
            doctor=SqlDoctor(self.database, patience_of(self.settings, retention)),
            audit=SqlAudit(self.database),
            redrives=SqlRedrives(self.database, tariff),
            metrics=SqlMetrics(self.database),
            keys=SqlKeys(self.database),
            blobs=self.blobs,
            queue=self.queue,
            live_queue=self.live_queue,
            dead_queue=self.dead_queue,
            workflows=self.workflows,
            clock=LoopClock(self.loop),
            dice=CountingDice(),
        )

    def run(self, main: Coroutine[Any, Any, T]) -> T:
        return run(main, loop=self.loop)

    def close(self) -> None:
        while left := asyncio.all_tasks(self.loop):
            for task in left:
                task.cancel()
            self.loop.run_until_complete(asyncio.wait(left, timeout=1))
        self.loop.close()
        self.connection.close()

    async def submitted(self, **changes: Any) -> Job:
        """Submit a small text and return the accepted job."""
        changes = {"run_limit": self.settings.attempt_limit, **changes}
        admission = await submit(submission(**changes), ports=self.ports)
        assert isinstance(admission, AcceptedNew)
        return admission.job

    async def consumed(
        self, jobs: Sequence[Job | object], work: Worker, *, number: int = 1
    ) -> list[Verdict]:
        """Deliver a message for each job, or a body as it is, in one batch."""
        deliveries = [
            Delivery(
                id=f"m-{next(_deliveries)}",
                queue="jobs",
                number=number,
                body=message_for(job) if isinstance(job, Job) else job,
            )
            for job in jobs
        ]
        verdicts = await consume(deliveries, work, kinds=KINDS, ports=self.ports)
        return [verdicts[delivery.id] for delivery in deliveries]

    async def now(self, job: Job) -> Job:
        found = await self.ports.jobs.find(job.id, tenant_id=job.tenant_id)
        assert found
        return found

    def rows(self, sql: str) -> list[dict[str, Any]]:
        return [dict(row) for row in self.connection.execute(sql)]


def submission(**changes: Any) -> Submission:
    values: dict[str, Any] = {
        "tenant_id": "acme",
        "kind": "summarize",
        "engine": Engine.QUEUE,
        "form": InputForm.TEXT,
        "content": "some text",
        "refs": (),
        "input_bytes": 9,
        "params": {},
        "run_key": None,
        "max_attempts": 3,
        "deadline": timedelta(hours=1),
        "metadata": {},
        "idempotency_key": None,
        "document": {"kind": "summarize"},
        "traceparent": None,
        "run_limit": timedelta(minutes=5),
    }
    return Submission(**{**values, **changes})


def working(seconds: float = 0, result: Mapping[str, object] | Exception | None = None) -> Worker:
    """Work that takes a while and then gives a result, or fails."""

    async def work(attempt: Attempt) -> Mapping[str, object]:
        await asyncio.sleep(seconds)
        if isinstance(result, Exception):
            raise result
        attempt.tally.usage = Usage(model="m", input_tokens=7)
        return result or {"summary": "short"}

    return work
