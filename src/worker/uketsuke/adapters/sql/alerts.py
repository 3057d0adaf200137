"""The store of alerts. All times come from the conditions, so from the database's clock."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Final

from uketsuke.adapters.sql import rows
from uketsuke.adapters.sql.conditions import SELECT_CONDITIONS, to_condition
from uketsuke.adapters.sql.database import Database, Row, Statement
from uketsuke.adapters.sql.terms import NOW
from uketsuke.domain.alert import Alert, AlertState, DeliveryFault, Standing

SELECT_TIME: Final = f"SELECT {NOW} AS now"
# A handful.
SELECT_ALERTS: Final = "SELECT * FROM alerts LIMIT 100"

# Only by a look that is not older than the last one; one that is still to come is of a clock that
# was wrong. What was said stays as it is; for a new step the tries begin anew.
# ?1 JSON array of [name, state, looked, since, fired, cleared, resolved, step, step at]
KEEP_ALERTS: Final = f"""
INSERT INTO alerts (name, state, looked_at, since, fired_at, cleared_at, resolved_at, step, step_at)
SELECT put.value ->> 0, put.value ->> 1, put.value ->> 2, put.value ->> 3, put.value ->> 4,
       put.value ->> 5, put.value ->> 6, put.value ->> 7, put.value ->> 8
  FROM json_each(?1) AS put
 WHERE true
ON CONFLICT (name) DO UPDATE
   SET state = excluded.state,
       looked_at = excluded.looked_at,
       since = excluded.since,
       fired_at = excluded.fired_at,
       cleared_at = excluded.cleared_at,
       resolved_at = excluded.resolved_at,
       tries = CASE WHEN excluded.step > step THEN 0 ELSE tries END,
       try_at = CASE WHEN excluded.step > step THEN excluded.step_at ELSE try_at END,
       step = excluded.step,
       step_at = excluded.step_at
 WHERE (alerts.looked_at <= excluded.looked_at OR alerts.looked_at > {NOW})
   AND alerts.step <= excluded.step
RETURNING name
"""

# ?1 JSON array of names
FORGET_ALERTS: Final = "DELETE FROM alerts WHERE name IN (SELECT value FROM json_each(?1))"

# ?1 JSON array of [name, step], ?2 first wait ms, ?3 longest wait ms
NOTE_TRY: Final = f"""
UPDATE alerts
   SET tries = tries + 1,
       try_at = {NOW} + min(?2 * (1 << min(tries, 20)), ?3)
 WHERE (name, step) IN (SELECT value ->> 0, value ->> 1 FROM json_each(?1))
"""

# What was said counts, even if there is more to say by now. ?1 JSON array of [name, step]
NOTE_TOLD: Final = f"""
UPDATE alerts
   SET told_step = (SELECT said.value ->> 1
                      FROM json_each(?1) AS said
                     WHERE said.value ->> 0 = alerts.name),
       told_at = {NOW},
       fault = NULL
 WHERE EXISTS (SELECT 1
                 FROM json_each(?1) AS said
                WHERE said.value ->> 0 = alerts.name
                  AND said.value ->> 1 BETWEEN alerts.told_step + 1 AND alerts.step)
"""

# ?1 JSON array of [name, step], ?2 why
NOTE_FAULT: Final = """
UPDATE alerts
   SET fault = ?2
 WHERE EXISTS (SELECT 1
                 FROM json_each(?1) AS said
                WHERE said.value ->> 0 = alerts.name AND said.value ->> 1 > alerts.told_step)
"""


class SqlAlerts:
    """``services.ports.Alerts`` on any ``Database``."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def standing(self) -> Sequence[Standing]:
        _, standings = await self.look()
        return standings

    async def look(self) -> tuple[datetime, Sequence[Standing]]:
        (clock,), conditions, found = await self._database.batch(
            [Statement(SELECT_TIME), Statement(SELECT_CONDITIONS), Statement(SELECT_ALERTS)]
        )
        alerts = {row["name"]: _to_alert(row) for row in found}
        standings = [
            Standing(condition=to_condition(row), alert=alerts.get(row["name"]))
            for row in conditions
        ]
        return rows.to_time(clock["now"]), standings

    async def keep(self, changed: Sequence[Alert], *, forget: Collection[str]) -> Collection[str]:
        gone = Statement(FORGET_ALERTS, (rows.dump(list(forget)),))
        keep = Statement(KEEP_ALERTS, (rows.dump([_put(alert) for alert in changed]),))
        _, kept = await self._database.batch([gone, keep])
        return {row["name"] for row in kept}

    async def trying(
        self, said: Sequence[Alert], *, first_wait: timedelta, longest_wait: timedelta
    ) -> None:
        waits = (rows.to_ms(first_wait), rows.to_ms(longest_wait))
        await self._database.batch([Statement(NOTE_TRY, (_steps(said), *waits))])

    async def told(self, said: Sequence[Alert]) -> None:
        await self._database.batch([Statement(NOTE_TOLD, (_steps(said),))])

    async def not_told(self, said: Sequence[Alert], fault: DeliveryFault) -> None:
        await self._database.batch([Statement(NOTE_FAULT, (_steps(said), fault))])


def _steps(alerts: Sequence[Alert]) -> str:
    return rows.dump([[alert.name, alert.step] for alert in alerts])


def _put(alert: Alert) -> list[object]:
    looked_at = rows.from_time(alert.looked_at)
    times = (alert.since, alert.fired_at, alert.cleared_at, alert.resolved_at)
    put = [rows.from_time_or_none(time) for time in times]
    return [
        alert.name, alert.state, looked_at, *put, alert.step, rows.from_time_or_none(alert.step_at)
    ]  # fmt: skip


def _to_alert(row: Row) -> Alert:
    return Alert(
        name=row["name"],
        state=AlertState(row["state"]),
        looked_at=rows.to_time(row["looked_at"]),
        since=rows.to_time_or_none(row["since"]),
        fired_at=rows.to_time_or_none(row["fired_at"]),
        cleared_at=rows.to_time_or_none(row["cleared_at"]),
        resolved_at=rows.to_time_or_none(row["resolved_at"]),
        step=int(row["step"]),
        step_at=rows.to_time_or_none(row["step_at"]),
        told_step=int(row["told_step"]),
        told_at=rows.to_time_or_none(row["told_at"]),
        tries=int(row["tries"]),
        try_at=rows.to_time_or_none(row["try_at"]),
        fault=DeliveryFault(row["fault"]) if row["fault"] else None,
    )
