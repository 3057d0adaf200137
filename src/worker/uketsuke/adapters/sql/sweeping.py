"""The store's side of the sweep: pages of jobs that nobody looked at in time."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from uketsuke.adapters.sql import rows
from uketsuke.adapters.sql import statements as sql
from uketsuke.adapters.sql.database import Database, Row, Statement
from uketsuke.adapters.sql.repository import Retention, taking_back
from uketsuke.domain.job import JobKey
from uketsuke.services.ports import Woken

_LONGEST_GRACE = timedelta(hours=1)
_BEFORE_ALL = (-1, "", "")


class SqlSweeping:
    """``services.ports.Sweeping`` on any ``Database``."""

    def __init__(self, database: Database, retention: Retention) -> None:
        self._database = database
        self._retention = retention

    async def claim_duty(self, name: str, *, token: str, lease: timedelta) -> bool:
        claim = Statement(sql.CLAIM_DUTY, (name, token, rows.to_ms(lease)))
        (claimed,) = await self._database.batch([claim])
        return bool(claimed)

    async def finish_duty(self, name: str, *, token: str) -> None:
        await self._database.batch([Statement(sql.FINISH_DUTY, (name, token))])

    async def wake_page(
        self, after: tuple[int, str, str] | None, *, limit: int, first_grace: timedelta
    ) -> Woken:
        page = Statement(sql.SELECT_WAKING, (*(after or _BEFORE_ALL), limit))
        (waking,) = await self._database.batch([page])
        if not waking:
            return Woken(to_send=(), ended=(), cursor=None)
        return await self._look_at(waking, full=len(waking) == limit, first_grace=first_grace)

    async def _look_at(self, waking: Sequence[Row], *, full: bool, first_grace: timedelta) -> Woken:
        keys = [JobKey(row["tenant_id"], row["id"]) for row in waking]
        graces = (rows.to_ms(first_grace), rows.to_ms(_LONGEST_GRACE))
        move = Statement(sql.MOVE_WAKES, (rows.from_keys(keys), *graces))
        _, back, overdue, _, moved = await self._database.batch(
            [*taking_back(keys, self._retention), move]
        )
        changed = [rows.to_job(row) for row in (*back, *overdue)]
        last = waking[-1]
        return Woken(
            to_send=[job for job in changed if not job.terminal]
            + [rows.to_job(row) for row in moved if row["to_send"]],
            ended=[job for job in changed if job.terminal],
            cursor=(int(last["wake_at"]), last["tenant_id"], last["id"]) if full else None,
        )
