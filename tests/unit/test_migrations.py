"""Live jobs of before go on after a migration, and nothing is told of them that nobody knows."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator, Sequence
from datetime import timedelta

import pytest

from tests.contract.factories import LEASE, RETENTION
from tests.support.sqlite import MIGRATIONS, SqliteDatabase
from uketsuke.adapters.sql.doctor import CHECKS, SqlDoctor
from uketsuke.adapters.sql.doctor_check import patience_of
from uketsuke.adapters.sql.repository import SqlJobs
from uketsuke.adapters.sql.runs import SqlRuns
from uketsuke.adapters.sql.terms import NOW
from uketsuke.domain.job import Ending, Job, JobKey, LeasedJob, ResultPlace, Usage
from uketsuke.domain.lifecycle import JobState, Outcome
from uketsuke.settings import Settings

TOKEN = "t"
PATIENCE = patience_of(Settings(key_hash_secret=b"s"), RETENTION)
USED = Usage(asked_model="m", cost_micros=60, charged_micros=60)


@pytest.fixture
def connection() -> Iterator[sqlite3.Connection]:
    """A database as it was before costs and lanes."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.row_factory = sqlite3.Row
    _migrate(connection, after=0, until=4)
    yield connection
    connection.close()


def _migrate(connection: sqlite3.Connection, *, after: int, until: int) -> None:
    for path in sorted(MIGRATIONS.glob("*.sql"))[after:until]:
        connection.executescript(path.read_text())


def _insert(
    connection: sqlite3.Connection, name: str, state: str, attempts: int, *, ended: str = "2"
) -> JobKey:
    """Write a job's row as 0001 to 0004 have it, and those of its ended attempts."""
    key = JobKey("acme", f"job_{name}")
    engine = "workflow" if name.startswith("run") else "queue"
    running, done = state == "running", state == "succeeded"
    connection.execute(
        f"""
        INSERT INTO jobs (tenant_id, id, request_key, kind, engine, origin, state, params, metadata,
                          input, max_attempts, attempts, attempt_no, created_at, due_at, wake_at,
                          deadline_at, leased_at, leased_until, lease_token, finished_at,
                          expires_at, result)
        SELECT ?1, ?2, ?2, 'summarize', ?3, 'api', ?4, '{{}}', '{{}}',
               '{{"form":"text","bytes":4}}', 5, ?5, ?5, {NOW}, {NOW},
               CASE WHEN ?7 THEN NULL ELSE {NOW} END, {NOW} + 3600000, {NOW},
               CASE WHEN ?6 THEN {NOW} + 60000 END, CASE WHEN ?6 THEN 't.' || ?2 END,
               CASE WHEN ?7 THEN {NOW} END, CASE WHEN ?7 THEN {NOW} + 3600000 END,
               CASE WHEN ?7 THEN '{{"bytes":2,"content_type":"application/json","attempt":1}}' END
        """,
        (*key, engine, state, attempts, running, done),
    )
    connection.executemany(
        f"""
        INSERT INTO attempts (tenant_id, job_id, number, lease_token, started_at, ended_at, outcome,
                              state, usage)
        VALUES (?, ?, ?, 'old', 1, {ended}, 'failed', 'retrying',
                '{{"model":"m","input_tokens":7}}')
        """,  # noqa: S608 - ours
        [(*key, number) for number in range(1, attempts + (not running))],
    )
    return key


@pytest.mark.parametrize("before", range(4, 13))
def test_the_doctor_finds_nothing_in_a_store_of_before(
    connection: sqlite3.Connection, before: int
) -> None:
    live = [("new", "accepted", 0), ("waiting", "retrying", 2), ("run", "running", 2)]
    _insert_all(connection, [("older", "retrying", 3)])
    _migrate(connection, after=4, until=before)
    _insert_all(connection, live)
    _migrate(connection, after=before, until=99)

    findings = asyncio.run(SqlDoctor(SqliteDatabase(connection), PATIENCE).ask(list(CHECKS)))

    assert [found.question.name for found in findings if not found.ok] == []
    days = "SELECT sum(attempts), sum(input_tokens), sum(cost_micros), sum(unknown) FROM usage_days"
    assert tuple(connection.execute(days).fetchone()) == (6, 42, 0, 6)


def _insert_all(connection: sqlite3.Connection, jobs: Sequence[tuple[str, str, int]]) -> None:
    """Write live jobs whose attempts have just ended, with their submissions."""
    for name, state, attempts in jobs:
        key = _insert(connection, name, state, attempts, ended=NOW)
        connection.execute("INSERT INTO submissions VALUES (?, ?, ?2, NULL, NULL)", (*key,))


def _succeeded(leased: LeasedJob) -> Ending:
    place = ResultPlace(
        bytes=2, content_type="application/json", attempt=leased.attempt, object_key=None
    )
    return Ending(
        key=leased.job.key, token=leased.token, attempt=leased.attempt, state=JobState.SUCCEEDED,
        outcome=Outcome.SUCCEEDED, result=place, result_text="{}", usage=USED, wait=timedelta(),
    )  # fmt: skip


async def _ended(connection: sqlite3.Connection, key: JobKey) -> Job:
    """Let whoever holds the job, or comes next, end it as a success."""
    database = SqliteDatabase(connection)
    jobs, runs = SqlJobs(database, RETENTION), SqlRuns(database, RETENTION)
    if key.job_id.startswith("job_run"):
        leased: object = await runs.resume(key, token=TOKEN, lease=LEASE)
    else:  # of its own token: a claim whose answer was lost is asked again so
        found = await jobs.lease([key], token=TOKEN, duration=LEASE, alone=True)
        leased = found[key]
    assert isinstance(leased, LeasedJob)
    await jobs.settle([_succeeded(leased)])
    job = await jobs.find(key.job_id, tenant_id="acme")
    assert job is not None
    return job


@pytest.mark.parametrize(
    ("name", "state", "attempts", "unknown"),
    [
        ("new", "accepted", 0, 0),
        ("first", "running", 1, 0),
        ("again", "running", 3, 2),
        ("waiting", "retrying", 2, 2),
        ("run", "running", 1, 0),
        ("run-again", "running", 2, 1),
    ],
)
def test_a_live_job_of_before_ends_and_what_its_old_attempts_cost_stays_unknown(
    connection: sqlite3.Connection, name: str, state: str, attempts: int, unknown: int
) -> None:
    key = _insert(connection, name, state, attempts)
    _insert(connection, "finished", "succeeded", 1)
    _migrate(connection, after=4, until=99)

    job = asyncio.run(_ended(connection, key))

    assert (job.state, job.unknown_costs) == (JobState.SUCCEEDED, unknown)
    days = "SELECT sum(attempts), sum(cost_micros), sum(unknown) FROM usage_days"
    assert tuple(connection.execute(days).fetchone()) == (1, 60, 0)
    finished = "SELECT attempts_cost_micros, unknown_costs FROM jobs WHERE id = 'job_finished'"
    assert tuple(connection.execute(finished).fetchone()) == (None, 0)
