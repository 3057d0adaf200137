"""Rows and values for the store's tests: what a test leaves out is filled in."""

from __future__ import annotations

import itertools
import secrets
from datetime import timedelta
from typing import Any

from uketsuke.adapters.sql.database import Statement
from uketsuke.adapters.sql.lanes import SqlLanes
from uketsuke.adapters.sql.repository import Retention, SqlJobs
from uketsuke.adapters.sql.runs import SqlRuns
from uketsuke.adapters.sql.terms import NOW
from uketsuke.domain.failure import ErrorClass, Failure, Road
from uketsuke.domain.ids import time_sorted_id
from uketsuke.domain.job import (
    Ending,
    InputForm,
    InputPlace,
    JobKey,
    LeasedJob,
    NewJob,
    ResultPlace,
    RunStart,
    SilentRun,
)
from uketsuke.domain.lifecycle import Engine, JobState, Origin, Outcome
from uketsuke.services.ports import AcceptedNew

LEASE = timedelta(seconds=60)
RETENTION = Retention(
    lease=timedelta(seconds=60),
    keep_results=timedelta(days=30),
    triage_within=timedelta(hours=72),
    grace=timedelta(seconds=60),
    longest_knock=timedelta(minutes=15),
)
THROTTLED = Failure(error_class=ErrorClass.THROTTLED, code="provider_throttled")
_numbers = itertools.count(1_800_000_000_000)


def new_key(tenant: str) -> JobKey:
    ident = time_sorted_id("job", now_ms=next(_numbers), entropy=secrets.token_bytes(10))
    return JobKey(tenant, ident)


def new_job(tenant: str, **changes: Any) -> NewJob:
    key = changes.pop("key", None) or new_key(tenant)
    values: dict[str, Any] = {
        "key": key,
        "request_key": key.job_id,
        "kind": "summarize",
        "engine": Engine.QUEUE,
        "origin": Origin.API,
        "run_key": None,
        "max_attempts": 5,
        "deadline": timedelta(hours=1),
        "first_wake": timedelta(seconds=60),
        "metadata": {},
        "params": {},
        "input": InputPlace(form=InputForm.TEXT, bytes=4),
        "inline_input": '"text"',
        "fingerprint": None,
        "traceparent": None,
        "keep_uploads": timedelta(days=30),
        "run_limit": timedelta(minutes=5),
    }
    return NewJob(**{**values, **changes})


def ending(leased: LeasedJob, state: JobState = JobState.SUCCEEDED, **changes: Any) -> Ending:
    """End an attempt; by default as a success with a small result."""
    fitting: dict[JobState, dict[str, Any]] = {
        JobState.SUCCEEDED: {
            "outcome": Outcome.SUCCEEDED,
            "result": ResultPlace(bytes=2, content_type="application/json", attempt=leased.attempt),
            "result_text": "{}",
        },
        JobState.RETRYING: {"outcome": Outcome.FAILED, "failure": THROTTLED},
        JobState.FAILED: {
            "outcome": Outcome.FAILED,
            "failure": THROTTLED,
            "road": Road.EXHAUSTED,
        },
        JobState.CANCELED: {"outcome": Outcome.CANCELED},
    }
    values = {"key": leased.job.key, "token": leased.token, "attempt": leased.attempt}
    return Ending(state=state, **{**values, **fitting[state], **changes})


class Store:
    """The store under test, with the shortcuts that its tests need."""

    def __init__(self, database: Any, tenant: str) -> None:
        self.database = database
        self.tenant = tenant
        self.jobs = SqlJobs(database, RETENTION)
        self.runs = SqlRuns(database, RETENTION)
        self.lanes = SqlLanes(database, RETENTION)

    async def accepted(self, **changes: Any) -> JobKey:
        admission = await self.jobs.accept(new_job(self.tenant, **changes))
        assert isinstance(admission, AcceptedNew)
        return admission.job.key

    async def leased(self, key: JobKey | None = None, *, alone: bool = False) -> LeasedJob:
        key = key or await self.accepted()
        token = secrets.token_hex(8)
        found = await self.jobs.lease([key], token=token, duration=LEASE, alone=alone)
        leased = found[key]
        assert isinstance(leased, LeasedJob), leased
        return leased

    async def in_state(
        self, state: JobState, *, engine: Engine = Engine.QUEUE
    ) -> tuple[JobKey, LeasedJob | None]:
        """Bring a new job into ``state`` by the roads that users have."""
        key = await self.accepted(engine=engine)
        if state is JobState.ACCEPTED:
            return key, None
        leased = await self.leased(key)
        if state is not JobState.RUNNING:
            await self.jobs.settle([ending(leased, state)])
        return leased.job.key, leased

    async def started(self, **changes: Any) -> LeasedJob:
        """A run that is on its Workflow: born running, and heard of once."""
        start = RunStart(token=secrets.token_hex(8), lease=LEASE)
        key = await self.accepted(engine=Engine.WORKFLOW, start=start, **changes)
        leased = await self.runs.resume(key, token=start.token, lease=LEASE)
        assert leased is not None
        return leased

    async def silent(self, key: JobKey, *, nudges: int = 0) -> SilentRun:
        """Let the lease of a run expire, and look at it as the sweep does."""
        await self.expire_lease(key)
        job = await self.jobs.find(key.job_id, tenant_id=key.tenant_id)
        assert job is not None
        token = (await self.row(key))["lease_token"] or "none"
        return SilentRun(job=job, token=token, nudges=nudges, outlived=False)

    async def attempts(self, key: JobKey) -> Any:
        sql = "SELECT * FROM attempts WHERE tenant_id = ?1 AND job_id = ?2 ORDER BY number"
        (found,) = await self.database.batch([Statement(sql, tuple(key))])
        return found

    async def expire_lease(self, key: JobKey) -> None:
        await self.shift(key, "leased_until", timedelta(seconds=-3600))

    async def pass_deadline(self, key: JobKey) -> None:
        await self.shift(key, "deadline_at", timedelta(days=-30))

    async def shift(self, key: JobKey, column: str, by: timedelta) -> None:
        """Move a time of one row: the tests' way of letting time pass on any driver."""
        by_ms = int(by.total_seconds() * 1000)
        sql = f"UPDATE jobs SET {column} = {column} + ?3 WHERE tenant_id = ?1 AND id = ?2"  # noqa: S608
        await self.database.batch([Statement(sql, (*key, by_ms))])

    async def expire_input(self, ref: str) -> None:
        sql = "UPDATE inputs SET expires_at = 1 WHERE tenant_id = ?1 AND id = ?2"
        await self.database.batch([Statement(sql, (self.tenant, ref))])

    async def row(self, key: JobKey) -> Any:
        sql = "SELECT * FROM jobs WHERE tenant_id = ?1 AND id = ?2"
        ((row,),) = await self.database.batch([Statement(sql, tuple(key))])
        return row

    async def dead_letters(self, key: JobKey) -> Any:
        sql = "SELECT * FROM dead_letters WHERE tenant_id = ?1 AND job_id = ?2"
        (found,) = await self.database.batch([Statement(sql, tuple(key))])
        return found

    async def counter(self, name: str) -> int:
        sql = "SELECT value FROM counters WHERE name = ?1"
        (found,) = await self.database.batch([Statement(sql, (name,))])
        return int(found[0]["value"]) if found else 0

    async def now(self) -> int:
        ((row,),) = await self.database.batch([Statement(f"SELECT {NOW} AS now")])
        return int(row["now"])
