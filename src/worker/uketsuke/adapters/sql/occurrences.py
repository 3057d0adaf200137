"""The store's side of starting what is due: each occurrence is recorded first, and decided once."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from uketsuke.adapters.sql import rows
from uketsuke.adapters.sql.database import Database, Row, Statement
from uketsuke.adapters.sql.schedules import SCHEDULE, to_schedule
from uketsuke.adapters.sql.terms import NOW
from uketsuke.domain.schedule import Occurrence, OccurrenceState, Schedule
from uketsuke.services.ports.schedules import DueSchedules

_OCCURRENCE: Final = (
    "tenant_id, schedule, generation, due_at, job_id, state, reason, recorded_at, tries"
)

# Oldest first, after the last one seen: what cannot be recorded is passed by. (One that is not
# enabled has no next time.) ?1 next_at, ?2 tenant, ?3 name of the last one seen, ?4 page size
SELECT_DUE: Final = f"""
SELECT {SCHEDULE}
  FROM schedules
 WHERE next_at IS NOT NULL AND next_at <= {NOW} AND (next_at, tenant_id, name) > (?1, ?2, ?3)
 ORDER BY next_at, tenant_id, name
 LIMIT ?4
"""

SELECT_NOW: Final = f"SELECT {NOW} AS now"

_AS_READ: Final = "tenant_id = ?1 AND name = ?2 AND generation = ?3 AND next_at = ?4"

# Only for a schedule that is still due as it was read. ?1 tenant, ?2 name, ?3 generation, ?4 its
# next time as read, ?5 the occurrence's time, ?6 job
RECORD_OCCURRENCE: Final = f"""
INSERT INTO occurrences (tenant_id, schedule, generation, due_at, job_id, state, recorded_at)
SELECT tenant_id, name, generation, ?5, ?6, 'recorded', {NOW}
  FROM schedules
 WHERE {_AS_READ}
ON CONFLICT DO NOTHING
"""

# Second, for it takes away what proves the first. ?5 the next time
MOVE_ON: Final = f"UPDATE schedules SET next_at = ?5 WHERE {_AS_READ}"

# ?1 tenant, ?2 schedule, ?3 time, ?4 ms to keep
PRUNE_OCCURRENCES: Final = """
DELETE FROM occurrences
 WHERE tenant_id = ?1 AND schedule = ?2 AND due_at < ?3 - ?4 AND state <> 'recorded'
"""

# ?1 tenant, ?2 schedule, ?3 time, ?4 job
SELECT_RECORDED: Final = """
SELECT job_id
  FROM occurrences
 WHERE tenant_id = ?1 AND schedule = ?2 AND due_at = ?3 AND job_id = ?4 AND state = 'recorded'
"""

# Those that were tried least come first: one that fails each time stands in nobody's way.
# ?1 ms since they were recorded, ?2 page size
TAKE_UP_OCCURRENCES: Final = f"""
UPDATE occurrences
   SET tries = tries + 1
 WHERE state = 'recorded'
   AND (tenant_id, schedule, due_at) IN (SELECT tenant_id, schedule, due_at
                                           FROM occurrences
                                          WHERE state = 'recorded' AND recorded_at <= {NOW} - ?1
                                          ORDER BY tries, recorded_at
                                          LIMIT ?2)
RETURNING {_OCCURRENCE}
"""

# ?1 tenant, ?2 schedule, ?3 time, ?4 job
SELECT_STATE: Final = """
SELECT state FROM occurrences WHERE tenant_id = ?1 AND schedule = ?2 AND due_at = ?3 AND job_id = ?4
"""

# ?1 tenant, ?2 schedule, ?3 time, ?4 job, ?5 state, ?6 reason
SETTLE_OCCURRENCE: Final = """
UPDATE occurrences
   SET state = ?5, reason = ?6
 WHERE tenant_id = ?1 AND schedule = ?2 AND due_at = ?3 AND job_id = ?4 AND state = 'recorded'
RETURNING state
"""

# Only for what was settled so, and unless a later one is known. ?1 tenant, ?2 schedule, ?3 time,
# ?4 job, ?5 state, ?6 generation
TELL_LAST: Final = """
UPDATE schedules
   SET last_at = ?3,
       last_outcome = ?5,
       last_job_id = CASE ?5 WHEN 'started' THEN ?4 END
 WHERE tenant_id = ?1 AND name = ?2 AND generation = ?6
   AND (last_at IS NULL OR last_at <= ?3)
   AND EXISTS (SELECT 1
                 FROM occurrences AS o
                WHERE o.tenant_id = ?1 AND o.schedule = ?2 AND o.due_at = ?3
                  AND o.job_id = ?4 AND o.state = ?5)
"""

# Decided occurrences say what happened lately; a schedule may have one each minute.
_KEEP: Final = timedelta(days=7)


class SqlOccurrences:
    """``services.ports.schedules.Occurrences`` on any ``Database``."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def due(self, *, after: Schedule | None, limit: int) -> DueSchedules:
        seen = (
            (-1, "", "") if after is None else (rows.from_time_or_none(after.next_at), *after.key)
        )
        # The time is read last, so that nothing is due later than it.
        due = Statement(SELECT_DUE, (*seen, limit))
        found, (clock,) = await self._database.batch([due, Statement(SELECT_NOW)])
        return DueSchedules(
            now=rows.to_time(clock["now"]), schedules=[to_schedule(row) for row in found]
        )

    async def record(
        self, schedule: Schedule, *, due_at: datetime, job_id: str, next_at: datetime | None
    ) -> bool:
        if schedule.next_at is None:
            return False
        as_read = (*schedule.key, schedule.generation, rows.from_time(schedule.next_at))
        due_ms = rows.from_time(due_at)
        *_, recorded = await self._database.batch(
            [
                Statement(RECORD_OCCURRENCE, (*as_read, due_ms, job_id)),
                Statement(MOVE_ON, (*as_read, rows.from_time_or_none(next_at))),
                Statement(PRUNE_OCCURRENCES, (*schedule.key, due_ms, rows.to_ms(_KEEP))),
                Statement(SELECT_RECORDED, (*schedule.key, due_ms, job_id)),
            ]
        )
        return bool(recorded)

    async def take_up(self, *, older_than: timedelta, limit: int) -> Sequence[Occurrence]:
        look = Statement(TAKE_UP_OCCURRENCES, (rows.to_ms(older_than), limit))
        (found,) = await self._database.batch([look])
        taken = [_to_occurrence(row) for row in found]
        return sorted(taken, key=lambda occurrence: occurrence.recorded_at)

    async def state_of(self, occurrence: Occurrence) -> OccurrenceState | None:
        look = Statement(SELECT_STATE, _named(occurrence))
        (found,) = await self._database.batch([look])
        return OccurrenceState(found[0]["state"]) if found else None

    async def settle(
        self, occurrence: Occurrence, *, state: OccurrenceState, reason: str | None
    ) -> bool:
        which = (*_named(occurrence), state)
        settled, _ = await self._database.batch(
            [
                Statement(SETTLE_OCCURRENCE, (*which, reason)),
                Statement(TELL_LAST, (*which, occurrence.generation)),
            ]
        )
        return bool(settled)


def _named(occurrence: Occurrence) -> tuple[str, str, int, str]:
    due_ms = rows.from_time(occurrence.due_at)
    return (*occurrence.schedule_key, due_ms, occurrence.job_id)


def _to_occurrence(row: Row) -> Occurrence:
    return Occurrence(
        tenant_id=row["tenant_id"],
        schedule=row["schedule"],
        generation=row["generation"],
        due_at=rows.to_time(row["due_at"]),
        job_id=row["job_id"],
        state=OccurrenceState(row["state"]),
        reason=row["reason"],
        recorded_at=rows.to_time(row["recorded_at"]),
        tries=row["tries"],
    )
