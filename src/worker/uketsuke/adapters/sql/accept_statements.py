"""The statements that accept a job, one transaction: its row, its key, what it holds fast."""

from __future__ import annotations

from typing import Final

from uketsuke.adapters.sql.terms import J_JOB, KEPT_RESULT, NOW

_IF_STARTED: Final = f"CASE WHEN ?17 IS NOT NULL THEN {NOW} END"

# ?1 tenant, ?2 id, ?3 request key, ?4 kind, ?5 engine, ?6 origin, ?7 run key, ?8 params,
# ?9 metadata, ?10 input, ?11 traceparent, ?12 max attempts, ?13 deadline ms, ?14 first wake ms,
# ?15 uploads and finished jobs that must exist (JSON array of ids), ?16 limit of one attempt in ms;
# for a job that is born running ?17 its lease token and ?18 the lease in ms, else null; ?19 what it
# may cost, ?20 what its kind expects; for a redrive ?21 the job and ?22 the dead letter that it
# comes from, else null, and ?23 how many redrives its line has with it; ?24 the bulk redrive that
# starts it, which must be going on, or null
INSERT_JOB: Final = f"""
INSERT INTO jobs (tenant_id, id, request_key, kind, engine, origin, state, run_key, live_run_key,
                  params, metadata, input, traceparent, max_attempts, created_at, due_at, wake_at,
                  deadline_at, run_limit_ms, lease_token, attempts, attempt_no, leased_at,
                  started_at, leased_until, max_cost_micros, expected, redriven_from, redrives)
SELECT ?1, ?2, ?3, ?4, ?5, ?6, CASE WHEN ?17 IS NULL THEN 'accepted' ELSE 'running' END, ?7, ?7, ?8,
       ?9, ?10, ?11, ?12, {NOW}, {NOW}, {NOW} + min(coalesce(?18, ?14), ?13), {NOW} + ?13, ?16,
       ?17, ?17 IS NOT NULL, ?17 IS NOT NULL, {_IF_STARTED}, {_IF_STARTED}, {_IF_STARTED} + ?18,
       ?19, ?20, ?21, ?23
 WHERE NOT EXISTS (SELECT 1 FROM submissions WHERE tenant_id = ?1 AND request_key = ?3)
   AND NOT EXISTS (SELECT 1
                     FROM json_each(?15) AS named
                    WHERE NOT EXISTS (SELECT 1
                                        FROM inputs
                                       WHERE inputs.tenant_id = ?1
                                         AND inputs.id = named.value
                                         AND inputs.expires_at > {NOW})
                      AND NOT EXISTS (SELECT 1
                                        FROM jobs AS source
                                       WHERE source.tenant_id = ?1
                                         AND source.id = named.value
                                         AND {KEPT_RESULT}))
   AND (?22 IS NULL OR EXISTS (SELECT 1
                                 FROM dead_letters AS d
                                WHERE d.id = ?22 AND d.tenant_id = ?1 AND d.status = 'open'))
   AND (?24 IS NULL
        OR EXISTS (SELECT 1 FROM redrives WHERE id = ?24 AND state IN ('canary', 'running')))
ON CONFLICT DO NOTHING
"""

# Only if the job's row is ours; it may be so since an earlier try, whose answer was lost.
# ?1 tenant, ?2 job, ?3 fingerprint, ?4 inline input
INSERT_SUBMISSION: Final = """
INSERT INTO submissions (tenant_id, request_key, job_id, fingerprint, input)
SELECT tenant_id, request_key, id, ?3, ?4
  FROM jobs
 WHERE tenant_id = ?1 AND id = ?2
ON CONFLICT DO NOTHING
"""

# Only for a job that exists: its uploads stay until nothing could need them.
# ?1 tenant, ?2 job, ?3 uploads (JSON), ?4 ms from now
PIN_UPLOADS: Final = f"""
UPDATE inputs
   SET expires_at = max(expires_at, {NOW} + ?4)
 WHERE tenant_id = ?1
   AND id IN (SELECT value FROM json_each(?3))
   AND EXISTS (SELECT 1 FROM jobs WHERE jobs.tenant_id = ?1 AND jobs.id = ?2)
"""

# The same for the finished jobs whose results it names.
# ?1 tenant, ?2 job, ?3 jobs (JSON), ?4 ms from now
PIN_RESULTS: Final = f"""
UPDATE jobs
   SET expires_at = max(expires_at, {NOW} + ?4)
 WHERE tenant_id = ?1
   AND id IN (SELECT value FROM json_each(?3))
   AND {KEPT_RESULT}
   AND EXISTS (SELECT 1 FROM jobs AS reader WHERE reader.tenant_id = ?1 AND reader.id = ?2)
"""

# Who stands for the submission: the new job, else the one under its idempotency key, else the
# live one under its run key. ?1 tenant, ?2 id, ?3 request key, ?4 run key
SELECT_ADMITTED: Final = f"""
SELECT 'new' AS how, NULL AS fingerprint, {J_JOB}
  FROM jobs AS j
 WHERE j.tenant_id = ?1 AND j.id = ?2
UNION ALL
SELECT 'known_key', s.fingerprint, {J_JOB}
  FROM submissions AS s
  JOIN jobs AS j ON j.tenant_id = s.tenant_id AND j.id = s.job_id
 WHERE s.tenant_id = ?1 AND s.request_key = ?3
UNION ALL
SELECT 'live_run', NULL, {J_JOB}
  FROM jobs AS j
 WHERE j.tenant_id = ?1 AND j.live_run_key = ?4
LIMIT 1
"""
