"""Lists of jobs, newest first. A page looks at a bounded stretch and counts nothing."""

from __future__ import annotations

from typing import Final

from uketsuke.adapters.sql import rows
from uketsuke.adapters.sql.database import Database, Statement
from uketsuke.adapters.sql.terms import JOB
from uketsuke.services.ports import JobFilter, JobPage

# How many jobs one page looks at to find those that fit: a rare state among many jobs must not
# make one request read them all. What is further back is on a later page.
_STRETCH: Final = 1000
_AFTER_ALL: Final = "job_~"  # sorts after every id


def _select(who: str) -> str:
    """Fitting jobs of a stretch, and the stretch's own end.

    ?1 tenant, ?2 the id before which to look, ?3 state, ?4 kind, ?5 run key, ?6 page, ?7 stretch
    """
    stretch = f"SELECT * FROM jobs WHERE {who} AND id < ?2 ORDER BY id DESC LIMIT ?7"
    return f"""
    SELECT {JOB}
      FROM ({stretch})
     WHERE (?3 IS NULL OR state = ?3)
       AND (?4 IS NULL OR kind = ?4)
       AND (?5 IS NULL OR run_key = ?5)
     ORDER BY id DESC
     LIMIT ?6
    """


def _select_end(who: str) -> str:
    """Where a full stretch ends. ?1 tenant, ?2 the id before which to look, ?3 stretch - 1"""
    return f"SELECT id FROM jobs WHERE {who} AND id < ?2 ORDER BY id DESC LIMIT 1 OFFSET ?3"


_OF_A_TENANT: Final = "tenant_id = ?1"
_OF_ALL: Final = "?1 IS NULL"
LIST_OF_A_TENANT: Final = _select(_OF_A_TENANT)
LIST_OF_ALL: Final = _select(_OF_ALL)
END_OF_A_TENANT: Final = _select_end(_OF_A_TENANT)
END_OF_ALL: Final = _select_end(_OF_ALL)


class SqlListing:
    """``services.ports.Listing`` on any ``Database``."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def page(
        self, wanted: JobFilter, *, tenant_id: str | None, before: str | None, limit: int
    ) -> JobPage:
        whole, end = (LIST_OF_ALL, END_OF_ALL)
        if tenant_id is not None:
            whole, end = (LIST_OF_A_TENANT, END_OF_A_TENANT)
        start = before or _AFTER_ALL
        fitting = (tenant_id, start, wanted.state, wanted.kind, wanted.run_key, limit, _STRETCH)
        found, ends = await self._database.batch(
            [Statement(whole, fitting), Statement(end, (tenant_id, start, _STRETCH - 1))]
        )
        jobs = [rows.to_job(row) for row in found]
        if len(jobs) == limit:
            return JobPage(jobs=jobs, cursor=jobs[-1].id)
        return JobPage(jobs=jobs, cursor=ends[0]["id"] if ends else None)
