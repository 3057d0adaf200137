"""How many jobs there are of each state, as far as a bounded look tells.

Nothing keeps such counts by kind, run key and tenant: that would cost each job rows. So two
bounded parts are looked through: the live jobs, which are few as a rule, and the newest of all.
What one of them has seen whole is exact, and the rest is at least what was seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from uketsuke.adapters.sql.database import Database, Row, Statement
from uketsuke.adapters.sql.stretch import STRETCH
from uketsuke.domain.lifecycle import TERMINAL, JobState
from uketsuke.services.ports import JobFilter, StateCount

# How many jobs are looked at.
LIVE_AT_MOST: Final = 1000
NEWEST_AT_MOST: Final = STRETCH


def _counting(where: str) -> str:
    return f"""
SELECT state, coalesce(sum(fits), 0) AS jobs, count(*) AS looked_at
  FROM (SELECT state,
               (?1 IS NULL OR tenant_id = ?1)
               AND (?2 IS NULL OR kind = ?2)
               AND (?3 IS NULL OR run_key = ?3) AS fits
          FROM jobs {where}
         LIMIT ?4) AS page
 GROUP BY state
"""


# ?1 tenant or null, ?2 kind or null, ?3 run key or null, ?4 jobs at most
COUNT_LIVE: Final = _counting("INDEXED BY jobs_wake_at WHERE wake_at IS NOT NULL")
COUNT_NEWEST_OF_A_TENANT: Final = _counting("WHERE tenant_id = ?1 ORDER BY id DESC")
COUNT_NEWEST_OF_ALL: Final = _counting("WHERE id > '' ORDER BY id DESC")


class _Part(NamedTuple):
    """What a look at some jobs has counted; ``whole``: there were no more to look at."""

    jobs: dict[str, int]
    whole: bool


async def count_jobs(
    wanted: JobFilter, *, tenant_id: str | None, database: Database
) -> Sequence[StateCount]:
    """Count the jobs of each state, in the lifecycle's order, in one call."""
    newest = COUNT_NEWEST_OF_ALL if tenant_id is None else COUNT_NEWEST_OF_A_TENANT
    asked = (tenant_id, wanted.kind, wanted.run_key)
    # One more than is told: it says whether there are more.
    live, recent = await database.batch(
        [
            Statement(COUNT_LIVE, (*asked, LIVE_AT_MOST + 1)),
            Statement(newest, (*asked, NEWEST_AT_MOST + 1)),
        ]
    )
    parts = (_part(live, at_most=LIVE_AT_MOST), _part(recent, at_most=NEWEST_AT_MOST))
    return [_count_of(state, *parts) for state in JobState]


def _count_of(state: JobState, live: _Part, newest: _Part) -> StateCount:
    parts = [newest] if state in TERMINAL else [live, newest]
    # Both parts are of one moment, and none counts a job that is not there: the highest is true.
    count = max(part.jobs.get(state, 0) for part in parts)
    return StateCount(state=state, count=count, capped=not any(part.whole for part in parts))


def _part(found: Sequence[Row], *, at_most: int) -> _Part:
    looked_at = sum(row["looked_at"] for row in found)
    jobs = {row["state"]: min(int(row["jobs"]), at_most) for row in found}
    return _Part(jobs, whole=looked_at <= at_most)
