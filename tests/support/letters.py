"""Failed jobs with their open dead letters, put in by SQL: many at once, as after an outage."""

from __future__ import annotations

import itertools
import json
import secrets
from collections.abc import Sequence
from typing import Any

from uketsuke.adapters.sql.database import Statement
from uketsuke.adapters.sql.terms import NOW

# Apart from what other runs have left in the database, and in the order in which it is put in.
_names = itertools.count(secrets.randbelow(10**7) * 10**8, 10**4)

# ?1 tenant, ?2 how many, ?3 the first one's number
_SERIES = "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ?2 - 1)"
_NAME = "printf('%026d', ?3 + i)"
_JOBS = f"""
{_SERIES}
INSERT INTO jobs (tenant_id, id, request_key, kind, engine, origin, state, params, metadata, input,
                  max_attempts, attempts, attempt_no, created_at, due_at, deadline_at, finished_at,
                  expires_at, error_class, error_code, expected)
SELECT ?1, 'job_' || {_NAME}, 'job_' || {_NAME}, ?4, 'queue', 'api', 'failed', '{{}}', '{{}}',
       json_object('form', 'text', 'bytes', length(?6)), 5, 1, 1, {NOW}, {NOW}, {NOW} + ?7, {NOW},
       {NOW} + 86400000, 'unavailable', 'x', ?5
  FROM n
"""  # noqa: S608
_INPUTS = f"""
{_SERIES}
INSERT INTO submissions (tenant_id, request_key, job_id, input)
SELECT ?1, 'job_' || {_NAME}, 'job_' || {_NAME}, ?4
  FROM n
"""  # noqa: S608
_LETTERS = f"""
{_SERIES}
INSERT INTO dead_letters (id, tenant_id, job_id, kind, road, class, code, attempts, redrives,
                          first_failed_at, last_failed_at, triage_due_at, schema_version)
SELECT 'dl_' || {_NAME}, ?1, 'job_' || {_NAME}, ?4, 'exhausted', ?5, ?6, 1, ?7,
       1, {NOW} - 100000 + i, 1, ?8
  FROM n
"""  # noqa: S608


def letters_of(tenant: str, count: int, **changes: Any) -> Sequence[Statement]:
    """Return the statements that put them in, the oldest failure first."""
    told: dict[str, Any] = {
        "kind": "summarize", "class": "unavailable", "code": "provider_unavailable",
        "schema_version": 1, "redrives": 0, "expected": None, "text": "text", "given_ms": 3_600_000,
        **changes,
    }  # fmt: skip
    expected = None if told["expected"] is None else json.dumps(told["expected"])
    own = (tenant, count, next(_names))
    job = (*own, told["kind"], expected, told["text"], told["given_ms"])
    letter = (told["kind"], told["class"], told["code"], told["redrives"], told["schema_version"])
    return [
        Statement(_JOBS, job),
        Statement(_INPUTS, (*own, json.dumps(told["text"]))),
        Statement(_LETTERS, (*own, *letter)),
    ]
