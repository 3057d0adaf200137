"""Statements of the runs on Workflows: go on, nudge, end what is over, and what steps brought.

A wave of runs comes in as a JSON array of [tenant, id, lease token]: whoever speaks of a run names
the token of its attempt, so that nothing is done to a later one.
"""

from __future__ import annotations

from typing import Final

from uketsuke.adapters.sql import cost_statements as costs
from uketsuke.adapters.sql.burial import burying
from uketsuke.adapters.sql.expiry import RECORDED
from uketsuke.adapters.sql.terms import JOB, NOW, OVERDUE, STALE

_NAMED: Final = """(tenant_id, id, lease_token) IN
       (SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(?1))
   AND state = 'running' AND engine = 'workflow'"""
_SILENT: Final = f"{_NAMED} AND leased_until <= {NOW}"

# An instance begins, or begins again after a death: its token is still in the row, so nobody took
# the run over, and its lease goes on, also one that has expired; but not past the attempt's limit.
# A run that was born running has reserved nothing yet. ?1 wave, ?2 lease ms, ?3 rates of the kinds,
# ?4 daily budget
RESUME: Final = f"""
UPDATE jobs
   SET leased_until = CASE WHEN leased_at + run_limit_ms > {NOW}
                           THEN max(leased_until, {NOW} + ?2) ELSE leased_until END,
       lives = lives + 1,
       reserved_micros = coalesce(reserved_micros,
         CASE WHEN {costs.funds("jobs", rates="?3", default="?4")} IS NULL THEN
              {costs.reservation("jobs", rates="?3", default="?4")} END)
 WHERE {_NAMED}
"""

# A silent run's instance was woken, or made: its lease goes on until it can be heard of.
# ?1 wave, ?2 lease ms, ?3 1 if this counts
NUDGE: Final = f"""
UPDATE jobs
   SET leased_until = {NOW} + ?2, wake_at = {NOW} + ?2, wakes = wakes + ?3
 WHERE {_SILENT}
RETURNING {JOB}
"""

_AFTER_RUN: Final = f"""
CASE WHEN cancel_requested_at IS NOT NULL THEN 'canceled'
     WHEN deadline_at <= {NOW} OR ?2 = 'stale' OR attempts >= max_attempts THEN 'failed'
     ELSE 'retrying' END"""
_RUN_CLASS: Final = f"CASE WHEN deadline_at <= {NOW} THEN 'deadline' ELSE ?2 END"
_RUN_CODE: Final = f"""
CASE WHEN deadline_at <= {NOW} THEN 'deadline_passed'
     WHEN ?2 = 'stale' THEN 'run_outlived_its_limit'
     ELSE 'worker_crashed' END"""

# The attempt of a silent run gets its row: nobody else will write it.
# ?1 wave, ?2 crashed or stale
RECORD_SILENT: Final = f"""
INSERT INTO attempts (tenant_id, job_id, number, lease_token, started_at, ended_at, outcome, state,
                      error_class, error_code, usage)
SELECT tenant_id, id, attempt_no, lease_token, leased_at, {NOW},
       CASE WHEN cancel_requested_at IS NOT NULL THEN 'canceled' ELSE 'failed' END,
       {_AFTER_RUN}, {_RUN_CLASS}, {_RUN_CODE},{costs.ABANDONED_USAGE}
  FROM jobs
 WHERE {_SILENT}
ON CONFLICT DO NOTHING
"""

# Whatever became of its instance, it must not go on. ?1 wave
DOOM_SILENT: Final = f"""
INSERT INTO doomed_instances (id, doomed_at)
SELECT id || '-' || attempt_no, {NOW}
  FROM jobs
 WHERE {_SILENT} AND {RECORDED}
ON CONFLICT DO NOTHING
"""

# Silent runs go back to waiting, or end.
# ?1 wave, ?2 crashed or stale, ?3 ms to keep, ?4 ms until the sweep looks again
END_SILENT: Final = f"""
UPDATE jobs
   SET state = {_AFTER_RUN},
       error_class = {_RUN_CLASS},
       error_code = {_RUN_CODE},
       crashes = crashes + (?2 = 'crashed'),
       due_at = {NOW},
       wakes = 0,
       wake_at = CASE WHEN {_AFTER_RUN} = 'retrying' THEN min({NOW} + ?4, deadline_at) END,
       finished_at = CASE WHEN {_AFTER_RUN} = 'retrying' THEN NULL ELSE {NOW} END,
       expires_at = CASE WHEN {_AFTER_RUN} = 'retrying' THEN NULL ELSE {NOW} + ?3 END,
       live_run_key = CASE WHEN {_AFTER_RUN} = 'retrying' THEN live_run_key END,
       {costs.ABANDON},
       lease_token = NULL,
       leased_until = NULL
 WHERE {_SILENT} AND {RECORDED}
RETURNING {JOB}
"""

# Before a start is refused for a run key: a row that holds it and has outlived its limit fails.
# ?1 tenant, ?2 run key, ?3 lease ms
_STALE: Final = STALE.format(lease="?3")
_OUTLIVED: Final = f"tenant_id = ?1 AND live_run_key = ?2 AND ({_STALE} OR {OVERDUE})"
_OUTLIVED_CLASS: Final = f"CASE WHEN {_STALE} THEN 'stale' ELSE 'deadline' END"
_OUTLIVED_CODE: Final = (
    f"CASE WHEN {_STALE} THEN 'run_outlived_its_limit' ELSE 'deadline_passed' END"
)
_CANCELED_OR_FAILED: Final = (
    "CASE WHEN cancel_requested_at IS NULL THEN 'failed' ELSE 'canceled' END"
)

RECORD_OUTLIVED: Final = f"""
INSERT INTO attempts (tenant_id, job_id, number, lease_token, started_at, ended_at, outcome, state,
                      error_class, error_code, usage)
SELECT tenant_id, id, attempt_no, lease_token, leased_at, {NOW}, {_CANCELED_OR_FAILED},
       {_CANCELED_OR_FAILED}, {_OUTLIVED_CLASS}, {_OUTLIVED_CODE},{costs.ABANDONED_USAGE}
  FROM jobs
 WHERE {_OUTLIVED} AND state = 'running'
ON CONFLICT DO NOTHING
"""

# ?4 ms until triage is due
BURY_OUTLIVED: Final = burying(
    f"""jobs
 WHERE {_OUTLIVED} AND cancel_requested_at IS NULL AND (state <> 'running' OR {RECORDED})""",
    job="jobs",
    triage="?4",
    road=_OUTLIVED_CLASS,
    error_class=_OUTLIVED_CLASS,
    code=_OUTLIVED_CODE,
)

# Only what has its records: a limit that passes between two statements must leave no gap.
_ON_RECORD: Final = f"""(state <> 'running' OR {RECORDED})
   AND (cancel_requested_at IS NOT NULL
        OR EXISTS (SELECT 1 FROM dead_letters AS d WHERE d.id = 'dl_' || substr(jobs.id, 5)))"""

DOOM_OUTLIVED: Final = f"""
INSERT INTO doomed_instances (id, doomed_at)
SELECT id || '-' || attempt_no, {NOW}
  FROM jobs
 WHERE {_OUTLIVED} AND state = 'running' AND engine = 'workflow' AND {_ON_RECORD}
ON CONFLICT DO NOTHING
"""

# ?4 ms to keep
END_OUTLIVED: Final = f"""
UPDATE jobs
   SET state = {_CANCELED_OR_FAILED},
       error_class = {_OUTLIVED_CLASS},
       error_code = {_OUTLIVED_CODE},
       wake_at = NULL,
       live_run_key = NULL,
       finished_at = {NOW},
       expires_at = {NOW} + ?4,
       {costs.ABANDON},
       lease_token = NULL,
       leased_until = NULL
 WHERE {_OUTLIVED} AND {_ON_RECORD}
RETURNING {JOB}
"""

# ?1 page size
SELECT_DOOMED: Final = "SELECT id FROM doomed_instances ORDER BY id LIMIT ?1"

# ?1 JSON array of ids
FORGET_DOOMED: Final = """
DELETE FROM doomed_instances WHERE id IN (SELECT value FROM json_each(?1))
"""

# Written once, and only for a live job: what comes after the end would outlive the purge.
# ?1 tenant, ?2 job, ?3 step, ?4 digest, ?5 attempt, ?6 content, ?7 object key, ?8 usage
KEEP_CHECKPOINT: Final = """
INSERT INTO checkpoints (tenant_id, job_id, step, digest, attempt, content, object_key, usage)
SELECT tenant_id, id, ?3, ?4, ?5, ?6, ?7, ?8
  FROM jobs
 WHERE tenant_id = ?1 AND id = ?2 AND finished_at IS NULL
ON CONFLICT DO NOTHING
"""

# ?1 tenant, ?2 job, ?3 step, ?4 digest
SELECT_CHECKPOINT: Final = """
SELECT step, digest, attempt, content, object_key, usage
  FROM checkpoints
 WHERE tenant_id = ?1 AND job_id = ?2 AND step = ?3 AND digest = ?4
"""

# ?1 tenant, ?2 job, ?3 step and ?4 digest of the last one seen, ?5 page size
SELECT_CHECKPOINTS: Final = """
SELECT step, digest, attempt, content, object_key, usage
  FROM checkpoints
 WHERE tenant_id = ?1 AND job_id = ?2 AND (step, digest) > (?3, ?4)
 ORDER BY step, digest
 LIMIT ?5
"""
