"""What looking through dead letters costs: ``python -m bench.dead_letters``, a minute.

On the D1 of a local stack, with 100,000 letters of ten fingerprints, spread over 35 days and 500
tenants: once with a tenth of them open, once with all, each with its job's row. The rows are those
that D1 bills; the seconds are this machine's, and the way through the stack's control server.
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
from uketsuke.adapters.sql.purging import SqlPurging
from uketsuke.adapters.sql.terms import NOW
from uketsuke.adapters.sql.triage import SqlTriage
from uketsuke.domain.condition import measures_of
from uketsuke.domain.dead_letter import LetterStatus
from uketsuke.domain.objective import DEFAULT_OBJECTIVES, bounds_of
from uketsuke.services.ports import LetterFilter

LETTERS: Final = 100_000
_A_STATEMENT: Final = 10_000
_OPEN: Final = LetterStatus.OPEN

# ?1 first number, ?2 one in so many is open
_NUMBERS: Final = f"""
WITH RECURSIVE n(i) AS (SELECT ?1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1 + {_A_STATEMENT} - 1)
"""  # noqa: S608 - our own numbers
_AGE: Final = f"i * {35 * 86_400_000 // LETTERS}"
_LETTERS: Final = f"""{_NUMBERS}
INSERT INTO dead_letters (id, tenant_id, job_id, kind, status, road, class, code, model, attempts,
                          schema_version, first_failed_at, last_failed_at, triage_due_at,
                          resolved_at)
SELECT printf('dl_%026d', i), 't-' || (i % 500), printf('job_%026d', i), 'summarize',
       CASE WHEN i % ?2 = 0 THEN 'open' ELSE 'redriven' END, 'exhausted', 'timeout',
       'code_' || (i / 7 % 10), 'a-model', 5, 1, {NOW} - {_AGE}, {NOW} - {_AGE},
       {NOW} - {_AGE} + 259200000, CASE WHEN i % ?2 THEN {NOW} - {_AGE} + 60000 END
  FROM n
"""  # noqa: S608 - our own terms
_JOBS: Final = f"""{_NUMBERS}
INSERT INTO jobs (tenant_id, id, request_key, kind, engine, origin, state, params, metadata, input,
                  max_attempts, attempts, attempt_no, created_at, due_at, deadline_at, finished_at,
                  expires_at, error_class, error_code)
SELECT 't-' || (i % 500), printf('job_%026d', i), printf('job_%026d', i), 'summarize', 'queue',
       'api', 'failed', '{{}}', '{{}}', '{{"form": "text", "bytes": 1}}', 5, 5, 5, 1, 1, 1,
       {NOW} - {_AGE}, {NOW} - {_AGE} + 2592000000, 'timeout', 'x'
  FROM n
 WHERE ?2 > 0
"""  # noqa: S608 - our own terms
# What the purge would ask if nothing but the time of failure were indexed. ?1 ms to keep
_WITHOUT_INDEX: Final = f"""
SELECT id
  FROM dead_letters INDEXED BY dead_letters_by_time
 WHERE last_failed_at <= {NOW} - ?1 AND resolved_at <= {NOW} - ?1
 ORDER BY last_failed_at
 LIMIT 100
"""  # noqa: S608 - our own terms


async def fill(database: RemoteD1, *, one_open_in: int) -> None:
    for table in ("dead_letters", "jobs"):
        await database.batch([Statement(f"DELETE FROM {table}")])  # noqa: S608 - our own names
    for start in range(0, LETTERS, _A_STATEMENT):
        for sql in (_LETTERS, _JOBS):
            await database.batch([Statement(sql, (start, one_open_in))])


async def measure(database: RemoteD1, name: str, look: Callable[[], Awaitable[object]]) -> None:
    read, written, start = database.rows_read, database.rows_written, time.perf_counter()
    await look()
    seconds = time.perf_counter() - start
    rows = f"{database.rows_read - read:9,}  {database.rows_written - written:12,}"
    print(f"{name:44}  {rows}  {seconds:7.3f}")  # noqa: T201


async def compare(database: RemoteD1, *, one_open_in: int) -> None:
    await fill(database, one_open_in=one_open_in)
    month = timedelta(days=30)
    ages = Ages.of(keep_inputs=month, keep_results=month, expiring_within=timedelta(hours=72))
    triage, purging = SqlTriage(database, ages), SqlPurging(database)
    conditions = SqlConditions(database, ages)
    figures = await conditions.figures()
    print(f"\n{LETTERS:,} letters, {figures.open:,} of them open, {figures.expiring:,} expiring")  # noqa: T201
    print(f"{'':44}  rows read  rows written  seconds")  # noqa: T201

    async def page(**wanted: str | bool) -> object:
        return await triage.page(LetterFilter(**wanted), before=None, limit=50)  # type: ignore[arg-type] # words of the enums

    async def grouped(status: LetterStatus) -> object:
        return await triage.groups(LetterFilter(status=status), limit=200)

    async def purge_without_index() -> object:
        ten_days = timedelta(days=10) // timedelta(milliseconds=1)
        return await database.batch([Statement(_WITHOUT_INDEX, (ten_days,))])

    looks: dict[str, Callable[[], Awaitable[object]]] = {
        "a page of 50": page,
        "a page of 50 open": lambda: page(status=_OPEN),
        "a page of 50 open of one tenant": lambda: page(status=_OPEN, tenant_id="t-0"),
        "a page of 50 open of a rare class": lambda: page(status=_OPEN, error_class="crashed"),
        "a page of 50 past triage": lambda: page(status=_OPEN, past_triage=True),
        "a page of 50 expiring": lambda: page(status=_OPEN, expiring=True),
        "a page of 50 of a rare class": lambda: page(error_class="crashed"),
        "groups of open ones": lambda: grouped(_OPEN),
        "groups of redriven ones": lambda: grouped(LetterStatus.REDRIVEN),
        "conditions, counted": conditions.figures,
        "conditions, kept": lambda: conditions.keep(
            measures_of(figures, dlq_oldest=timedelta(), bounds=bounds_of(DEFAULT_OBJECTIVES))
        ),
        "purge, all that failed 10 days ago": lambda: purging.delete_letters(
            keep=timedelta(days=10), limit=100
        ),
        "the same without the index of resolved ones": purge_without_index,
    }
    for name, look in looks.items():
        await measure(database, name, look)


async def main() -> None:
    with tempfile.TemporaryDirectory() as state, running(Path(state)) as stack:
        database = RemoteD1(stack)
        for one_open_in in (10, 1):
            await compare(database, one_open_in=one_open_in)


if __name__ == "__main__":
    asyncio.run(main())
