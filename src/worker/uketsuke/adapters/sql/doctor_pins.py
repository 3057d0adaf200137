"""Checks of what is held fast: live jobs and schedules keep their inputs, nobody else does."""

from __future__ import annotations

from typing import Final

from uketsuke.adapters.sql.doctor_check import (
    ENDED,
    IN_KEYS,
    LIVE_TOLD,
    OF_JOB,
    STRETCH,
    Check,
    Repair,
    by,
    live,
    told,
)
from uketsuke.adapters.sql.schedules import PINNED
from uketsuke.adapters.sql.terms import IN_WAVE, KEPT_RESULT, NOW

# So many pinned things, each held against its tenant's schedules.
_PINS: Final = 2_000
_RELEASED: Final = told("released", parameter=2)

# When what is named goes; 0 if it is gone.
_KEPT_UNTIL: Final = """coalesce(
         (SELECT i.expires_at FROM inputs AS i
           WHERE i.tenant_id = {owner}.tenant_id AND i.id = named.value),
         (SELECT source.expires_at FROM jobs AS source
           WHERE source.tenant_id = {owner}.tenant_id AND source.id = named.value
             AND source.state = 'succeeded' AND source.erased_at IS NULL),
         0)"""


def _names_one(owner: str, until: str) -> str:
    """Whether the owner names something that goes before ``until``."""
    return f"""EXISTS (SELECT 1
             FROM json_each({owner}.input, '$.refs') AS named
            WHERE {_KEPT_UNTIL.format(owner=owner)} < {until})"""


_NAMED_BY_JOBS: Final = f"""(SELECT j.tenant_id, named.value
            FROM jobs AS j, json_each(j.input, '$.refs') AS named
           WHERE (j.tenant_id, j.id) {IN_KEYS} AND j.state NOT IN {ENDED})"""
_NAMED_BY_SCHEDULES: Final = f"""(SELECT s.tenant_id, named.value
            FROM schedules AS s, json_each(s.input, '$.refs') AS named
           WHERE (s.tenant_id, s.name) {IN_KEYS})"""


def _keep_uploads(named: str, until: str) -> str:
    return f"""
UPDATE inputs
   SET expires_at = {until}
 WHERE (tenant_id, id) IN {named} AND expires_at > {NOW} AND expires_at < {until}
"""


def _keep_results(named: str, until: str) -> str:
    return f"""
UPDATE jobs
   SET expires_at = {until}
 WHERE (tenant_id, id) IN {named} AND {KEPT_RESULT} AND expires_at < {until}
"""


_JOB_LOSES: Final = f"""
SELECT {OF_JOB}
  FROM {live("state", "input", "deadline_at")} AS j
 WHERE j.state NOT IN {ENDED} AND {_names_one("j", "j.deadline_at")}"""
_SCHEDULE_LOSES: Final = f"""
SELECT s.tenant_id || '/' || s.name AS id, json_array(s.tenant_id, s.name) AS key
  FROM (SELECT tenant_id, name, input FROM schedules LIMIT {STRETCH}) AS s
 WHERE {_names_one("s", str(PINNED))}"""
# What is gone already, nothing brings back.
_GONE: Final = f"{NOW} + 1"

_UNNAMED: Final = """NOT EXISTS (SELECT 1
                     FROM schedules AS s, json_each(s.input, '$.refs') AS named
                    WHERE s.tenant_id = {pinned}.tenant_id AND named.value = {pinned}.id)"""
_RELEASE_UPLOADS: Final = f"""
UPDATE inputs
   SET expires_at = {NOW} + {_RELEASED}
 WHERE {IN_WAVE} AND expires_at = {PINNED} AND {_UNNAMED.format(pinned="inputs")}
"""
_RELEASE_RESULTS: Final = f"""
UPDATE jobs
   SET expires_at = max({NOW} + {_RELEASED}, finished_at + {told("keep", parameter=2)})
 WHERE {IN_WAVE} AND expires_at = {PINNED} AND {_UNNAMED.format(pinned="jobs")}
"""

PIN_CHECKS: Final = (
    Check(
        name="input_expires_early",
        holds="What a live job names as its input is kept until its deadline.",
        looked_at=LIVE_TOLD,
        offenders=_JOB_LOSES,
        repair=Repair(
            does="Keeps it as long as when the job was accepted, where it is not gone already.",
            fix=by(
                _keep_uploads(_NAMED_BY_JOBS, f"{NOW} + {_RELEASED}"),
                _keep_results(_NAMED_BY_JOBS, f"{NOW} + {_RELEASED}"),
            ),
            targets=f"{_JOB_LOSES} AND NOT {_names_one('j', _GONE)}",
        ),
        by_hand="Where the input is gone, the job fails for that; its tenant uploads it again.",
    ),
    Check(
        name="schedule_input_not_kept",
        holds="What a schedule names is kept without end.",
        looked_at=f"{STRETCH} schedules, in the order of their names",
        offenders=_SCHEDULE_LOSES,
        repair=Repair(
            does="Pins it, where it is not gone already.",
            fix=by(
                _keep_uploads(_NAMED_BY_SCHEDULES, str(PINNED)),
                _keep_results(_NAMED_BY_SCHEDULES, str(PINNED)),
            ),
            targets=f"{_SCHEDULE_LOSES} AND NOT {_names_one('s', _GONE)}",
        ),
        by_hand="Where the input is gone, each occurrence is skipped for input_gone: its tenant "
        "uploads it again and puts the schedule anew.",
    ),
    Check(
        name="pin_without_schedule",
        holds="Only what a schedule names is kept without end.",
        looked_at=f"{_PINS} pinned results and {_PINS} pinned uploads",
        offenders=f"""
SELECT p.id AS id, json_array(p.tenant_id, p.id) AS key
  FROM (SELECT * FROM (SELECT tenant_id, id
                         FROM jobs INDEXED BY jobs_pinned
                        WHERE expires_at = {PINNED}
                        LIMIT {_PINS})
        UNION ALL
        SELECT * FROM (SELECT tenant_id, id
                         FROM inputs INDEXED BY inputs_expires_at
                        WHERE expires_at = {PINNED}
                        LIMIT {_PINS})) AS p
 WHERE {_UNNAMED.format(pinned="p")}""",
        repair=Repair(
            does="Gives it an end again, as when a schedule is deleted.",
            fix=by(_RELEASE_UPLOADS, _RELEASE_RESULTS),
        ),
    ),
)
