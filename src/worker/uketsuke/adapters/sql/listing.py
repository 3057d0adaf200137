"""Lists of jobs, newest first, and how many there are.

Live jobs are looked up where the sweep finds them, so that an old one that is stuck is on the first
page, however many newer ones have ended. If too many live, the list looks through a stretch a page.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from uketsuke.adapters.sql import rows
from uketsuke.adapters.sql.database import Database, Param, Row, Statement
from uketsuke.adapters.sql.job_counts import count_jobs
from uketsuke.adapters.sql.stretch import AFTER_ALL, list_of, page_of
from uketsuke.adapters.sql.terms import J_JOB, JOB, NOW
from uketsuke.domain.ids import RANDOM_BYTES, time_sorted_id
from uketsuke.domain.lifecycle import TERMINAL
from uketsuke.services.ports import JobFilter, JobPage, StateCount

# How many live jobs a page may look at.
LIVE_AT_MOST: Final = 10_000
# A request names its job by its Worker's clock, the row is dated by the database's: the time in an
# id and that of its row are less than this apart.
_APART_MS: Final = 60_000
_LAST_MS: Final = (1 << 48) - 1  # what an id has room for, in the year 10889

# A job of a schedule bears in its id when it was due, and may have been accepted long after: it
# counts as of then, lest it be in no list at all.
# ?8 the id from which on to look, ?9 and ?10 ids that bound those of schedules, ?11 and ?12 when
# the others were created, ?13 and ?14 when they finished, or null
_TIMES: Final = """
       AND CASE origin WHEN 'schedule' THEN id >= ?9 AND id < ?10
           ELSE created_at >= ?11 AND created_at < ?12 END
       AND (?13 IS NULL OR finished_at >= ?13)
       AND (?14 IS NULL OR finished_at < ?14)"""
# ?15 1 for those that wait and are due, 0 for those that wait and are not, or null
_DUE: Final = f"""
       AND (?15 IS NULL OR (state IN ('accepted', 'retrying') AND (due_at <= {NOW}) = ?15))"""
_ALSO: Final = _TIMES + _DUE
JOBS = list_of("jobs", columns=JOB, fits=("state", "kind", "run_key"), also=_ALSO)
LIST_OF_A_TENANT, LIST_OF_ALL, END_OF_A_TENANT, END_OF_ALL = JOBS

# Sorted by what decides alone: the rest is read of a page's jobs only.
# Parameters as of the lists, but ?7 live jobs at most
LIST_LIVE: Final = f"""
SELECT {J_JOB}
  FROM (SELECT tenant_id, id
          FROM (SELECT tenant_id, id, state, kind, run_key, origin, created_at, finished_at,
                       due_at
                  FROM jobs INDEXED BY jobs_wake_at
                 WHERE wake_at IS NOT NULL
                 LIMIT ?7) AS looked
         WHERE (?1 IS NULL OR tenant_id = ?1)
           AND id < ?2
           AND id >= ?8
           AND (?3 IS NULL OR state = ?3)
           AND (?4 IS NULL OR kind = ?4)
           AND (?5 IS NULL OR run_key = ?5){_ALSO}
         ORDER BY id DESC
         LIMIT ?6) AS page
 CROSS JOIN jobs AS j ON j.tenant_id = page.tenant_id AND j.id = page.id
 ORDER BY j.id DESC
"""
# A row if more jobs live than may be looked at. ?1 live jobs at most
MANY_LIVE: Final = """
SELECT 1 FROM jobs INDEXED BY jobs_wake_at WHERE wake_at IS NOT NULL LIMIT 1 OFFSET ?1
"""


class SqlListing:
    """``services.ports.Listing`` on any ``Database``."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def page(
        self, wanted: JobFilter, *, tenant_id: str | None, before: str | None, limit: int
    ) -> JobPage:
        start = min(before or AFTER_ALL, _end_of(wanted))
        place = (tenant_id, start, limit)
        page = await self._live_page(wanted, *place) if _lives(wanted) else None
        found, cursor = page or await self._page(wanted, *place)
        return JobPage(jobs=[rows.to_job(row) for row in found], cursor=cursor)

    async def counts(self, wanted: JobFilter, *, tenant_id: str | None) -> Sequence[StateCount]:
        return await count_jobs(wanted, tenant_id=tenant_id, database=self._database)

    async def _page(
        self, wanted: JobFilter, tenant_id: str | None, start: str, limit: int
    ) -> tuple[Sequence[Row], str | None]:
        return await page_of(
            JOBS,
            (wanted.state, wanted.kind, wanted.run_key),
            tenant_id=tenant_id,
            before=start,
            limit=limit,
            database=self._database,
            floor=_start_of(wanted),
            also=_also(wanted),
        )

    async def _live_page(
        self, wanted: JobFilter, tenant_id: str | None, start: str, limit: int
    ) -> tuple[Sequence[Row], str | None] | None:
        """Return a page of live jobs; None if there are too many to look at."""
        asked = (tenant_id, start, wanted.state, wanted.kind, wanted.run_key, limit, LIVE_AT_MOST)
        many, found = await self._database.batch(
            [
                Statement(MANY_LIVE, (LIVE_AT_MOST,)),
                Statement(LIST_LIVE, (*asked, _start_of(wanted), *_also(wanted))),
            ]
        )
        if many:
            return None
        return found, found[-1]["id"] if len(found) == limit else None


def _lives(wanted: JobFilter) -> bool:
    """Whether only live jobs are meant."""
    if wanted.state is None:
        return wanted.due is not None
    return wanted.state not in TERMINAL


def _end_of(wanted: JobFilter) -> str:
    """Return the id from which on no job can fit. None finishes before it was created."""
    ends = [_to_ms(time) for time in (wanted.created_before, wanted.finished_before) if time]
    return min((_lowest_id(end + _APART_MS) for end in ends), default=AFTER_ALL)


def _start_of(wanted: JobFilter) -> str:
    """Return the id below which no job can fit."""
    return _lowest_id(_to_ms(wanted.created_after) - _APART_MS) if wanted.created_after else ""


def _also(wanted: JobFilter) -> tuple[Param, ...]:
    return (*_times(wanted), None if wanted.due is None else int(wanted.due))


def _times(wanted: JobFilter) -> tuple[Param, ...]:
    after = _to_ms(wanted.created_after) if wanted.created_after else 0
    before = _to_ms(wanted.created_before) if wanted.created_before else _LAST_MS
    return (
        _lowest_id(after),
        _lowest_id(before),
        after,
        before,
        _to_ms(wanted.finished_after) if wanted.finished_after else None,
        _to_ms(wanted.finished_before) if wanted.finished_before else None,
    )


def _lowest_id(ms: int) -> str:
    """Return the lowest id that a job of that moment can have."""
    now_ms = min(max(0, ms), _LAST_MS)
    return time_sorted_id("job", now_ms=now_ms, entropy=bytes(RANDOM_BYTES))


def _to_ms(time: datetime) -> int:
    """Round up: what is in whole milliseconds is before a moment if it is before the next whole."""
    return -rows.to_ms(rows.to_time(0) - time)
