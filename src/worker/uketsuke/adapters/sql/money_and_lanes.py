"""What today costs, and which lanes are denied: a few rows, each minute."""

from __future__ import annotations

from typing import Final

from uketsuke.adapters.sql.cost_statements import TODAY, budget_of
from uketsuke.adapters.sql.database import Database, Statement
from uketsuke.adapters.sql.terms import NOW
from uketsuke.domain.outlook import Denied, Spending

SUM_TODAY: Final = f"""
SELECT coalesce(sum(cost_micros), 0) AS micros FROM usage_days WHERE day = {TODAY}
"""

# Who has used most of what its day may cost. ?1 daily budget
SELECT_SPENDER: Final = f"""
SELECT tenant_id, 100 * charged / budget AS percent
  FROM (SELECT spent.tenant_id, spent.charged, {budget_of("spent", default="?1")} AS budget
          FROM (SELECT tenant_id, sum(charged_micros) AS charged
                  FROM usage_days
                 WHERE day = {TODAY}
                 GROUP BY tenant_id) AS spent)
 WHERE budget > 0
 ORDER BY percent DESC, tenant_id
 LIMIT 1
"""

# Nothing but a person mends these: of other classes a lane opens by itself.
COUNT_DENIED: Final = f"""
SELECT count(*) AS lanes, min(lane) AS lane
  FROM lanes
 WHERE class IN ('denied', 'not_found') AND forget_at > {NOW}
"""


class SqlMoneyAndLanes:
    """``services.ports.MoneyAndLanes`` on any ``Database``."""

    def __init__(self, database: Database, *, daily_budget_micros: int | None) -> None:
        self._database = database
        self._budget = daily_budget_micros

    async def now(self) -> tuple[Spending, Denied]:
        (today,), spenders, (denied,) = await self._database.batch(
            [
                Statement(SUM_TODAY),
                Statement(SELECT_SPENDER, (self._budget,)),
                Statement(COUNT_DENIED),
            ]
        )
        first = spenders[0] if spenders else None
        spending = Spending(
            today_micros=int(today["micros"]),
            used_percent=int(first["percent"]) if first else 0,
            tenant_id=first["tenant_id"] if first else None,
        )
        return spending, Denied(count=int(denied["lanes"]), lane=denied["lane"])
