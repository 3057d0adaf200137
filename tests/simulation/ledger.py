"""What is known of a history: its rows, who holds what, why a Worker died, what was paid.

It knows more than the product can, and is what the rules are held against.
"""

from __future__ import annotations

import asyncio
import sqlite3
from contextvars import Context
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Protocol

from tests.simulation.isolate import Death, Isolate
from tests.simulation.provider import Call, Provider
from tests.simulation.rows import ActRow, BulkRow, JobRow, LetterRow
from tests.simulation.trace import Trace, name_of
from tests.simulation.workflows import VirtualWorkflows
from tests.support.sqlite import SqliteDatabase
from uketsuke.domain.job import JobKey


class Watched(Protocol):
    """A database and its clock."""

    @property
    def database(self) -> SqliteDatabase: ...

    def now_ms(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Blame:
    """Why an attempt's Worker died, and how many other attempts it held then."""

    death: Death
    company: int


@dataclass(slots=True)
class Ledger:
    """All that is known of a history."""

    watched: Watched
    trace: Trace
    provider: Provider
    engine: VirtualWorkflows
    world: Context
    lease: timedelta
    keep_letters: timedelta
    slack: timedelta  # a lease and a sweep: how late after its deadline a job may be looked at
    rows: dict[JobKey, JobRow] = field(default_factory=dict)
    duties: dict[str, tuple[str | None, int]] = field(default_factory=dict)
    holders: dict[str, Isolate] = field(default_factory=dict)  # by lease token
    blames: dict[tuple[JobKey, int], Blame] = field(default_factory=dict)
    leased_at: dict[str, float] = field(default_factory=dict)  # virtual seconds, by token
    settled: dict[str, tuple[str, str | None]] = field(default_factory=dict)  # how, by token
    paid: dict[JobKey, float] = field(default_factory=dict)  # when the paid result was kept
    # Of runs: what stands, and since when each step is paid for; which instances must not go on.
    checkpoints: dict[tuple[JobKey, str, str], tuple[object, ...]] = field(default_factory=dict)
    kept: dict[tuple[JobKey, str], float] = field(default_factory=dict)
    doomed: dict[str, float] = field(default_factory=dict)
    # Of dead letters: what was written of them and of those who dealt with them; each redriven
    # job's one successor, gone or not; the ids of acts that were asked for with force.
    letters: dict[str, LetterRow] = field(default_factory=dict)
    acts: dict[str, ActRow] = field(default_factory=dict)
    bulks: dict[str, BulkRow] = field(default_factory=dict)
    successors: dict[JobKey, str] = field(default_factory=dict)
    forced: set[str] = field(default_factory=set)
    origins: dict[JobKey, JobKey] = field(default_factory=dict)
    asked: dict[tuple[JobKey, str], str] = field(default_factory=dict)  # of the provider, by step
    probe: tuple[int, str] = (0, "")  # when a lane was parked, and who was last to try it out
    budget: int | None = None  # each tenant's, for a day
    late_writes: int = 0
    began_ms: int = 0  # when the transaction under way began

    @property
    def connection(self) -> sqlite3.Connection:
        return self.watched.database.connection

    @property
    def lease_ms(self) -> int:
        return self.lease // timedelta(milliseconds=1)

    def note_holder(self, key: JobKey, token: str, isolate: Isolate) -> None:
        """Hear who may work now under a token."""
        self.holders[token] = isolate
        self.leased_at[token] = self.trace.now()

    def note_death(self, isolate: Isolate) -> None:
        """Remember why the attempts that an isolate held ended."""
        assert isolate.death is not None
        at_work = {
            key
            for event in [isolate, *isolate.beside]
            for key, held in event.holds.items()
            if held[1] in event.started
        }
        for key, (attempt, token) in isolate.holds.items():
            row = self.rows[key]
            # What stood still past its lease had lost it before, whoever killed it then.
            if row.lease_token == token and (row.leased_until or 0) > self.watched.now_ms():
                company = len(at_work - {key})
                self.blames[key, attempt] = Blame(isolate.death, company)

    def watch_lease(self, row: JobRow) -> None:
        """When the lease ends, see whether its holder has stopped."""
        assert row.leased_until is not None
        assert row.lease_token is not None
        seconds = (row.leased_until - self.watched.now_ms()) / 1000 + 0.002
        asyncio.get_running_loop().call_later(
            seconds, self._look_at_lease, row.key, row.lease_token, context=self.world
        )

    def _look_at_lease(self, key: JobKey, token: str) -> None:
        row, holder = self.rows[key], self.holders[token]
        renewed = row.lease_token == token and (row.leased_until or 0) > self.watched.now_ms()
        if renewed or holder.death is not None or holder.frozen is not None:
            return
        told = f"{holder.name}, {name_of(key.job_id)}"
        still = holder.working.get(key) == token
        self.trace.require(not still, "nobody-works-past-the-lease", told)

    def note_object(self, key: str) -> None:
        """Hear of an object that was stored; one of them is a result that was paid for."""
        tenant, job, name = key.split("/")
        if name.startswith("paid-"):
            self.trace.count("paid result kept")
            self.paid.setdefault(JobKey(tenant, job), self.trace.now())

    def note_resumed(self, key: JobKey, token: str, isolate: Isolate) -> None:
        """Hear of a life that goes on with a run: whoever worked it before must have stopped."""
        if isolate.death is not None:  # what a dead one had asked for came late: nobody goes on
            return
        before = self.holders.get(token)
        at_work = before is not None and before is not isolate and before.working.get(key) == token
        told = f"{isolate.name} and {before.name if before else ''}, {name_of(key.job_id)}"
        alive = at_work and before is not None and before.death is None
        self.trace.require(not alive, "one-life-works-a-run", told)
        isolate.resumed_at = self.trace.now()
        self.note_holder(key, token, isolate)

    def note_call(self, key: JobKey, call: Call, isolate: Isolate) -> None:
        """Hear of a provider's call: no life that began after a step was kept pays for it again.

        Nor is a redriven job worked on anything but what its origin was worked on.
        """
        first = self.asked.setdefault((key, call.step), call.asked)
        before = self.asked.get((self.origins.get(key, key), call.step), first)
        same = first == before == call.asked
        self.trace.require(same, "a-redrive-works-on-the-same", f"{name_of(key.job_id)}")
        kept_at = self.kept.get((key, call.step))
        if kept_at is None or isolate.resumed_at is None:
            return
        self.trace.count("step paid again in flight")
        told = f"{isolate.name}, {name_of(key.job_id)} {call.step}"
        self.trace.require(kept_at >= isolate.resumed_at, "no-step-is-paid-again", told)

    def note_checkpoint(self, key: JobKey, step: str, digest: str) -> None:
        """Hear of a checkpoint that was written: once, and for a job that lives."""
        (*stands,) = self.connection.execute(
            "SELECT attempt, content, object_key FROM checkpoints"
            " WHERE tenant_id = ? AND job_id = ? AND step = ? AND digest = ?",
            (*key, step, digest),
        ).fetchone()
        first = self.checkpoints.setdefault((key, step, digest), tuple(stands))
        told = f"{name_of(key.job_id)} {step}"
        self.trace.note(f"{told} is kept")
        self.trace.require(first == tuple(stands), "a-checkpoint-is-written-once", told)
        self.trace.require(not self.rows[key].terminal, "no-checkpoint-after-the-end", told)
        self.kept.setdefault((key, step), self.trace.now())

    def note_start(self, key: JobKey, isolate: Isolate) -> None:
        """Check that this work may begin, beside what its Worker works already."""
        held = self.rows[key].lease_token == isolate.working[key] or isolate.frozen is not None
        self.trace.require(held, "only-the-holder-works", f"{isolate.name}, {name_of(key.job_id)}")
        kept, leased = self.paid.get(key), self.leased_at[isolate.working[key]]
        told = f"{name_of(key.job_id)} is worked again"
        self.trace.require(kept is None or kept >= leased, "nothing-is-paid-twice", told)
        together = list(isolate.working)
        # One that stood still past its lease may work for a moment what another one has lost since.
        ours = [j for j in together if self.rows[j].lease_token == isolate.working[j]]
        suspects = [name_of(job.job_id) for job in ours if self.rows[job].crashes]
        company = len(together) > 1 and suspects
        self.trace.require(
            not company, "quarantined-jobs-work-alone", f"{isolate.name}: {suspects}"
        )
