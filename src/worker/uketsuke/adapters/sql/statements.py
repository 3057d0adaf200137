"""The statements of a job's life, by hand, one constant each, with its guard in ``WHERE``.

They run unchanged on D1 and on SQLite 3.40. Whatever is due, leased or expired is judged here,
by the database's clock; durations come in as milliseconds. Waves, renewals and endings come in
as one JSON array, so that a batch of a hundred costs what a batch of one does.
"""

from __future__ import annotations

from typing import Final

from uketsuke.adapters.sql import cost_statements as costs
from uketsuke.adapters.sql.burial import burying
from uketsuke.adapters.sql.expiry import EXPIRED, LONE_CRASHES_ALLOWED, RECORDED
from uketsuke.adapters.sql.lane_terms import LANES_OPEN
from uketsuke.adapters.sql.terms import IN_WAVE, J_JOB, JOB, NOW

# ?1 tenant, ?2 id
SELECT_JOB: Final = f"SELECT {JOB} FROM jobs WHERE tenant_id = ?1 AND id = ?2"

# An operator's look, over all tenants. ?1 id
SELECT_JOB_OF_ANY_TENANT: Final = f"SELECT {JOB} FROM jobs WHERE id = ?1"

# ?1 tenant, ?2 request key
SELECT_BY_REQUEST: Final = f"""
SELECT s.fingerprint, {J_JOB}
  FROM submissions AS s
  JOIN jobs AS j ON j.tenant_id = s.tenant_id AND j.id = s.job_id
 WHERE s.tenant_id = ?1 AND s.request_key = ?2
"""

# ?1 tenant, ?2 job. At most 20 spent attempts, and those given back: bounded all the same.
SELECT_ATTEMPTS: Final = """
SELECT number, started_at, ended_at, outcome, state, error_class, error_code, usage, provider_ms
  FROM attempts
 WHERE tenant_id = ?1 AND job_id = ?2
 ORDER BY number
 LIMIT 500
"""

# ?1 tenant, ?2 job, ?3 attempt
SELECT_RESULT: Final = """
SELECT result FROM attempts WHERE tenant_id = ?1 AND job_id = ?2 AND number = ?3
"""

# What lies beside the submission. ?1 tenant, ?2 job
SELECT_INLINE_INPUT: Final = """
SELECT s.input
  FROM jobs AS j
  JOIN submissions AS s ON s.tenant_id = j.tenant_id AND s.request_key = j.request_key
 WHERE j.tenant_id = ?1 AND j.id = ?2
"""

# A row is leased again under its own token without counting twice: the first answer was lost.
_OURS: Final = "lease_token IS ?2 || '.' || id"

# What another holder left may be taken over, by a job that is alone in its worker. Where a budget
# binds, it is taken back first: what it had reserved must count before anything is reserved anew.
_MAY_TAKE_OVER: Final = f"""{EXPIRED}
   AND reserved_micros IS NULL AND NOT {costs.bound("jobs", default="?3")}
   AND attempts < max_attempts
   AND deadline_at > {NOW}
   AND cancel_requested_at IS NULL
   AND lone_crashes + leased_alone < {LONE_CRASHES_ALLOWED}"""

# Before the lease that takes it over, in the same transaction: the attempt that it ends gets its
# row. A row for an attempt that then stays alive would be believed before its own ending.
# ?1 wave, ?2 token, ?3 daily budget, ?4 JSON array of [kind, lane]
RECORD_TAKEOVERS: Final = f"""
INSERT INTO attempts (tenant_id, job_id, number, lease_token, started_at, ended_at, outcome, state,
                      error_class, error_code)
SELECT tenant_id, id, attempt_no, lease_token, leased_at, {NOW}, 'failed', 'retrying', 'crashed',
       'worker_crashed'
  FROM jobs
 WHERE {IN_WAVE} AND {_OURS} IS FALSE AND {_MAY_TAKE_OVER} AND {LANES_OPEN.format(asks="?4")}
ON CONFLICT DO NOTHING
"""

# ?1 wave, ?2 token, ?3 lease ms, ?4 1 if the wave is alone in its worker, ?5 rates of the kinds, ?6
# daily budget, ?7 JSON array of [kind, lane]
LEASE: Final = f"""
UPDATE jobs
   SET attempts = attempts + ({_OURS} IS FALSE),
       attempt_no = attempt_no + ({_OURS} IS FALSE),
       crashes = crashes + (state = 'running' AND {_OURS} IS FALSE),
       lone_crashes = lone_crashes + (state = 'running' AND {_OURS} IS FALSE) * leased_alone,
       state = 'running',
       lease_token = ?2 || '.' || id,
       leased_alone = ?4 AND engine = 'queue',
       leased_at = CASE WHEN {_OURS} THEN leased_at ELSE {NOW} END,
       leased_until = {NOW} + ?3,
       started_at = coalesce(started_at, {NOW}),
       wakes = CASE WHEN engine = 'workflow' AND {_OURS} IS FALSE THEN 0 ELSE wakes END,
       progress_done = CASE WHEN {_OURS} THEN progress_done END,
       progress_total = CASE WHEN {_OURS} THEN progress_total END,
       lives = CASE WHEN {_OURS} THEN lives ELSE 0 END,
       unknown_costs = unknown_costs + (state = 'running' AND {_OURS} IS FALSE),
       reserved_micros = CASE WHEN {_OURS} THEN reserved_micros ELSE
                         {costs.reservation("jobs", rates="?5", default="?6")} END
 WHERE {IN_WAVE}
   AND ({_OURS}
        OR (state IN ('accepted', 'retrying') AND due_at <= {NOW})
        OR ({EXPIRED} AND {RECORDED}))
   AND ({_OURS} OR attempts < max_attempts)
   AND deadline_at > {NOW}
   AND cancel_requested_at IS NULL
   AND (?4 OR engine = 'workflow' OR (crashes = 0 AND (state <> 'running' OR {_OURS})))
   AND (state <> 'running' OR {_OURS} OR lone_crashes + leased_alone < {LONE_CRASHES_ALLOWED})
   AND (tenant_id, id) NOT IN ({costs.unaffordable(alone="?4", rates="?5", default="?6")})
   AND ({_OURS} OR {LANES_OPEN.format(asks="?7")})
"""

# A lease leaves wake_at alone: moving it costs a row. But the sweep looks ever more rarely at what
# waits long; now that it has a holder who may die, somebody must look when the lease ends.
# ?1 wave, ?2 token
WAKE_AFTER_LEASE: Final = f"""
UPDATE jobs
   SET wake_at = leased_until
 WHERE {IN_WAVE} AND {_OURS} AND wake_at > leased_until
"""

# How each job of the wave stands now, within the same transaction. The input comes along for
# those that are ours. What was taken back is due anew from then on, what was taken over is not: so
# lost_before is told apart. ?1 wave, ?2 token, ?3 rates of the kinds, ?4 daily budget
LOOK: Final = f"""
SELECT {J_JOB},
       j.lease_token IS ?2 || '.' || j.id AS ours,
       CASE WHEN j.lease_token IS ?2 || '.' || j.id THEN s.input END AS inline_input,
       j.leased_until - {NOW} AS lease_ends_in,
       j.wake_at - j.leased_until AS wakes_after,
       j.due_at - {NOW} AS due_in,
       j.deadline_at - {NOW} AS time_left,
       j.leased_at + j.run_limit_ms - {NOW} AS limit_left,
       j.attempt_no > 1 AND EXISTS (SELECT 1
                                      FROM attempts AS a
                                     WHERE a.tenant_id = j.tenant_id AND a.job_id = j.id
                                       AND a.error_class = 'crashed') AS taken_over,
       j.attempt_no > 1 AND EXISTS (SELECT 1
                                      FROM attempts AS a
                                     WHERE a.tenant_id = j.tenant_id AND a.job_id = j.id
                                       AND a.number = j.attempt_no - 1
                                       AND a.error_class = 'crashed'
                                       AND a.started_at >= j.due_at) AS lost_before,
       j.engine = 'queue'
         AND (j.crashes > 0 OR (j.state = 'running' AND j.leased_until <= {NOW})) AS quarantined,
       j.attempts >= j.max_attempts
         OR j.lone_crashes + (j.state = 'running') * j.leased_alone
            >= {LONE_CRASHES_ALLOWED} AS spent,
       j.reserved_micros, j.lives,{costs.funds("j", rates="?3", default="?4")} AS funds
  FROM json_each(?1) AS wave
  JOIN jobs AS j ON j.tenant_id = wave.value ->> 0 AND j.id = wave.value ->> 1
  LEFT JOIN submissions AS s
    ON s.tenant_id = j.tenant_id AND s.request_key = j.request_key
   AND j.lease_token IS ?2 || '.' || j.id
"""

# ?1 JSON array of [tenant, id, token, done, total]; ?2 lease ms. The lease is not extended past
# the deadline or a wish to cancel: the holder reads both in the answer and stops. Nor past a lease
# after the attempt's limit: a holder that does not stop by itself loses it. (The raw time
# comes back: SQLite 3.40 gets IS NULL wrong in RETURNING from a table without rowid.)
RENEW: Final = f"""
UPDATE jobs
   SET leased_until = CASE WHEN deadline_at > {NOW} AND cancel_requested_at IS NULL
                           THEN max(leased_until, min({NOW} + ?2, leased_at + run_limit_ms + ?2))
                           ELSE leased_until END,
       progress_done = max(coalesce(held.value ->> 3, progress_done),
                           coalesce(progress_done, held.value ->> 3)),
       progress_total = coalesce(held.value ->> 4, progress_total),
       wakes = CASE WHEN engine = 'workflow' AND held.value ->> 3 > coalesce(progress_done, 0)
                    THEN 0 ELSE wakes END
  FROM json_each(?1) AS held
 WHERE jobs.tenant_id = held.value ->> 0 AND jobs.id = held.value ->> 1
   AND jobs.lease_token = held.value ->> 2
   AND jobs.leased_until > {NOW}
RETURNING tenant_id, id, leased_until - {NOW} AS ends_in,
          cancel_requested_at, deadline_at <= {NOW} AS overdue
"""

# The endings come as ?1: a JSON array of objects with t, i (tenant and id), n (attempt), k (lease
# token), s (state), o (outcome), c, d (error class and code), w (wait ms), z (wake grace ms), g
# (gives back), e (new epoch), r (result place), x (result text), u (usage), p (provider ms), m (the
# model that was asked), road, cost (what is known of it), charged (what counts against budgets),
# unknown (1 if it is not whole).
_ENDING_JOB: Final = """json_each(?1) AS e
  JOIN jobs AS j ON j.tenant_id = e.value ->> 't' AND j.id = e.value ->> 'i'
   AND j.lease_token = e.value ->> 'k'"""
# A wish to cancel ends what would be tried again.
_FINAL_STATE: Final = """
       CASE WHEN e.value ->> 's' = 'retrying' AND {j}.cancel_requested_at IS NOT NULL THEN
            'canceled' ELSE e.value ->> 's' END"""
_FINAL_STATE_J: Final = _FINAL_STATE.format(j="j")
_FINAL_STATE_JOBS: Final = _FINAL_STATE.format(j="jobs")

SETTLE_ATTEMPTS: Final = f"""
INSERT INTO attempts (tenant_id, job_id, number, lease_token, started_at, ended_at, outcome, state,
                      error_class, error_code, usage, provider_ms, result)
SELECT j.tenant_id, j.id, j.attempt_no, j.lease_token, j.leased_at, {NOW}, e.value ->> 'o',
       {_FINAL_STATE_J}, e.value ->> 'c', e.value ->> 'd',
       coalesce(e.value ->> 'u', '{{"cost_micros":0}}'),
       coalesce(e.value ->> 'p', 0), e.value ->> 'x'
  FROM {_ENDING_JOB}
 WHERE true
ON CONFLICT DO NOTHING
"""

# ?2 ms until triage is due
SETTLE_DEAD_LETTERS: Final = burying(
    f"{_ENDING_JOB} WHERE e.value ->> 's' = 'failed'",
    job="j",
    triage="?2",
    road="e.value ->> 'road'",
    error_class="e.value ->> 'c'",
    code="e.value ->> 'd'",
    model="e.value ->> 'm'",
)

# Endings whose lease is gone and that were not written before either: too late, and counted.
COUNT_LATE_WRITES: Final = """
INSERT INTO counters (name, value)
SELECT 'late_writes', count(*)
  FROM json_each(?1) AS e
 WHERE NOT EXISTS (SELECT 1 FROM jobs AS j
                    WHERE j.tenant_id = e.value ->> 't' AND j.id = e.value ->> 'i'
                      AND j.lease_token = e.value ->> 'k')
   AND NOT EXISTS (SELECT 1 FROM attempts AS a
                    WHERE a.tenant_id = e.value ->> 't' AND a.job_id = e.value ->> 'i'
                      AND a.number = e.value ->> 'n' AND a.lease_token = e.value ->> 'k'
                      AND a.outcome = e.value ->> 'o' AND a.error_code IS e.value ->> 'd')
HAVING count(*) > 0
ON CONFLICT (name) DO UPDATE SET value = value + excluded.value
"""

# Last, for it clears the token that proves the others. ?2 ms to keep
SETTLE_JOBS: Final = f"""
UPDATE jobs
   SET state = {_FINAL_STATE_JOBS},
       attempts = attempts - coalesce(e.value ->> 'g', 0),
       call_epoch = call_epoch + coalesce(e.value ->> 'e', 0),
       crashes = 0,
       lone_crashes = 0,
       wakes = 0,
       error_class = e.value ->> 'c',
       error_code = e.value ->> 'd',
       usage = coalesce(e.value ->> 'u', usage),
       attempts_cost_micros = CASE WHEN e.value ->> 'cost' IS NULL THEN attempts_cost_micros
              ELSE coalesce(attempts_cost_micros, 0) + (e.value ->> 'cost') END,
       charged_micros = charged_micros + (e.value ->> 'charged'),
       unknown_costs = unknown_costs + (e.value ->> 'unknown'),
       reserved_micros = NULL,
       result = e.value ->> 'r',
       due_at = {NOW} + coalesce(e.value ->> 'w', 0),
       wake_at = CASE WHEN {_FINAL_STATE_JOBS} = 'retrying'
                      THEN min({NOW} + (e.value ->> 'w') + (e.value ->> 'z'), deadline_at) END,
       finished_at = CASE WHEN {_FINAL_STATE_JOBS} = 'retrying' THEN NULL ELSE {NOW} END,
       expires_at = CASE WHEN {_FINAL_STATE_JOBS} = 'retrying' THEN NULL ELSE {NOW} + ?2 END,
       live_run_key = CASE WHEN {_FINAL_STATE_JOBS} = 'retrying' THEN live_run_key END,
       progress_done = CASE WHEN e.value ->> 's' = 'succeeded' THEN progress_total
                            ELSE progress_done END,
       lease_token = NULL,
       leased_until = NULL
  FROM json_each(?1) AS e
 WHERE jobs.tenant_id = e.value ->> 't' AND jobs.id = e.value ->> 'i'
   AND jobs.lease_token = e.value ->> 'k'
RETURNING tenant_id, id, state
"""

# After a settle whose answer was lost: which of these endings were written? (What somebody else
# wrote of an attempt that was silent ends otherwise.) ?1 JSON array of [tenant, id, token, outcome,
# error code]
SELECT_SETTLED: Final = """
SELECT a.tenant_id, a.job_id AS id, a.state
  FROM json_each(?1) AS asked
  JOIN attempts AS a ON a.tenant_id = asked.value ->> 0 AND a.job_id = asked.value ->> 1
   AND a.lease_token = asked.value ->> 2
   AND a.outcome = asked.value ->> 3 AND a.error_code IS asked.value ->> 4
"""

# What waits ends at once; what runs is told. ?1 tenant, ?2 job, ?3 ms to keep
REQUEST_CANCEL: Final = f"""
UPDATE jobs
   SET cancel_requested_at = coalesce(cancel_requested_at, {NOW}),
       state = CASE state WHEN 'running' THEN state ELSE 'canceled' END,
       finished_at = CASE state WHEN 'running' THEN NULL ELSE {NOW} END,
       expires_at = CASE state WHEN 'running' THEN NULL ELSE {NOW} + ?3 END,
       wake_at = CASE state WHEN 'running' THEN wake_at END,
       live_run_key = CASE state WHEN 'running' THEN live_run_key END
 WHERE tenant_id = ?1 AND id = ?2 AND state IN ('accepted', 'retrying', 'running')
RETURNING {JOB}
"""
