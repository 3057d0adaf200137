"""What looking at the figures costs: ``python -m bench.metrics``, a minute.

On the D1 of a local stack, with 100,000 jobs of 500 tenants that have ended, and a backlog of none,
of 9,000 and of 100,000 more. Each job has an attempt; an hour, a day and a week are full of points.
The rows are those that D1 bills; the seconds are this machine's, and the way through the stack's
control server.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from typing import Final

from tests.contract.conftest import RemoteD1
from tests.support.running import running

from uketsuke.adapters.sql.conditions import SqlConditions
from uketsuke.adapters.sql.database import Statement
from uketsuke.adapters.sql.letter_terms import Ages
from uketsuke.adapters.sql.metrics import SqlMetrics
from uketsuke.adapters.sql.terms import NOW
from uketsuke.domain.rollup import Gauges, Step, roll
from uketsuke.domain.series import Range

JOBS: Final = 100_000
_A_STATEMENT: Final = 10_000
_KINDS: Final = "('summarize'), ('transcribe'), ('embed'), ('report')"

# ?1 first number, ?2 how many
_NUMBERS: Final = """
WITH RECURSIVE n(i) AS (SELECT ?1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1 + ?2 - 1)
"""
_ENDED: Final = f"""{_NUMBERS}
INSERT INTO jobs (tenant_id, id, request_key, kind, engine, origin, state, params, metadata, input,
                  max_attempts, attempts, attempt_no, created_at, due_at, deadline_at, finished_at,
                  expires_at, result)
SELECT 't-' || (i % 500), printf('job_%026d', i), printf('job_%026d', i), 'summarize', 'queue',
       'api', 'succeeded', '{{}}', '{{}}', '{{"form": "text", "bytes": 1}}', 5, 1, 1, 1,
       {NOW} - i % 1000, 1, {NOW}, {NOW} + 2592000000, '{{}}'
  FROM n
"""  # noqa: S608 - our own terms
_ATTEMPTS: Final = f"""{_NUMBERS}
INSERT INTO attempts (tenant_id, job_id, number, lease_token, started_at, ended_at, outcome, state,
                      usage)
SELECT 't-' || (i % 500), printf('job_%026d', i), 1, 't', {NOW}, {NOW} + i % 9000, 'succeeded',
       'succeeded', '{{"provider": "p", "asked_model": "m", "cost_micros": 60}}'
  FROM n
"""  # noqa: S608 - our own terms
_LIVE: Final = f"""{_NUMBERS}
INSERT INTO jobs (tenant_id, id, request_key, kind, engine, origin, state, params, metadata, input,
                  max_attempts, created_at, due_at, wake_at, deadline_at)
SELECT 'l-' || (i % 500), printf('job_l%025d', i), printf('job_l%025d', i), 'summarize', 'queue',
       'api', 'accepted', '{{}}', '{{}}', '{{"form": "text", "bytes": 1}}', 5, {NOW}, {NOW} + 9e9,
       {NOW} + 9e9, {NOW} + 9e9
  FROM n
"""  # noqa: S608 - our own terms
_POINTS: Final = f"""{_NUMBERS}
INSERT INTO metrics_points (step, at, kind, figures)
SELECT ?3, {NOW} / ?4 * ?4 - i * ?4, kinds.column1,
       '{{"attempts":9,"succeeded":8,"waited_ms":70,"ran_ms":9000,"q10":9,"r500":5,"r1000":4}}'
  FROM n, (VALUES (''), {_KINDS}) AS kinds
 WHERE true
ON CONFLICT DO NOTHING
"""  # noqa: S608 - our own terms


async def fill(database: RemoteD1, sql: str, count: int) -> None:
    for start in range(0, count, _A_STATEMENT):
        size = min(_A_STATEMENT, count - start)
        await database.batch([Statement(sql, (start, size))])


async def fill_points(database: RemoteD1) -> None:
    for step, count in ((Step.MINUTE, 48 * 60), (Step.HOUR, 60 * 24), (Step.DAY, 365)):
        length = int(step.length.total_seconds() * 1000)
        sql = _POINTS.replace("?4", str(length)).replace("?3", f"'{step}'")
        await database.batch([Statement(sql, (0, count))])


async def measure(database: RemoteD1, name: str, look: Callable[[], Awaitable[object]]) -> None:
    read, written, calls = database.rows_read, database.rows_written, database.calls
    start = time.perf_counter()
    await look()
    seconds = time.perf_counter() - start
    rows = f"{database.rows_read - read:9,}  {database.rows_written - written:12,}"
    print(f"{name:24}  {database.calls - calls:5}  {rows}  {seconds:7.3f}")  # noqa: T201


async def compare(database: RemoteD1, *, live: int) -> None:
    await database.batch([Statement("DELETE FROM jobs WHERE wake_at IS NOT NULL")])
    if live:
        await fill(database, _LIVE, live)
    month = timedelta(days=30)
    metrics = SqlMetrics(database)
    ages = Ages.of(keep_inputs=month, keep_results=month, expiring_within=timedelta(hours=72))
    conditions = SqlConditions(database, ages)

    async def rolled_up() -> object:
        reading, points = await metrics.read()
        assert reading.backlog is not None
        gauges = Gauges(backlog=reading.backlog, clock_skew=timedelta(), queues={})
        return await metrics.store(*roll(reading, points, gauges=gauges))

    async def looked() -> None:
        await conditions.kept()
        await conditions.glance()
        await looked_at(Step.MINUTE, timedelta(minutes=1), 60)

    async def looked_at(step: Step, stretch: timedelta, count: int) -> None:
        await metrics.look(step, stretch=stretch, count=count, duties=("wake",))

    print(f"\n{JOBS:,} jobs that ended, {live:,} live")  # noqa: T201
    print(f"{'':24}  calls  rows read  rows written  seconds")  # noqa: T201
    await measure(database, "roll-up", rolled_up)
    await measure(database, "roll-up, nothing new", rolled_up)
    await measure(database, "metrics, with letters", looked)
    for span in Range:
        await measure(
            database,
            f"series of a {span}",
            lambda span=span: looked_at(span.step, span.length, span.amount),  # type: ignore[misc]
        )


async def main() -> None:
    with tempfile.TemporaryDirectory() as state, running(Path(state)) as stack:
        database = RemoteD1(stack)
        await fill(database, _ENDED, JOBS)
        await fill(database, _ATTEMPTS, JOBS)
        await fill_points(database)
        for live in (0, 9_000, JOBS):
            await compare(database, live=live)


if __name__ == "__main__":
    asyncio.run(main())
