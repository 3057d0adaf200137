"""The store's side of the sweep: pages of jobs that nobody looked at in time."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from uketsuke.adapters.sql import rows
from uketsuke.adapters.sql.database import Database, Row, Statement
from uketsuke.adapters.sql.repository import Retention, taking_back
from uketsuke.adapters.sql.terms import IN_WAVE, JOB, NOW
from uketsuke.domain.job import JobKey, SilentRun
from uketsuke.services.ports import Woken

# A duty is done by one sweep at a time; a lease that expires by itself frees it from a dead one.
# ?1 duty, ?2 token, ?3 lease ms
CLAIM_DUTY: Final = f"""
INSERT INTO duties (name, lease_token, leased_until) VALUES (?1, ?2, {NOW} + ?3)
ON CONFLICT (name) DO UPDATE
   SET lease_token = excluded.lease_token, leased_until = excluded.leased_until
 WHERE duties.leased_until <= {NOW}
RETURNING name
"""

# ?1 duty, ?2 token, ?3 whether it was done
FINISH_DUTY: Final = f"""
UPDATE duties
   SET lease_token = NULL, leased_until = 0, done_at = CASE WHEN ?3 THEN {NOW} ELSE done_at END
 WHERE name = ?1 AND lease_token = ?2
"""

# A row a duty.
SELECT_SILENCE: Final = f"SELECT {NOW} - max(done_at) AS silent_ms FROM duties"

# Jobs that somebody must look at, oldest wake-up first, after the last one seen: what cannot be
# moved is passed by. ?1 wake_at, ?2 tenant, ?3 id of the last one seen, ?4 page size
SELECT_WAKING: Final = f"""
SELECT tenant_id, id, wake_at
  FROM jobs
 WHERE wake_at IS NOT NULL AND wake_at <= {NOW} AND (wake_at, tenant_id, id) > (?1, ?2, ?3)
 ORDER BY wake_at, tenant_id, id
 LIMIT ?4
"""

# When to look again: a waiting job that is due is sent now, and again after a doubling grace, but
# not after the deadline; one that is not yet due, then; a running one, when its lease ends. A
# silent run is told apart: its instance must be asked.
# ?1 wave, ?2 first grace ms, ?3 longest grace ms
MOVE_WAKES: Final = f"""
UPDATE jobs
   SET wake_at = CASE WHEN state = 'running' AND leased_until > {NOW} THEN leased_until
                      WHEN state = 'running' THEN {NOW} + ?2
                      WHEN due_at > {NOW} THEN due_at
                      ELSE min({NOW} + min(?2 * (1 << min(wakes, 20)), ?3), deadline_at) END,
       wakes = wakes + (state <> 'running' AND due_at <= {NOW})
 WHERE {IN_WAVE} AND wake_at <= {NOW}
RETURNING {JOB}, state <> 'running' AND due_at <= {NOW} AS to_send,
          state = 'running' AND engine = 'workflow' AND leased_until <= {NOW} AS silent,
          leased_at + run_limit_ms <= {NOW} AS outlived, deadline_at <= {NOW} AS overdue,
          lease_token, wakes
"""

_LONGEST_GRACE = timedelta(hours=1)
_BEFORE_ALL = (-1, "", "")


class SqlSweeping:
    """``services.ports.Sweeping`` on any ``Database``."""

    def __init__(self, database: Database, retention: Retention) -> None:
        self._database = database
        self._retention = retention

    async def claim_duty(self, name: str, *, token: str, lease: timedelta) -> bool:
        claim = Statement(CLAIM_DUTY, (name, token, rows.to_ms(lease)))
        (claimed,) = await self._database.batch([claim])
        return bool(claimed)

    async def finish_duty(self, name: str, *, token: str, done: bool) -> None:
        await self._database.batch([Statement(FINISH_DUTY, (name, token, int(done)))])

    async def silent_for(self) -> timedelta | None:
        ((found,),) = await self._database.batch([Statement(SELECT_SILENCE)])
        return None if found["silent_ms"] is None else rows.to_duration(found["silent_ms"])

    async def wake_page(
        self, after: tuple[int, str, str] | None, *, limit: int, first_grace: timedelta
    ) -> Woken:
        page = Statement(SELECT_WAKING, (*(after or _BEFORE_ALL), limit))
        (waking,) = await self._database.batch([page])
        if not waking:
            return Woken(to_send=(), ended=(), silent=(), cursor=None)
        return await self._look_at(waking, full=len(waking) == limit, first_grace=first_grace)

    async def _look_at(self, waking: Sequence[Row], *, full: bool, first_grace: timedelta) -> Woken:
        keys = [JobKey(row["tenant_id"], row["id"]) for row in waking]
        graces = (rows.to_ms(first_grace), rows.to_ms(_LONGEST_GRACE))
        move = Statement(MOVE_WAKES, (rows.from_keys(keys), *graces))
        _, back, overdue, _, moved = await self._database.batch(
            [*taking_back(keys, self._retention), move]
        )
        changed = [rows.to_job(row) for row in (*back, *overdue)]
        taken_back = [job for job in changed if not job.terminal]
        last = waking[-1]
        return Woken(
            to_send=taken_back + [rows.to_job(row) for row in moved if row["to_send"]],
            ended=[job for job in changed if job.terminal],
            taken_back=taken_back,
            silent=[_silent(row) for row in moved if row["silent"]],
            cursor=(int(last["wake_at"]), last["tenant_id"], last["id"]) if full else None,
        )


def _silent(row: Row) -> SilentRun:
    return SilentRun(
        job=rows.to_job(row),
        token=row["lease_token"],
        nudges=row["wakes"],
        outlived=bool(row["outlived"]),
        overdue=bool(row["overdue"]),
    )
