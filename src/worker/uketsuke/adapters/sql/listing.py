"""Lists of jobs, newest first, and how many there are."""

from __future__ import annotations

from collections.abc import Sequence

from uketsuke.adapters.sql import rows
from uketsuke.adapters.sql.database import Database
from uketsuke.adapters.sql.job_counts import count_jobs
from uketsuke.adapters.sql.stretch import list_of, page_of
from uketsuke.adapters.sql.terms import JOB
from uketsuke.services.ports import JobFilter, JobPage, StateCount

JOBS = list_of("jobs", columns=JOB, fits=("state", "kind", "run_key"))
LIST_OF_A_TENANT, LIST_OF_ALL, END_OF_A_TENANT, END_OF_ALL = JOBS


class SqlListing:
    """``services.ports.Listing`` on any ``Database``."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def page(
        self, wanted: JobFilter, *, tenant_id: str | None, before: str | None, limit: int
    ) -> JobPage:
        found, cursor = await page_of(
            JOBS,
            (wanted.state, wanted.kind, wanted.run_key),
            tenant_id=tenant_id,
            before=before,
            limit=limit,
            database=self._database,
        )
        return JobPage(jobs=[rows.to_job(row) for row in found], cursor=cursor)

    async def counts(self, wanted: JobFilter, *, tenant_id: str | None) -> Sequence[StateCount]:
        return await count_jobs(wanted, tenant_id=tenant_id, database=self._database)
