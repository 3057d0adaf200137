"""The store's side of costs."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from uketsuke.adapters.sql import cost_statements as costs
from uketsuke.adapters.sql import rows
from uketsuke.adapters.sql.database import Database, Param, Row, Statement
from uketsuke.adapters.sql.repository import Retention, burying_failed
from uketsuke.domain.job import Job, JobKey
from uketsuke.domain.price import Tariff
from uketsuke.services.ports.costs import (
    DayBudget,
    UsageFilter,
    UsageItem,
    UsageKey,
    UsagePage,
    Used,
)

_KEY: Final = ("tenant_id", "day", "kind", "provider", "model")
_FIGURES: Final = (
    "attempts",
    "failed_attempts",
    "input_tokens",
    "output_tokens",
    "audio_ms",
    "cost_micros",
    "failed_cost_micros",
    "unknown",
)
_ASKED: Final = "u.day BETWEEN ?1 AND ?2 AND (?3 IS NULL OR u.kind = ?3)"
_AFTER: Final = "(u.day, u.kind, u.provider, u.model) < (?6, ?7, ?8, ?9)"
_NEWEST_FIRST: Final = "u.day DESC, u.kind DESC, u.provider DESC, u.model DESC"
_COLUMNS: Final = ", ".join(f"u.{name}" for name in (*_KEY, *_FIGURES))
_SUMS: Final = ", ".join(f"coalesce(sum(u.{name}), 0) AS {name}" for name in _FIGURES)

# Every tenant that has used anything, from one name to the next: the rows between are not read.
_OWNERS: Final = """
WITH RECURSIVE owner (tenant_id) AS (
  SELECT min(tenant_id) FROM usage_days WHERE tenant_id >= ?5
  UNION ALL
  SELECT (SELECT min(n.tenant_id) FROM usage_days AS n WHERE n.tenant_id > owner.tenant_id)
    FROM owner
   WHERE owner.tenant_id IS NOT NULL
)"""

# ?1 first day, ?2 last day, ?3 kind, ?4 page size, ?5 tenant, ?6 to ?9 the last one seen
USAGE_OF_A_TENANT: Final = f"""
SELECT {_COLUMNS}
  FROM usage_days AS u
 WHERE u.tenant_id = ?5 AND {_ASKED} AND (?6 IS NULL OR {_AFTER})
 ORDER BY {_NEWEST_FIRST}
 LIMIT ?4
"""

# The same, and ?5 is the tenant of the last one seen, or ''.
USAGE_OF_ALL: Final = f"""{_OWNERS}
SELECT {_COLUMNS}
  FROM owner
  JOIN usage_days AS u ON u.tenant_id = owner.tenant_id
 WHERE {_ASKED} AND (?6 IS NULL OR u.tenant_id > ?5 OR {_AFTER})
 ORDER BY u.tenant_id, {_NEWEST_FIRST}
 LIMIT ?4
"""

# ?1 first day, ?2 last day, ?3 kind, ?5 tenant (?4 is not used)
TOTALS_OF_A_TENANT: Final = f"""
SELECT {_SUMS} FROM usage_days AS u WHERE u.tenant_id = ?5 AND {_ASKED} AND ?4 IS NULL
"""
TOTALS_OF_ALL: Final = f"""{_OWNERS}
SELECT {_SUMS}
  FROM owner
  JOIN usage_days AS u ON u.tenant_id = owner.tenant_id
 WHERE {_ASKED} AND ?4 IS NULL
"""

# ?1 tenant, ?2 daily budget
SELECT_DAY_BUDGET: Final = f"""
SELECT {costs.budget_of("asked", default="?2")} AS daily_micros,
       {costs.spent_by_the_tenant_of("asked")} AS spent_micros,
       coalesce((SELECT sum(o.reserved_micros)
                   FROM jobs AS o INDEXED BY jobs_reserved
                  WHERE o.tenant_id = asked.tenant_id AND o.reserved_micros IS NOT NULL), 0)
         AS reserved_micros
  FROM (SELECT ?1 AS tenant_id) AS asked
"""


class SqlCosts:
    """``services.ports.costs.Costs`` on any ``Database``."""

    def __init__(self, database: Database, retention: Retention, tariff: Tariff) -> None:
        self._database = database
        self._retention = retention
        self._tariff = tariff

    async def fail_over_budget(self, key: JobKey) -> Job | None:
        kept, wave = self._retention, rows.from_keys([key])
        fail = (wave, rows.to_ms(kept.keep_results), *rows.from_tariff(self._tariff))
        failed, _ = await self._database.batch(
            [
                Statement(costs.FAIL_OVER_BUDGET, fail),
                burying_failed(wave, kept),
            ]
        )
        return rows.to_job(failed[0]) if failed else None

    async def await_budget(self, key: JobKey, *, wait: timedelta) -> None:
        grace = rows.to_ms(self._retention.grace)
        await self._select(costs.AWAIT_BUDGET, rows.from_keys([key]), rows.to_ms(wait), grace)

    async def raise_reservation(self, key: JobKey, *, token: str, to_micros: int) -> bool:
        budget = self._tariff.daily_budget_micros
        return bool(await self._select(costs.RAISE_RESERVATION, *key, token, to_micros, budget))

    async def usage(self, wanted: UsageFilter, *, after: UsageKey | None, limit: int) -> UsagePage:
        asked = (wanted.start.isoformat(), wanted.end.isoformat(), wanted.kind)
        tenant, page, totals = wanted.tenant_id, USAGE_OF_A_TENANT, TOTALS_OF_A_TENANT
        seen: tuple[str | None, ...] = tuple(after[1:]) if after else (None,) * 4
        begin = tenant or (after.tenant_id if after else "")
        if tenant is None:
            page, totals = USAGE_OF_ALL, TOTALS_OF_ALL
        found, (summed,), (budget,) = await self._database.batch(
            [
                Statement(page, (*asked, limit, begin, *seen)),
                Statement(totals, (*asked, None, tenant or "")),
                Statement(SELECT_DAY_BUDGET, (tenant, self._tariff.daily_budget_micros)),
            ]
        )
        items = [_to_item(row) for row in found]
        return UsagePage(
            items=items,
            totals=_to_used(summed),
            budget=_to_budget(budget) if tenant is not None else None,
            cursor=items[-1].key if len(items) == limit else None,
        )

    async def _select(self, text: str, *params: Param) -> Sequence[Row]:
        (found,) = await self._database.batch([Statement(text, params)])
        return found


def _to_item(row: Row) -> UsageItem:
    return UsageItem(key=UsageKey(*(row[name] for name in _KEY)), used=_to_used(row))


def _to_used(row: Row) -> Used:
    return Used(**{name: row[name] for name in _FIGURES})


def _to_budget(row: Row) -> DayBudget | None:
    if row["daily_micros"] is None:
        return None
    return DayBudget(
        daily_micros=row["daily_micros"],
        spent_micros=row["spent_micros"],
        reserved_micros=row["reserved_micros"],
    )
