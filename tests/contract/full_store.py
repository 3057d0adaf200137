"""A store full of sound rows, written in few statements: for what must not grow with it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from uketsuke.adapters.sql.database import Statement
from uketsuke.adapters.sql.terms import NOW

# ?1 tenant, ?2 the first number, ?3 how many
_NUMBERS: Final = """
WITH RECURSIVE n(i) AS (SELECT CAST(?2 AS INTEGER)
                         UNION ALL
                        SELECT i + 1 FROM n WHERE i < ?2 + ?3 - 1)"""
_ID: Final = "printf('%026d', i)"
_LIVES: Final = "i % 10 = 1"
_FAILED: Final = "i % 10 = 0"
_ENDED: Final = f"CASE WHEN NOT ({_LIVES}) THEN {NOW} END"

_JOBS: Final = f"""{_NUMBERS}
INSERT INTO jobs (tenant_id, id, request_key, kind, engine, origin, state, run_key, live_run_key,
                  params, metadata, input, max_attempts, attempts, attempt_no, created_at, due_at,
                  wake_at, deadline_at, finished_at, expires_at, error_class, error_code, result)
SELECT ?1, 'job_' || {_ID}, 'job_' || {_ID}, 'embed', 'queue', 'api',
       CASE WHEN {_LIVES} THEN 'accepted' WHEN {_FAILED} THEN 'failed' ELSE 'succeeded' END,
       'key-' || i, CASE WHEN {_LIVES} THEN 'key-' || i END, '{{}}', '{{}}',
       '{{"form": "text", "bytes": 1}}', 5, NOT ({_LIVES}), NOT ({_LIVES}), {NOW}, {NOW},
       CASE WHEN {_LIVES} THEN {NOW} + 3600000 END, {NOW} + 7200000,
       {_ENDED}, {_ENDED} + 2592000000,
       CASE WHEN {_FAILED} THEN 'unknown' END, CASE WHEN {_FAILED} THEN 'ValueError' END,
       CASE WHEN NOT ({_LIVES}) AND NOT ({_FAILED})
            THEN '{{"attempt": 1, "bytes": 2, "object_key": null,
                  "content_type": "application/json"}}' END
  FROM n
"""  # noqa: S608 - pieces of our own
_SUBMISSIONS: Final = f"""{_NUMBERS}
INSERT INTO submissions (tenant_id, request_key, job_id, input)
SELECT ?1, 'job_' || {_ID}, 'job_' || {_ID}, '"x"' FROM n
"""  # noqa: S608 - pieces of our own
_ATTEMPTS: Final = f"""{_NUMBERS}
INSERT INTO attempts (tenant_id, job_id, number, lease_token, started_at, ended_at, outcome, state,
                      result)
SELECT ?1, 'job_' || {_ID}, 1, 't', {NOW}, {NOW},
       CASE WHEN {_FAILED} THEN 'failed' ELSE 'succeeded' END,
       CASE WHEN {_FAILED} THEN 'failed' ELSE 'succeeded' END,
       CASE WHEN NOT ({_FAILED}) THEN '{{}}' END
  FROM n
 WHERE NOT ({_LIVES})
"""  # noqa: S608 - pieces of our own
# Every tenth was discarded.
_LETTERS: Final = f"""{_NUMBERS}
INSERT INTO dead_letters (id, tenant_id, job_id, kind, status, road, class, code, first_failed_at,
                          last_failed_at, triage_due_at, resolved_at, resolved_by, reason)
SELECT 'dl_' || {_ID}, ?1, 'job_' || {_ID}, 'embed',
       CASE WHEN i % 100 = 0 THEN 'discarded' ELSE 'open' END, 'permanent', 'unknown', 'ValueError',
       {NOW}, {NOW}, {NOW}, CASE WHEN i % 100 = 0 THEN {NOW} END,
       CASE WHEN i % 100 = 0 THEN 'key-1' END, CASE WHEN i % 100 = 0 THEN 'why' END
  FROM n
 WHERE {_FAILED}
"""  # noqa: S608 - pieces of our own
_AUDIT: Final = f"""{_NUMBERS}
INSERT INTO audit (id, at, actor, action, target, tenant_id, reason, request_id, detail)
SELECT 'au_' || ?1 || {_ID}, {NOW}, 'key-1', 'dead_letter.discarded', 'dl_' || {_ID}, ?1, 'why',
       'r', '{{}}'
  FROM n
 WHERE i % 100 = 0
"""  # noqa: S608 - pieces of our own
_UPLOADS: Final = f"""{_NUMBERS}
INSERT INTO inputs (tenant_id, id, object_key, bytes, sha256, content_type, created_at, expires_at)
SELECT ?1, 'in_' || {_ID}, ?1 || '/x', 1, '', 't', {NOW}, {NOW} + 2592000000 FROM n
"""  # noqa: S608 - pieces of our own

_TABLES: Final = (_JOBS, _SUBMISSIONS, _ATTEMPTS, _LETTERS, _AUDIT, _UPLOADS)


def filling(tenant: str, jobs: int, *, start: int = 1, page: int = 10_000) -> Iterator[Statement]:
    """Yield the statements that write ``jobs`` jobs and what belongs to them, of every state."""
    for first in range(start, start + jobs, page):
        count = min(page, start + jobs - first)
        yield from (Statement(text, (tenant, first, count)) for text in _TABLES)


def emptying(tenant: str) -> Sequence[Statement]:
    """Return the statements that take all of it away, but for the audit, which stays."""
    tables = ("jobs", "submissions", "attempts", "dead_letters", "inputs", "usage_days")
    return [
        Statement(f"DELETE FROM {table} WHERE tenant_id = ?1", (tenant,))  # noqa: S608 - our own
        for table in tables
    ]
