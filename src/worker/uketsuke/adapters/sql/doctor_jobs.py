"""Checks of a job's row: what its state implies, who holds its run key, that it will be woken."""

from __future__ import annotations

from typing import Final

from uketsuke.adapters.sql.doctor_check import (
    BOTH_TOLD,
    ENDED,
    LIVE_TOLD,
    NEWEST_TOLD,
    OF_JOB,
    SLACK,
    STRETCH,
    Check,
    Repair,
    by,
    live,
    newest,
    newest_and_live,
    told,
)
from uketsuke.adapters.sql.terms import IN_WAVE, NOW

_STILL_LIVE: Final = f"""
SELECT {OF_JOB}
  FROM {live("state")} AS j
 WHERE j.state IN {ENDED}
 UNION
SELECT {OF_JOB}
  FROM (SELECT tenant_id, id, state
          FROM jobs INDEXED BY jobs_live_run_key
         WHERE live_run_key IS NOT NULL
         LIMIT {STRETCH}) AS j
 WHERE j.state IN {ENDED}"""
# All that an end implies, so that the row is sound afterwards whatever was wrong with it.
_END_WHOLLY: Final = f"""
UPDATE jobs
   SET live_run_key = NULL,
       wake_at = NULL,
       finished_at = coalesce(finished_at, {NOW}),
       expires_at = coalesce(expires_at, {NOW} + {told("keep", parameter=2)})
 WHERE {IN_WAVE} AND state IN {ENDED}
"""
_LIVE_WHOLLY: Final = f"""
UPDATE jobs
   SET finished_at = NULL,
       expires_at = NULL,
       wake_at = coalesce(wake_at, {NOW})
 WHERE {IN_WAVE} AND state NOT IN {ENDED} AND (finished_at IS NOT NULL OR expires_at IS NOT NULL)
"""

# Nobody would look before the job's time is long over. (With a job's columns, and slack.)
_WAKES_NEVER: Final = f"""finished_at IS NULL AND state NOT IN {ENDED}
   AND (wake_at IS NULL
        OR wake_at > max(deadline_at, coalesce(leased_until, 0), {NOW}) + {{slack}})"""
_WAKE_NOW: Final = f"""
UPDATE jobs
   SET wake_at = {NOW}
 WHERE {IN_WAVE} AND {_WAKES_NEVER.format(slack=told("slack", parameter=2))}
"""

_NOT_HELD: Final = f"""
SELECT {OF_JOB}
  FROM {newest_and_live("state", "run_key", "live_run_key")} AS j
 WHERE j.state NOT IN {ENDED} AND j.run_key IS NOT NULL AND j.live_run_key IS NOT j.run_key"""
# Nobody else holds it, and nobody older wants it.
_MAY_HOLD: Final = f"""
   AND NOT EXISTS (SELECT 1
                     FROM jobs AS o INDEXED BY jobs_live_run_key
                    WHERE o.tenant_id = {{row}}.tenant_id AND o.live_run_key = {{row}}.run_key)
   AND ({{row}}.tenant_id, {{row}}.id) IN (SELECT o.tenant_id, min(o.id)
                                             FROM {live("state", "run_key")} AS o
                                            WHERE o.state NOT IN {ENDED} AND o.run_key IS NOT NULL
                                            GROUP BY o.tenant_id, o.run_key)"""
_HOLD: Final = f"""
UPDATE jobs
   SET live_run_key = run_key
 WHERE {IN_WAVE} AND state NOT IN {ENDED} AND run_key IS NOT NULL AND live_run_key IS NOT run_key
{_MAY_HOLD.format(row="jobs")}
"""

JOB_CHECKS: Final = (
    Check(
        name="ended_job_still_live",
        holds="An ended job holds no run key, and nobody is to wake it.",
        looked_at=f"{LIVE_TOLD}, and {STRETCH} holders of run keys",
        offenders=_STILL_LIVE,
        repair=Repair(does="Lets go of the run key and the wake-up time.", fix=by(_END_WHOLLY)),
    ),
    Check(
        name="state_and_times",
        holds="An ended job has the time of its end and that of its purge; a live job has neither.",
        looked_at=NEWEST_TOLD,
        offenders=f"""
SELECT {OF_JOB}
  FROM {newest("state", "finished_at", "expires_at")} AS j
 WHERE (j.state IN {ENDED}) <> (j.finished_at IS NOT NULL)
    OR (j.state IN {ENDED}) <> (j.expires_at IS NOT NULL)""",
        repair=Repair(
            does="Gives an ended job the times as of now; takes them from a live one, which the "
            "purge would else delete.",
            fix=by(_END_WHOLLY, _LIVE_WHOLLY),
        ),
    ),
    Check(
        name="end_unexplained",
        holds="A job has a result if and only if it succeeded; one that failed has an error class.",
        looked_at=NEWEST_TOLD,
        offenders=f"""
SELECT {OF_JOB}
  FROM {newest("state", "result", "error_class")} AS j
 WHERE (j.state = 'succeeded') <> (j.result IS NOT NULL)
    OR (j.state = 'failed' AND j.error_class IS NULL)""",
        by_hand="See the job's attempts (GET /v1/jobs/{id}/events) for what really happened, and "
        "tell its tenant; submit the work again if its result is wanted.",
    ),
    Check(
        name="live_job_without_wake",
        holds="A live job has a time at which somebody must look at it, no later than its deadline "
        "or its lease asks for.",
        looked_at=NEWEST_TOLD,
        offenders=f"""
SELECT {OF_JOB}
  FROM {newest("state", "wake_at", "finished_at", "deadline_at", "leased_until")} AS j
 WHERE {_WAKES_NEVER.format(slack=SLACK)}""",
        repair=Repair(does="Lets the sweep look at it now.", fix=by(_WAKE_NOW)),
    ),
    Check(
        name="run_key_not_held",
        holds="A live job with a run key holds it.",
        looked_at=BOTH_TOLD,
        offenders=_NOT_HELD,
        repair=Repair(
            does="Lets the oldest such job hold the key, if nobody else does.",
            fix=by(_HOLD),
            targets=f"{_NOT_HELD}{_MAY_HOLD.format(row='j')}",
        ),
        by_hand="Where another job holds the key, both are live: see run_key_held_twice.",
    ),
    Check(
        name="run_key_held_twice",
        holds="At most one job of a tenant and run key is live.",
        looked_at=LIVE_TOLD,
        offenders=f"""
SELECT {OF_JOB}
  FROM (SELECT tenant_id, id, count(*) OVER (PARTITION BY tenant_id, run_key) AS holders
          FROM {live("state", "run_key")}
         WHERE run_key IS NOT NULL AND state NOT IN {ENDED}) AS j
 WHERE j.holders > 1""",
        by_hand="Ask the tenant which of the jobs is wanted, and let it cancel the others.",
    ),
    Check(
        name="job_id_in_two_tenants",
        holds="A job's id is one tenant's.",
        looked_at=NEWEST_TOLD,
        offenders=f"""
SELECT j.id AS id, json_array(j.tenant_id, j.id) AS key
  FROM (SELECT tenant_id, id, count(*) OVER (PARTITION BY id) AS owners FROM {newest()}) AS j
 WHERE j.owners > 1""",
        by_hand="Operators' look-ups by id may show the wrong one. Find out who wrote the second "
        "row (no version of the service does) before anything is deleted.",
    ),
)
