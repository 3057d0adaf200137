"""The store of conditions: what is counted for them, and how each stood at the last look."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from uketsuke.adapters.sql import rows
from uketsuke.adapters.sql.database import Database, Row, Statement
from uketsuke.adapters.sql.letter_terms import GOES_SOON, PAST_TRIAGE, Ages
from uketsuke.adapters.sql.terms import NOW
from uketsuke.domain.condition import Condition, LetterFigures, Measure

# Whether an input is about to go is asked of so many letters; of those that failed first.
_ASKED_OF_INPUTS: Final = 10_000
_AT_MOST: Final = 10_000
_HOUR_MS: Final = 3_600_000

COUNT_OPEN: Final = f"""
SELECT count(*) AS open, coalesce(sum({PAST_TRIAGE}), 0) AS past_triage
  FROM dead_letters
 WHERE status = 'open'
"""

# What a request may look at; beyond that the sweep's word counts. ?1 letters at most
GLANCE_AT_OPEN: Final = f"""
SELECT count(*) AS open, coalesce(sum({PAST_TRIAGE}), 0) AS past_triage
  FROM (SELECT triage_due_at
          FROM dead_letters INDEXED BY dead_letters_open
         WHERE status = 'open'
         LIMIT ?1) AS page
"""

# Only letters of an age are asked, see Ages. ?1 to ?3 the ages, ?4 at most so many
COUNT_EXPIRING: Final = f"""
SELECT count(*) AS expiring
  FROM (SELECT tenant_id, job_id
          FROM dead_letters
         WHERE status = 'open' AND last_failed_at BETWEEN {NOW} - ?2 AND {NOW} - ?1
         ORDER BY last_failed_at
         LIMIT ?4) AS page
       CROSS JOIN jobs AS j ON j.tenant_id = page.tenant_id AND j.id = page.job_id
 WHERE {GOES_SOON.format(ahead="?3")}
"""

# ?1 an hour in ms
COUNT_GROWTH: Final = f"""
SELECT coalesce(sum(last_failed_at > {NOW} - ?1), 0) AS last_hour,
       coalesce(sum(last_failed_at <= {NOW} - ?1), 0) AS hour_before
  FROM dead_letters
 WHERE last_failed_at > {NOW} - 2 * ?1
"""

# ?1 an hour in ms, ?2 letters at most
GLANCE_AT_GROWTH: Final = f"""
SELECT coalesce(sum(last_failed_at > {NOW} - ?1), 0) AS last_hour,
       coalesce(sum(last_failed_at <= {NOW} - ?1), 0) AS hour_before
  FROM (SELECT last_failed_at
          FROM dead_letters
         WHERE last_failed_at > {NOW} - 2 * ?1
         LIMIT ?2) AS page
"""

# What began at a time that is still to come, began by a clock that was wrong.
# ?1 JSON array of [name, value, bound, compared to, subject]
KEEP_CONDITIONS: Final = f"""
INSERT INTO conditions (name, value, bound, compared_to, subject, since, computed_at)
SELECT put.value ->> 0, put.value ->> 1, put.value ->> 2, put.value ->> 3, put.value ->> 4,
       CASE WHEN put.value ->> 1 > put.value ->> 2 THEN {NOW} END, {NOW}
  FROM json_each(?1) AS put
 WHERE true
ON CONFLICT (name) DO UPDATE
   SET value = excluded.value,
       bound = excluded.bound,
       compared_to = excluded.compared_to,
       subject = excluded.subject,
       since = CASE WHEN excluded.since IS NOT NULL
                    THEN min(coalesce(since, excluded.since), excluded.since) END,
       computed_at = excluded.computed_at
RETURNING since IS NOT NULL AND since = computed_at AS began
"""

# A handful.
SELECT_CONDITIONS: Final = """
SELECT name, value, bound, compared_to, subject, since, computed_at
  FROM conditions
 ORDER BY name
 LIMIT 100
"""

# With their alerts, which would else wait for them to come back. ?1 JSON array of names
FORGET_ALERTS_OF: Final = "DELETE FROM alerts WHERE name IN (SELECT value FROM json_each(?1))"
FORGET_CONDITIONS: Final = """
DELETE FROM conditions WHERE name IN (SELECT value FROM json_each(?1))
"""


class SqlConditions:
    """``services.ports.Conditions`` on any ``Database``."""

    def __init__(self, database: Database, ages: Ages) -> None:
        self._database = database
        self._expiring = (*ages, _ASKED_OF_INPUTS)

    async def figures(self) -> LetterFigures:
        answers = await self._database.batch(
            [
                Statement(COUNT_OPEN),
                Statement(COUNT_EXPIRING, self._expiring),
                Statement(COUNT_GROWTH, (_HOUR_MS,)),
            ]
        )
        return _to_figures(answers)

    async def glance(self) -> LetterFigures | None:
        answers = await self._database.batch(
            [
                Statement(GLANCE_AT_OPEN, (_AT_MOST + 1,)),
                Statement(COUNT_EXPIRING, self._expiring),
                Statement(GLANCE_AT_GROWTH, (_HOUR_MS, _AT_MOST + 1)),
            ]
        )
        figures = _to_figures(answers)
        recent = figures.last_hour + figures.hour_before
        return figures if max(figures.open, recent) <= _AT_MOST else None

    async def keep(self, measures: Sequence[Measure], *, forget: Collection[str] = ()) -> int:
        put = [[m.name, m.value, m.bound, m.compared_to, m.subject] for m in measures]
        gone = rows.dump(list(forget))
        *_, kept = await self._database.batch(
            [
                Statement(FORGET_ALERTS_OF, (gone,)),
                Statement(FORGET_CONDITIONS, (gone,)),
                Statement(KEEP_CONDITIONS, (rows.dump(put),)),
            ]
        )
        return sum(bool(row["began"]) for row in kept)

    async def kept(self) -> Sequence[Condition]:
        (found,) = await self._database.batch([Statement(SELECT_CONDITIONS)])
        return [to_condition(row) for row in found]


def _to_figures(answers: Sequence[Sequence[Row]]) -> LetterFigures:
    ((still,), (soon,), (growth,)) = answers
    return LetterFigures(
        open=int(still["open"]),
        past_triage=int(still["past_triage"]),
        expiring=int(soon["expiring"]),
        last_hour=int(growth["last_hour"]),
        hour_before=int(growth["hour_before"]),
    )


def to_condition(row: Row) -> Condition:
    """Read a row of ``SELECT_CONDITIONS``."""
    return Condition(
        name=row["name"],
        value=None if row["value"] is None else int(row["value"]),
        bound=int(row["bound"]),
        compared_to=None if row["compared_to"] is None else int(row["compared_to"]),
        subject=row["subject"],
        since=rows.to_time_or_none(row["since"]),
        computed_at=rows.to_time(row["computed_at"]),
    )
