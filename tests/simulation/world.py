"""The world of one history: clock, database, queue, storage, provider, and the Workers in it."""

from __future__ import annotations

import asyncio
import random
import sqlite3
from collections.abc import Callable, Coroutine
from contextvars import Context, copy_context
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, TypeVar

from tests.simulation.audit import Audit
from tests.simulation.blobs import BlobPort, Store
from tests.simulation.inside import BASE_MS, DatabasePort, WorkerClock, WorldDice
from tests.simulation.isolate import Death, Ended, Isolate
from tests.simulation.kind import SIMULATED
from tests.simulation.ledger import Ledger
from tests.simulation.loop import VirtualLoop
from tests.simulation.outage import Outage
from tests.simulation.profile import Profile
from tests.simulation.provider import Provider
from tests.simulation.queue import QueuePort, VirtualQueue
from tests.simulation.trace import Trace
from tests.simulation.unscheduled import UnscheduledSweeping, idle_duties
from tests.simulation.wire import FAULTS, PATIENCE, Faults, Wire
from tests.simulation.workflows import VirtualWorkflows, WorkflowPort
from tests.support.sqlite import SqliteDatabase, connect
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
from uketsuke.adapters.sql.triage import SqlTriage
from uketsuke.domain.job import JobKey
from uketsuke.domain.price import Tariff
from uketsuke.services.ports import Ports
from uketsuke.settings import Settings

T = TypeVar("T")

WALL_SECONDS = 900.0  # the platform's limit of one event; a Workflow's steps have none


class TickingDatabase(SqliteDatabase):
    """Time passes within a transaction too: its statements do not share one now."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        super().__init__(connection)
        self.tick: Callable[[], None] = lambda: None

    def _one(self, statement: Statement) -> list[Row]:
        self.tick()
        return super()._one(statement)


class SharedDatabase:
    """One migrated database a process, emptied for each history: statements stay prepared."""

    def __init__(self) -> None:
        self._seconds: Callable[[], float] = lambda: 0.0
        self.database = TickingDatabase(connect(self.now_ms))
        names = self.database.connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'"
        )
        self._tables = [name for (name,) in names]

    def follow(self, loop: VirtualLoop, *, tick: Callable[[], float]) -> None:
        """Take the time from a history's loop; each statement takes as many seconds as it ticks."""
        self._seconds = loop.time
        self.database.tick = lambda: loop.advance(tick())

    def now_ms(self) -> int:
        return BASE_MS + int(self._seconds() * 1000)

    def empty(self) -> None:
        connection, guard = self.database.connection, "audit_is_not_deleted"
        # Each history begins anew.
        found = connection.execute("SELECT sql FROM sqlite_master WHERE name = ?", (guard,))
        ((text,),) = found.fetchall()
        connection.execute(f"DROP TRIGGER {guard}")
        for table in self._tables:
            connection.execute(f"DELETE FROM {table}")  # noqa: S608 - our own names
        connection.execute(text)

    def close(self) -> None:
        self.database.connection.close()


@dataclass(slots=True)
class World:
    """Everything that a history's Workers reach, and the means to make a Worker."""

    profile: Profile
    rng: random.Random
    trace: Trace
    shared: SharedDatabase
    audit: Audit = field(init=False)
    ledger: Ledger = field(init=False)
    provider: Provider = field(init=False)
    store: Store = field(init=False)
    queue: VirtualQueue = field(init=False)
    dead_queue: VirtualQueue = field(init=False)
    retention: Retention = field(init=False)
    tariff: Tariff = field(init=False)
    workflows: VirtualWorkflows = field(init=False)
    wires: dict[str, Wire] = field(init=False)
    context: Context = field(default_factory=copy_context)
    calm: bool = False
    cron_stopped: bool = False
    _isolates: int = 0
    _alive: list[Isolate] = field(default_factory=list)
    _tasks: list[asyncio.Task[None]] = field(default_factory=list)

    def __post_init__(self) -> None:
        profile = self.profile
        self.provider = Provider(self.rng, self.trace, profile.provider, profile.turned_away)
        self.workflows = VirtualWorkflows(
            rng=self.rng,
            trace=self.trace,
            world=self.context,
            habits=profile.workflow,
            spawn=self.spawn,
            isolate=self.isolate,
        )
        settings = profile.settings
        # The same for every event, and there are hundreds: reckoned once.
        self.retention = _retention(settings)
        self.tariff = settings.tariff({name: kind.calls for name, kind in SIMULATED.items()})
        slack, lease = settings.lease + settings.sweep_every, settings.lease
        keep = settings.keep_dead_letters
        self.ledger = Ledger(
            self.shared, self.trace, self.provider, self.workflows, self.context, lease, keep, slack
        )
        self.ledger.budget = self.profile.settings.daily_budget_micros
        self.audit = Audit(self.ledger)
        self.store = Store(on_put=self.ledger.note_object)
        self.wires = {
            "database": self._wire("database", profile.database),
            "blobs": self._wire("blobs", profile.blobs),
            "queue": self._wire("queue", profile.sends),
            "workflows": self._wire("workflows", profile.workflows),
        }
        self.wires["database"].outages = profile.database_outages
        self.wires["blobs"].outages = profile.blob_outages
        self.wires["workflows"].outages = profile.workflow_outages
        self.wires["workflows"].patience = PATIENCE
        self.dead_queue = self._queue("dlq", retry_delay=3600.0)
        self.queue = self._queue("queue", max_retries=profile.queue.max_retries)
        self.queue.dead_letters = self.dead_queue

    def _wire(self, name: str, faults: Faults) -> Wire:
        return Wire(name, self.rng, self.trace, self.context, faults)

    def _queue(self, name: str, **options: Any) -> VirtualQueue:
        return VirtualQueue(
            name=name,
            rng=self.rng,
            trace=self.trace,
            world=self.context,
            habits=self.profile.queue,
            spawn=self.spawn,
            **options,
        )

    def spawn(self, coro: Coroutine[Any, Any, None]) -> None:
        """Run something of the world's own, in no isolate."""
        loop = asyncio.get_running_loop()
        task = loop.create_task(coro, context=self.context.copy())
        self._tasks.append(task)

    async def end(self) -> None:
        """End what still runs, and tell what went wrong in the simulator itself."""
        self.workflows.closed = True
        for isolate in list(self._alive):
            isolate.kill(Death("the end"))
        for task in self._tasks:
            if task.done() and not task.cancelled() and (error := task.exception()) is not None:
                self.trace.breach("simulator", repr(error))
            task.cancel()
        await asyncio.sleep(400)

    def isolate(self, role: str) -> Isolate:
        """Make a Worker for one event; perhaps it is doomed."""
        self._isolates += 1
        skew, rng = self.profile.skew, self.rng
        isolate = Isolate(
            name=f"{role}{self._isolates}",
            trace=self.trace,
            skew=rng.uniform(-skew, skew) if skew else 0.0,
            on_death=self.ledger.note_death,
            patience=PATIENCE if role == "workflow" else None,
        )
        if not self.calm:
            # The life of an instance is longer than an event's, and asks more.
            self._draw_doom(isolate, stretch=4 if role == "workflow" else 1)
        if role == "consumer" and self.profile.sharing:
            self._house(isolate)
        return isolate

    def _house(self, isolate: Isolate) -> None:
        """Perhaps let an event run in the process of others."""
        alive = [other for other in self._alive if other.name.startswith("consumer")]
        if alive and self.rng.random() < self.profile.sharing:
            host = self.rng.choice(alive)
            together = [host, *host.beside]
            for other in together:
                other.beside.append(isolate)
            isolate.beside.extend(together)

    def _draw_doom(self, isolate: Isolate, *, stretch: int) -> None:
        rng, profile, now = self.rng, self.profile, asyncio.get_running_loop().time()
        if rng.random() < profile.doom:
            if rng.random() < 0.6:
                isolate.calls_left = rng.randint(0, 12 * stretch)
            else:
                isolate.dies_after = rng.uniform(0, 120)
        if rng.random() < profile.freeze:
            start = now + rng.uniform(0, 8 * stretch)
            isolate.frozen = (start, start + rng.choice((5, 18, 35, 70, 200)))
        if rng.random() < profile.cut:
            start = now + rng.uniform(0, 15)
            isolate.cut = Outage(start, start + rng.choice((5, 20, 70, 150)), rng.choice(FAULTS))

    async def run(
        self, isolate: Isolate, main: Coroutine[Any, Any, T], *, wall: float | None = WALL_SECONDS
    ) -> Ended[T]:
        if isolate.dies_after is not None:
            asyncio.get_running_loop().call_later(
                isolate.dies_after, isolate.kill, Death("at a time"), context=self.context
            )
        self._alive.append(isolate)
        try:
            return await isolate.run(main, wall=wall)
        finally:
            self._alive.remove(isolate)

    def ports(self, isolate: Isolate) -> Ports:
        """Build an event's ports as the wiring does, on this world."""
        settings, retention, tariff = self.profile.settings, self.retention, self.tariff
        database = DatabasePort(self.audit, self.wires["database"], isolate)
        ages = Ages.of(
            keep_inputs=settings.keep_inputs,
            keep_results=settings.keep_results,
            expiring_within=settings.expiring_within,
        )
        return Ports(
            settings=settings,
            jobs=SqlJobs(database, retention, tariff),
            runs=SqlRuns(database, retention, tariff),
            costs=SqlCosts(database, retention, tariff),
            lanes=SqlLanes(database, retention),
            purging=SqlPurging(database),
            listing=SqlListing(database),
            sweeping=UnscheduledSweeping(
                database, retention, idle_duties(settings, age=self._age())
            ),
            inputs=SqlInputs(database),
            schedules=SqlSchedules(
                database, keep_inputs=settings.keep_inputs, keep_results=settings.keep_results
            ),
            occurrences=SqlOccurrences(database),
            dead_letters=SqlDeadLetters(database, triage_within=settings.triage_within),
            triage=SqlTriage(database, ages),
            metrics=SqlMetrics(database),
            conditions=SqlConditions(database, ages),
            money_and_lanes=SqlMoneyAndLanes(
                database, daily_budget_micros=settings.daily_budget_micros
            ),
            alerts=SqlAlerts(database),
            receiver=None,
            doctor=SqlDoctor(database, patience_of(settings, self.retention)),
            audit=SqlAudit(database),
            redrives=SqlRedrives(database, tariff),
            keys=SqlKeys(database),
            blobs=BlobPort(self.store, self.wires["blobs"], isolate),
            queue=QueuePort(self.queue, self.wires["queue"], isolate),
            live_queue=QueuePort(self.queue, self.wires["queue"], isolate),
            dead_queue=QueuePort(self.dead_queue, self.wires["queue"], isolate),
            workflows=WorkflowPort(self.workflows, self.wires["workflows"], isolate),
            clock=WorkerClock(isolate),
            dice=WorldDice(self.rng),
        )

    def heal(self) -> None:
        """From now on nothing fails but what is poison."""
        self.calm = True
        self.trace.note("the world is healthy again")
        for wire in self.wires.values():
            wire.calm = True
        self.provider.calm = self.workflows.calm = True
        for queue in (self.queue, self.dead_queue):
            queue.calm = True
            queue.look()

    def now_ms(self) -> int:
        return self.shared.now_ms()

    def _age(self) -> timedelta:
        return timedelta(milliseconds=self.now_ms() - BASE_MS)

    def job_key(self, job_id: str) -> JobKey:
        return next(key for key in self.ledger.rows if key.job_id == job_id)

    def duty_held_until_ms(self) -> int:
        """Until when a sweep that died, or still waits, keeps others from its duty."""
        (until,) = self.shared.database.connection.execute(
            "SELECT coalesce(max(leased_until), 0) FROM duties"
        ).fetchone()
        return int(until)

    def busy(self) -> bool:
        """Whether any message is on its way or being worked."""
        queues = (self.queue, self.dead_queue)
        return any(queue.waiting or queue.busy for queue in queues)


def _retention(settings: Settings) -> Retention:
    return Retention(
        keep_results=settings.keep_results,
        triage_within=settings.triage_within,
        grace=settings.first_wake,
        lease=settings.lease,
        longest_knock=settings.longest_knock,
    )
