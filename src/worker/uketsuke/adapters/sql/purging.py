"""The store's side of the purge."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Final

from uketsuke.adapters.sql import rows
from uketsuke.adapters.sql.database import Database, Row, Statement
from uketsuke.adapters.sql.terms import IN_WAVE, NOW
from uketsuke.domain.ids import RANDOM_BYTES, time_sorted_id
from uketsuke.domain.job import JobKey
from uketsuke.services.ports import Expired

# Ids sort by age, so the oldest jobs come first; what ended late is passed by.
# ?1 an id that only jobs older than the retention lie below, ?2 the last id seen, ?3 page size
SELECT_EXPIRED_JOBS: Final = f"""
SELECT tenant_id, id, attempt_no, input, result
  FROM jobs
 WHERE id > ?2 AND id < ?1 AND expires_at <= {NOW}
 ORDER BY id
 LIMIT ?3
"""

# ?1 wave. The statements on what belongs to the jobs go first: they find it through them.
DELETE_SUBMISSIONS: Final = f"""
DELETE FROM submissions
 WHERE (tenant_id, request_key) IN
       (SELECT tenant_id, request_key FROM jobs WHERE {IN_WAVE} AND expires_at <= {NOW})
"""
DELETE_ATTEMPTS: Final = f"""
DELETE FROM attempts
 WHERE (tenant_id, job_id) IN
       (SELECT tenant_id, id FROM jobs WHERE {IN_WAVE} AND expires_at <= {NOW})
"""
DELETE_CHECKPOINTS: Final = f"""
DELETE FROM checkpoints
 WHERE (tenant_id, job_id) IN
       (SELECT tenant_id, id FROM jobs WHERE {IN_WAVE} AND expires_at <= {NOW})
"""
DELETE_JOBS: Final = f"""
DELETE FROM jobs WHERE {IN_WAVE} AND expires_at <= {NOW} RETURNING id
"""

# ?1 page size
SELECT_EXPIRED_INPUTS: Final = f"""
SELECT tenant_id, id, object_key
  FROM inputs
 WHERE expires_at <= {NOW}
 ORDER BY expires_at
 LIMIT ?1
"""

# ?1 wave
DELETE_INPUTS: Final = f"""
DELETE FROM inputs WHERE {IN_WAVE} AND expires_at <= {NOW} RETURNING id
"""

# ?1 ms to keep, ?2 page size
DELETE_LETTERS: Final = f"""
DELETE FROM dead_letters
 WHERE status <> 'open'
   AND id IN (SELECT id
                FROM dead_letters
               WHERE resolved_at IS NOT NULL AND resolved_at <= {NOW} - ?1
               ORDER BY resolved_at
               LIMIT ?2)
RETURNING id
"""


class SqlPurging:
    """``services.ports.Purging`` on any ``Database``."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def expired_jobs(
        self, *, older_than: datetime, after: str, limit: int
    ) -> Sequence[Expired]:
        # The smallest id of that moment: jobs below it are older.
        older_ms = int(older_than.timestamp() * 1000)
        bound = time_sorted_id("job", now_ms=older_ms, entropy=bytes(RANDOM_BYTES))
        page = Statement(SELECT_EXPIRED_JOBS, (bound, after, limit))
        (found,) = await self._database.batch([page])
        return [_expired_job(row) for row in found]

    async def delete_jobs(self, keys: Collection[JobKey]) -> int:
        wave = (rows.from_keys(keys),)
        *_, deleted = await self._database.batch(
            [
                Statement(DELETE_SUBMISSIONS, wave),
                Statement(DELETE_ATTEMPTS, wave),
                Statement(DELETE_CHECKPOINTS, wave),
                Statement(DELETE_JOBS, wave),
            ]
        )
        return len(deleted)

    async def expired_inputs(self, *, limit: int) -> Sequence[Expired]:
        (found,) = await self._database.batch([Statement(SELECT_EXPIRED_INPUTS, (limit,))])
        return [
            Expired(
                key=JobKey(row["tenant_id"], row["id"]), objects=(row["object_key"],), prefix=None
            )
            for row in found
        ]

    async def delete_inputs(self, keys: Collection[JobKey]) -> int:
        delete = Statement(DELETE_INPUTS, (rows.from_keys(keys),))
        (deleted,) = await self._database.batch([delete])
        return len(deleted)

    async def delete_letters(self, *, keep: timedelta, limit: int) -> int:
        delete = Statement(DELETE_LETTERS, (rows.to_ms(keep), limit))
        (deleted,) = await self._database.batch([delete])
        return len(deleted)


def _expired_job(row: Row) -> Expired:
    result = rows.to_result_place(row["result"])
    named = [rows.to_input_place(row["input"]).object_key, result.object_key if result else None]
    key = JobKey(row["tenant_id"], row["id"])
    # Any attempt may have left an object that no row names: its end was lost, or what it had stored
    # did not count in the end. Whatever the row says, only a look at the storage finds it.
    prefix = f"{key.tenant_id}/{key.job_id}/" if row["attempt_no"] else None
    return Expired(key=key, objects=tuple(filter(None, named)), prefix=prefix)
