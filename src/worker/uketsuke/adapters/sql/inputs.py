"""The store of what a job may name as its input: uploads, and what other jobs have brought."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Final

from uketsuke.adapters.sql import rows
from uketsuke.adapters.sql.database import Database, Statement
from uketsuke.adapters.sql.terms import JOB, NOW
from uketsuke.domain.job import Job, Upload

_COLUMNS: Final = "tenant_id, id, object_key, bytes, sha256, content_type, expires_at"

# ?1 tenant, ?2 id, ?3 object key, ?4 bytes, ?5 sha256, ?6 content type, ?7 ms to keep
INSERT_INPUT: Final = f"""
INSERT INTO inputs (tenant_id, id, object_key, bytes, sha256, content_type, created_at, expires_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, {NOW}, {NOW} + ?7)
ON CONFLICT DO NOTHING
RETURNING {_COLUMNS}
"""

# ?1 tenant, ?2 JSON array of ids
SELECT_INPUTS: Final = f"""
SELECT {_COLUMNS}
  FROM inputs
 WHERE tenant_id = ?1
   AND id IN (SELECT value FROM json_each(?2))
   AND expires_at > {NOW}
"""

# Live ones too, so that one can be told that it is too early. ?1 tenant, ?2 JSON array of ids
SELECT_SOURCES: Final = f"""
SELECT {JOB}
  FROM jobs
 WHERE tenant_id = ?1
   AND id IN (SELECT value FROM json_each(?2))
   AND erased_at IS NULL
   AND (expires_at IS NULL OR expires_at > {NOW})
"""


class SqlInputs:
    """``services.ports.Inputs`` on any ``Database``."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def record(self, upload: Upload, *, keep: timedelta) -> Upload:
        row = (
            upload.tenant_id, upload.ref, upload.object_key, upload.bytes, upload.sha256,
            upload.content_type, rows.to_ms(keep),
        )  # fmt: skip
        (recorded,) = await self._database.batch([Statement(INSERT_INPUT, row)])
        return rows.to_upload(recorded[0]) if recorded else upload

    async def find(self, refs: Sequence[str], *, tenant_id: str) -> Mapping[str, Upload]:
        asked = Statement(SELECT_INPUTS, (tenant_id, rows.dump(list(refs))))
        (found,) = await self._database.batch([asked])
        return {row["id"]: rows.to_upload(row) for row in found}

    async def find_jobs(self, job_ids: Sequence[str], *, tenant_id: str) -> Mapping[str, Job]:
        asked = Statement(SELECT_SOURCES, (tenant_id, rows.dump(list(job_ids))))
        (found,) = await self._database.batch([asked])
        return {row["id"]: rows.to_job(row) for row in found}
