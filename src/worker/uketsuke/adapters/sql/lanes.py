"""The store of parked lanes."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import timedelta

from uketsuke.adapters.sql import lane_statements as sql
from uketsuke.adapters.sql import rows
from uketsuke.adapters.sql.database import Database, Statement
from uketsuke.adapters.sql.repository import Retention
from uketsuke.domain.backoff import RetryPolicy
from uketsuke.domain.failure import Failure
from uketsuke.domain.job import JobKey
from uketsuke.domain.lane import Park


class SqlLanes:
    """``services.ports.Lanes`` on any ``Database``."""

    def __init__(self, database: Database, retention: Retention) -> None:
        self._database = database
        self._retention = retention

    async def park(
        self, failure: Failure, *, key: JobKey, token: str, policy: RetryPolicy, memory: timedelta
    ) -> Park:
        lane, why = failure.lane, (failure.error_class.value, failure.code)
        asked = rows.to_ms(failure.retry_after or timedelta())
        base, cap, keep = rows.to_ms(policy.base), rows.to_ms(policy.cap), rows.to_ms(memory)
        *_, ((row),) = await self._database.batch(
            [
                Statement(sql.FORGET_LANES),
                Statement(sql.PARK_LANE, (lane, *why, max(asked, base), keep, *key, token, base)),
                Statement(sql.PARK_LONGER, (lane, *why, asked, keep, base, cap, token)),
                Statement(sql.HEED_LATER, (lane, asked, keep, token)),
                Statement(sql.SELECT_PARK, (lane, *key, token)),
            ]
        )
        return Park(
            opens_in=rows.to_duration(row["opens_in"]),
            opened=bool(row["opened"]),
            leads=bool(row["leads"]),
        )

    async def enter(self, lane: str, *, key: JobKey, token: str) -> Park | bool:
        _, found = await self._database.batch(
            [
                Statement(sql.TAKE_PROBE, (lane, *key, token)),
                Statement(sql.SELECT_LANE, (lane,)),
            ]
        )
        if not found:
            return False
        (row,) = found
        probes = row["opens_in"] <= 0 and row["probe_token"] == token
        return probes or Park(opens_in=rows.to_duration(row["opens_in"]))

    async def open(self, lane: str, *, token: str) -> bool:
        (opened,) = await self._database.batch([Statement(sql.OPEN_LANE, (lane, token))])
        return bool(opened)

    async def postpone(self, waits: Mapping[JobKey, timedelta]) -> Collection[JobKey]:
        put = [[*key, rows.to_ms(wait), self._grace(wait)] for key, wait in waits.items()]
        (moved,) = await self._database.batch([Statement(sql.POSTPONE, (rows.dump(put),))])
        return {JobKey(row["tenant_id"], row["id"]) for row in moved}

    def _grace(self, wait: timedelta) -> int:
        """After a long wait nobody knocks but the sweep, so it looks when the job is due."""
        kept = self._retention
        return 0 if wait > kept.longest_knock else rows.to_ms(kept.grace)
