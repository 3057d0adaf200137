"""Statements that end what nobody works any more: expired leases, passed deadlines, lost causes.

They are safe beside a living holder: what lives is not touched.
"""

from __future__ import annotations

from typing import Final

from uketsuke.adapters.sql.burial import burying
from uketsuke.adapters.sql.cost_statements import ABANDON, ABANDONED_USAGE
from uketsuke.adapters.sql.terms import IN_WAVE, JOB, NOW

# Two crashes with nobody else to blame: this job kills its worker.
LONE_CRASHES_ALLOWED: Final = 2

# What becomes of a job whose lease has expired (for a row of jobs that is running).
_AFTER_CRASH: Final = f"""
CASE WHEN cancel_requested_at IS NOT NULL THEN 'canceled'
     WHEN deadline_at <= {NOW}
       OR (attempts >= max_attempts AND leased_alone)
       OR lone_crashes + leased_alone >= {LONE_CRASHES_ALLOWED} THEN 'failed'
     ELSE 'retrying' END"""
# A last attempt that died in company is given back: perhaps a neighbour killed it. From then on the
# job works alone, and can blame only itself.
_SPARED: Final = f"({_AFTER_CRASH} = 'retrying' AND attempts >= max_attempts)"
_CRASH_CLASS: Final = f"CASE WHEN deadline_at <= {NOW} THEN 'deadline' ELSE 'crashed' END"
_CRASH_CODE: Final = (
    f"CASE WHEN deadline_at <= {NOW} THEN 'deadline_passed' ELSE 'worker_crashed' END"
)
# Only of the queue engine: what a silent run on a Workflow is worth, its instance must tell.
EXPIRED: Final = f"state = 'running' AND engine = 'queue' AND leased_until <= {NOW}"

# A lease is taken away only once its attempt has its row. The statements of one transaction do not
# share one now: a lease that ends between two of them must leave no gap in the history.
RECORDED: Final = """EXISTS (SELECT 1
                FROM attempts AS a
               WHERE a.tenant_id = jobs.tenant_id AND a.job_id = jobs.id
                 AND a.number = jobs.attempt_no)"""

# The attempt of an expired lease gets its row: nobody else will write it. ?1 wave
RECORD_CRASHES: Final = f"""
INSERT INTO attempts (tenant_id, job_id, number, lease_token, started_at, ended_at, outcome, state,
                      error_class, error_code, usage)
SELECT tenant_id, id, attempt_no, lease_token, leased_at, {NOW},
       CASE WHEN cancel_requested_at IS NOT NULL THEN 'canceled'
            WHEN {_SPARED} THEN 'deferred' ELSE 'failed' END,
       {_AFTER_CRASH}, {_CRASH_CLASS}, {_CRASH_CODE},{ABANDONED_USAGE}
  FROM jobs
 WHERE {IN_WAVE} AND {EXPIRED}
ON CONFLICT DO NOTHING
"""

# Crashed jobs go back to waiting, or end. ?1 wave, ?2 ms to keep, ?3 ms until the sweep looks again
TAKE_BACK: Final = f"""
UPDATE jobs
   SET state = {_AFTER_CRASH},
       attempts = attempts - {_SPARED},
       error_class = {_CRASH_CLASS},
       error_code = {_CRASH_CODE},
       crashes = crashes + 1,
       lone_crashes = lone_crashes + leased_alone,
       due_at = {NOW},
       wakes = 0,
       wake_at = CASE WHEN {_AFTER_CRASH} = 'retrying' THEN min({NOW} + ?3, deadline_at) END,
       finished_at = CASE WHEN {_AFTER_CRASH} = 'retrying' THEN NULL ELSE {NOW} END,
       expires_at = CASE WHEN {_AFTER_CRASH} = 'retrying' THEN NULL ELSE {NOW} + ?2 END,
       live_run_key = CASE WHEN {_AFTER_CRASH} = 'retrying' THEN live_run_key END,
       progress_done = NULL,
       progress_total = NULL,
       {ABANDON},
       lease_token = NULL,
       leased_until = NULL
 WHERE {IN_WAVE} AND {EXPIRED} AND {RECORDED}
RETURNING {JOB}
"""

# A waiting job whose time is over ends. ?1 wave, ?2 ms to keep
FAIL_OVERDUE: Final = f"""
UPDATE jobs
   SET state = CASE WHEN cancel_requested_at IS NULL THEN 'failed' ELSE 'canceled' END,
       error_class = 'deadline',
       error_code = 'deadline_passed',
       wake_at = NULL,
       live_run_key = NULL,
       finished_at = {NOW},
       expires_at = {NOW} + ?2
 WHERE {IN_WAVE} AND state IN ('accepted', 'retrying') AND deadline_at <= {NOW}
RETURNING {JOB}
"""

# Jobs of the wave that failed just now, in the same transaction, get their dead letter: one a job.
# What came by a message that its queue gave up on, came by that road. ?1 wave, ?2 ms until triage
# is due, ?3 queue and ?4 id of that message, or null
BURY_FAILED: Final = burying(
    f"jobs WHERE {IN_WAVE} AND state = 'failed'",
    job="jobs",
    triage="?2",
    road="""CASE WHEN ?3 IS NOT NULL THEN 'queue_dlq'
            ELSE CASE error_class WHEN 'deadline' THEN 'deadline' WHEN 'crashed' THEN 'crashed'
                                  WHEN 'stale' THEN 'stale' WHEN 'budget' THEN 'budget'
                                  ELSE 'permanent' END END""",
    error_class="error_class",
    code="error_code",
    brought_by="?3, ?4",
)

# Nothing could ever work it. ?1 wave, ?2 ms to keep, ?3 error code
FAIL_HOPELESS: Final = f"""
UPDATE jobs
   SET state = 'failed',
       error_class = 'not_found',
       error_code = ?3,
       wake_at = NULL,
       live_run_key = NULL,
       finished_at = {NOW},
       expires_at = {NOW} + ?2
 WHERE {IN_WAVE} AND state IN ('accepted', 'retrying')
RETURNING {JOB}
"""
