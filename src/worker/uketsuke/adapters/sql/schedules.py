"""The store of schedules.

An upload that a schedule names is kept without end: its time is ``PINNED``; so is a finished job
whose result one names. What no schedule of the tenant names any more gets an end again, in the same
transaction.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from uketsuke.adapters.sql import rows
from uketsuke.adapters.sql.database import Database, Param, Row, Statement
from uketsuke.adapters.sql.terms import KEPT_RESULT, NOW
from uketsuke.domain.schedule import (
    Last,
    NewSchedule,
    OccurrenceState,
    Overlap,
    Schedule,
    ScheduleKey,
)
from uketsuke.services.ports.schedules import PutSchedule, SchedulePage

SCHEDULE: Final = (
    "tenant_id, name, generation, cron, timezone, kind, params, input, run_key, overlap, enabled, "
    "created_at, updated_at, next_at, last_at, last_job_id, last_outcome, expected"
)
# The end of the year 9999: later than any time that a job asks an upload to be kept.
PINNED: Final = 253_402_300_799_999

# ?1 tenant, ?2 uploads (JSON array of ids)
PIN_NAMED_UPLOADS: Final = f"""
UPDATE inputs
   SET expires_at = {PINNED}
 WHERE tenant_id = ?1
   AND id IN (SELECT value FROM json_each(?2))
   AND expires_at > {NOW}
   AND expires_at < {PINNED}
"""

# ?1 tenant, ?2 finished jobs (JSON array of ids)
PIN_NAMED_RESULTS: Final = f"""
UPDATE jobs
   SET expires_at = {PINNED}
 WHERE tenant_id = ?1
   AND id IN (SELECT value FROM json_each(?2))
   AND {KEPT_RESULT}
   AND expires_at < {PINNED}
"""

# After the pinning, so that what it demands of the uploads does not hang on the clock.
# ?1 tenant, ?2 name, ?3 generation, ?4 cron, ?5 timezone, ?6 kind, ?7 params, ?8 input, ?9 content,
# ?10 run key, ?11 overlap, ?12 1 if enabled, ?13 next, ?14 what must be pinned (JSON array), ?15
# what its kind expects
PUT_SCHEDULE: Final = f"""
INSERT INTO schedules (tenant_id, name, generation, cron, timezone, kind, params, input, content,
                       run_key, overlap, enabled, created_at, updated_at, next_at, expected)
SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, {NOW}, {NOW}, ?13, ?15
 WHERE NOT EXISTS (SELECT 1
                     FROM json_each(?14) AS named
                    WHERE NOT EXISTS (SELECT 1
                                        FROM inputs
                                       WHERE inputs.tenant_id = ?1
                                         AND inputs.id = named.value
                                         AND inputs.expires_at = {PINNED})
                      AND NOT EXISTS (SELECT 1
                                        FROM jobs
                                       WHERE jobs.tenant_id = ?1
                                         AND jobs.id = named.value
                                         AND jobs.expires_at = {PINNED}
                                         AND jobs.erased_at IS NULL))
ON CONFLICT (tenant_id, name) DO UPDATE
   SET cron = excluded.cron,
       timezone = excluded.timezone,
       kind = excluded.kind,
       params = excluded.params,
       input = excluded.input,
       content = excluded.content,
       run_key = excluded.run_key,
       overlap = excluded.overlap,
       enabled = excluded.enabled,
       expected = excluded.expected,
       updated_at = excluded.updated_at,
       next_at = CASE WHEN excluded.enabled = 1
                       AND schedules.cron = excluded.cron
                       AND schedules.timezone = excluded.timezone
                       AND schedules.next_at IS NOT NULL
                      THEN schedules.next_at ELSE excluded.next_at END
RETURNING {SCHEDULE}
"""

# Last, when the schedules stand as they will. ?1 tenant, ?2 ms to keep
RELEASE_UPLOADS: Final = f"""
UPDATE inputs
   SET expires_at = {NOW} + ?2
 WHERE tenant_id = ?1
   AND expires_at = {PINNED}
   AND id NOT IN (SELECT named.value
                    FROM schedules AS s, json_each(s.input, '$.refs') AS named
                   WHERE s.tenant_id = ?1)
"""

# A tenant's jobs are many, those that are pinned few: only they are in this index.
# ?1 tenant, ?2 ms to keep from now, ?3 ms to keep from the job's end
RELEASE_RESULTS: Final = f"""
UPDATE jobs INDEXED BY jobs_pinned
   SET expires_at = max({NOW} + ?2, finished_at + ?3)
 WHERE tenant_id = ?1
   AND expires_at = {PINNED}
   AND id NOT IN (SELECT named.value
                    FROM schedules AS s, json_each(s.input, '$.refs') AS named
                   WHERE s.tenant_id = ?1)
"""

# ?1 tenant, ?2 name
SELECT_SCHEDULE: Final = f"""
SELECT {SCHEDULE}, content FROM schedules WHERE tenant_id = ?1 AND name = ?2
"""

# A page ends early when what its schedules hold is much for one answer; it has at least one.
# ?1 tenant, ?2 the last name seen, ?3 page size, ?4 bytes
LIST_WITH_CONTENT: Final = f"""
SELECT {", ".join(f"s.{column}" for column in SCHEDULE.split(", "))}, s.content
  FROM (SELECT name,
               sum(held) OVER (ORDER BY name ROWS UNBOUNDED PRECEDING) - held AS held_before
          FROM (SELECT name,
                       CASE WHEN input ->> 'refs' IS NULL THEN input ->> 'bytes' ELSE 0 END AS held
                  FROM schedules
                 WHERE tenant_id = ?1 AND name > ?2
                 ORDER BY name
                 LIMIT ?3)) AS page
  JOIN schedules AS s ON s.tenant_id = ?1 AND s.name = page.name
 WHERE page.held_before < ?4
 ORDER BY s.name
"""

# ?1 tenant, ?2 the last name seen, ?3 page size
LIST_SCHEDULES_OF_A_TENANT: Final = f"""
SELECT {SCHEDULE}
  FROM schedules
 WHERE tenant_id = ?1 AND name > ?2
 ORDER BY name
 LIMIT ?3
"""

# ?1, ?2 tenant and name of the last one seen, ?3 page size
LIST_SCHEDULES_OF_ALL: Final = f"""
SELECT {SCHEDULE}
  FROM schedules
 WHERE (tenant_id, name) > (?1, ?2)
 ORDER BY tenant_id, name
 LIMIT ?3
"""

# ?1 tenant, ?2 name
DELETE_SCHEDULE: Final = """
DELETE FROM schedules WHERE tenant_id = ?1 AND name = ?2 RETURNING name
"""

# Occurrences that are still to be decided stay: whoever decides them finds no schedule.
# ?1 tenant, ?2 schedule
DELETE_DECIDED_OCCURRENCES: Final = """
DELETE FROM occurrences WHERE tenant_id = ?1 AND schedule = ?2 AND state <> 'recorded'
"""

_BYTES_A_PAGE: Final = 2 * 1024 * 1024
# What is released outlives every job that a schedule has started with it; none may live longer.
_LONGEST_DEADLINE: Final = timedelta(days=7)


class SqlSchedules:
    """``services.ports.schedules.Schedules`` on any ``Database``."""

    def __init__(
        self, database: Database, *, keep_inputs: timedelta, keep_results: timedelta
    ) -> None:
        self._database = database
        self._keep_released = rows.to_ms(keep_inputs + _LONGEST_DEADLINE)
        self._keep_results = rows.to_ms(keep_results)

    async def put(self, new: NewSchedule) -> PutSchedule | None:
        tenant, named = new.key.tenant_id, rows.dump(list(new.input.refs))
        row = (
            *new.key, new.generation, new.cron, new.timezone, new.kind, rows.dump(dict(new.params)),
            rows.from_input_place(new.input), new.content, new.run_key, new.overlap,
            int(new.enabled), rows.from_time_or_none(new.next_at), named,
            rows.from_expected(new.expected),
        )  # fmt: skip
        _, _, put, *_ = await self._database.batch(
            [
                Statement(PIN_NAMED_UPLOADS, (tenant, named)),
                Statement(PIN_NAMED_RESULTS, (tenant, named)),
                Statement(PUT_SCHEDULE, row),
                *self._releasing(tenant),
            ]
        )
        if not put:
            return None
        schedule = to_schedule({**put[0], "content": new.content})
        return PutSchedule(schedule=schedule, created=schedule.generation == new.generation)

    async def find(self, key: ScheduleKey) -> Schedule | None:
        found = await self._select(SELECT_SCHEDULE, *key)
        return to_schedule(found[0]) if found else None

    async def page(
        self, *, tenant_id: str, after: str, limit: int, with_content: bool
    ) -> SchedulePage:
        if not with_content:
            found = await self._select(LIST_SCHEDULES_OF_A_TENANT, tenant_id, after, limit)
            return _page(found, limit=limit)
        most = _BYTES_A_PAGE
        found = await self._select(LIST_WITH_CONTENT, tenant_id, after, limit, most)
        held = sum(len((row["content"] or "").encode()) for row in found)
        return _page(found, limit=len(found) if held >= most else limit)

    async def page_of_all(self, *, after: ScheduleKey | None, limit: int) -> SchedulePage:
        found = await self._select(LIST_SCHEDULES_OF_ALL, *(after or ("", "")), limit)
        return _page(found, limit=limit)

    async def delete(self, key: ScheduleKey) -> bool:
        deleted, *_ = await self._database.batch(
            [
                Statement(DELETE_SCHEDULE, tuple(key)),
                Statement(DELETE_DECIDED_OCCURRENCES, tuple(key)),
                *self._releasing(key.tenant_id),
            ]
        )
        return bool(deleted)

    def _releasing(self, tenant: str) -> Sequence[Statement]:
        released = (tenant, self._keep_released)
        return [
            Statement(RELEASE_UPLOADS, released),
            Statement(RELEASE_RESULTS, (*released, self._keep_results)),
        ]

    async def _select(self, text: str, *params: Param) -> Sequence[Row]:
        (found,) = await self._database.batch([Statement(text, params)])
        return found


def _page(found: Sequence[Row], *, limit: int) -> SchedulePage:
    schedules = [to_schedule(row) for row in found]
    full = len(schedules) >= limit
    return SchedulePage(schedules=schedules, cursor=schedules[-1].key if full else None)


def to_schedule(row: Row) -> Schedule:
    return Schedule(
        tenant_id=row["tenant_id"],
        name=row["name"],
        generation=row["generation"],
        cron=row["cron"],
        timezone=row["timezone"],
        kind=row["kind"],
        params=rows.load(row["params"]),
        input=rows.to_input_place(row["input"]),
        content=row.get("content"),
        run_key=row["run_key"],
        overlap=Overlap(row["overlap"]),
        enabled=bool(row["enabled"]),
        created_at=rows.to_time(row["created_at"]),
        updated_at=rows.to_time(row["updated_at"]),
        next_at=rows.to_time_or_none(row["next_at"]),
        last=_to_last(row),
        expected=rows.to_expected(row["expected"]),
    )


def _to_last(row: Row) -> Last | None:
    if row["last_at"] is None:
        return None
    return Last(
        at=rows.to_time(row["last_at"]),
        outcome=OccurrenceState(row["last_outcome"]),
        job_id=row["last_job_id"],
    )
