"""The store's side of the purge."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime

from uketsuke.adapters.sql import rows
from uketsuke.adapters.sql import statements as sql
from uketsuke.adapters.sql.database import Database, Row, Statement
from uketsuke.domain.ids import RANDOM_BYTES, time_sorted_id
from uketsuke.domain.job import JobKey
from uketsuke.services.ports import Expired


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
        page = Statement(sql.SELECT_EXPIRED_JOBS, (bound, after, limit))
        (found,) = await self._database.batch([page])
        return [_expired_job(row) for row in found]

    async def delete_jobs(self, keys: Collection[JobKey]) -> int:
        wave = (rows.from_keys(keys),)
        *_, deleted = await self._database.batch(
            [
                Statement(sql.DELETE_SUBMISSIONS, wave),
                Statement(sql.DELETE_ATTEMPTS, wave),
                Statement(sql.DELETE_JOBS, wave),
            ]
        )
        return len(deleted)

    async def expired_inputs(self, *, limit: int) -> Sequence[Expired]:
        (found,) = await self._database.batch([Statement(sql.SELECT_EXPIRED_INPUTS, (limit,))])
        return [
            Expired(
                key=JobKey(row["tenant_id"], row["id"]), objects=(row["object_key"],), prefix=None
            )
            for row in found
        ]

    async def delete_inputs(self, keys: Collection[JobKey]) -> int:
        delete = Statement(sql.DELETE_INPUTS, (rows.from_keys(keys),))
        (deleted,) = await self._database.batch([delete])
        return len(deleted)


def _expired_job(row: Row) -> Expired:
    result = rows.to_result_place(row["result"])
    named = [rows.to_input_place(row["input"]).object_key, result.object_key if result else None]
    key = JobKey(row["tenant_id"], row["id"])
    # Attempts that were lost may have left objects that no row names.
    prefix = f"{key.tenant_id}/{key.job_id}/" if row["attempt_no"] > 1 else None
    return Expired(key=key, objects=tuple(filter(None, named)), prefix=prefix)
