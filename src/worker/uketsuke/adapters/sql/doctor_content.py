"""Checks of content: it is there for whom it is kept, it is its tenant's own, and goes in time."""

from __future__ import annotations

from typing import Final

from uketsuke.adapters.sql.doctor_check import (
    NEWEST_TOLD,
    OF_JOB,
    SLACK,
    STRETCH,
    Check,
    Repair,
    by,
    newest,
)
from uketsuke.adapters.sql.terms import NOW

# A day: the purge does some hundreds at each sweep.
_PURGE_MS: Final = 86_400_000
# Of the newest results that are objects, so many are looked for.
SAMPLED: Final = 10
_IS_OBJECT: Final = "j.result ->> 'object_key' IS NOT NULL"

# The newest jobs with a result in an object; its key comes last. Not one whose time is about to
# come: the purge takes the object first, and the row when it can.
# ?1 durations: see ``told``
SELECT_STORED_RESULTS: Final = f"""
SELECT j.id AS id, json_array(j.tenant_id, j.id, j.result ->> 'object_key') AS key
  FROM {newest("state", "result", "erased_at", "expires_at")} AS j
 WHERE j.state = 'succeeded' AND j.erased_at IS NULL AND {_IS_OBJECT}
   AND j.expires_at > {NOW} + {SLACK}
 LIMIT {SAMPLED}
"""

_OWN: Final = """({column} IS NULL
        OR substr({column}, 1, length({row}.tenant_id) + 1) = {row}.tenant_id || '/')"""

_SUBMISSION_LEFT: Final = f"""
SELECT s.job_id AS id, json_array(s.tenant_id, s.request_key) AS key
  FROM (SELECT tenant_id, request_key, job_id FROM submissions LIMIT {STRETCH}) AS s
 WHERE NOT EXISTS (SELECT 1 FROM jobs AS j WHERE j.tenant_id = s.tenant_id AND j.id = s.job_id)"""
_DELETE_SUBMISSION: Final = """
DELETE FROM submissions
 WHERE (tenant_id, request_key) IN (SELECT value ->> 0, value ->> 1 FROM json_each(?1))
   AND NOT EXISTS (SELECT 1
                     FROM jobs AS j
                    WHERE j.tenant_id = submissions.tenant_id AND j.id = submissions.job_id)
"""


def _delete_left(table: str) -> str:
    return f"""
DELETE FROM {table}
 WHERE (tenant_id, job_id) IN (SELECT value ->> 0, value ->> 1 FROM json_each(?1))
   AND NOT EXISTS (SELECT 1
                     FROM jobs AS j
                    WHERE j.tenant_id = {table}.tenant_id AND j.id = {table}.job_id)
"""


CONTENT_CHECKS: Final = (
    Check(
        name="result_missing",
        holds="The result of a job that succeeded lies in the row of the attempt that it names.",
        looked_at=NEWEST_TOLD,
        offenders=f"""
SELECT {OF_JOB}
  FROM {newest("state", "result", "erased_at")} AS j
 WHERE j.state = 'succeeded' AND j.erased_at IS NULL AND NOT {_IS_OBJECT}
   AND NOT EXISTS (SELECT 1
                     FROM attempts AS a
                    WHERE a.tenant_id = j.tenant_id AND a.job_id = j.id
                      AND a.number = j.result ->> 'attempt' AND a.result IS NOT NULL)""",
        by_hand="The result is lost. Tell the tenant, and submit the work again.",
    ),
    Check(
        name="result_object_missing",
        holds="The result of a job that succeeded lies in the object that it names.",
        looked_at=f"the newest {SAMPLED} results that are objects",
        # The storage is asked: see services.doctor.
        offenders="SELECT '' AS id, '[]' AS key WHERE 0",
        by_hand="If the storage did not answer, ask again. Else the result is lost: look for a "
        "rule of the bucket that deletes objects, tell the tenant, and submit the work again.",
    ),
    Check(
        name="object_of_another_tenant",
        holds="The objects that a job, an upload or a checkpoint names are its own tenant's.",
        looked_at=f"{NEWEST_TOLD}, and {STRETCH} each of the others, in the order of their keys",
        offenders=f"""
SELECT {OF_JOB}
  FROM {newest("input", "result")} AS j
 WHERE NOT ({_OWN.format(row="j", column="j.input ->> 'object_key'")}
            AND {_OWN.format(row="j", column="j.result ->> 'object_key'")})
 UNION ALL
SELECT o.id AS id, json_array(o.tenant_id, o.id) AS key
  FROM (SELECT * FROM (SELECT tenant_id, id, object_key FROM inputs LIMIT {STRETCH})
        UNION ALL
        SELECT * FROM (SELECT tenant_id, job_id, object_key FROM checkpoints LIMIT {STRETCH})) AS o
 WHERE NOT {_OWN.format(row="o", column="o.object_key")}""",
        by_hand="Somebody may have seen another's content. Treat it as an incident: no version of "
        "the service writes such a row.",
    ),
    Check(
        name="job_without_submission",
        holds="A job has its submission, with its idempotency key and small input.",
        looked_at=NEWEST_TOLD,
        offenders=f"""
SELECT {OF_JOB}
  FROM {newest("request_key", "erased_at")} AS j
 WHERE j.erased_at IS NULL
   AND NOT EXISTS (SELECT 1
                     FROM submissions AS s
                    WHERE s.tenant_id = j.tenant_id AND s.request_key = j.request_key
                      AND s.job_id = j.id)""",
        by_hand="Its input is lost, if it was small, and its idempotency key is free. A live one "
        "fails by itself; tell the tenant to submit it again.",
    ),
    Check(
        name="submission_without_job",
        holds="A submission goes with its job: it may hold content.",
        looked_at=f"{STRETCH} submissions, in the order of their keys",
        offenders=_SUBMISSION_LEFT,
        repair=Repair(
            does="Deletes the job's objects, and then the submission.", fix=by(_DELETE_SUBMISSION)
        ),
    ),
    Check(
        name="rows_outlive_job",
        holds="Attempts and checkpoints go with their job: they may hold content.",
        looked_at=f"{STRETCH} of each, in the order of their keys",
        offenders=f"""
SELECT {OF_JOB}
  FROM (SELECT DISTINCT tenant_id, job_id AS id
          FROM (SELECT * FROM (SELECT tenant_id, job_id FROM attempts LIMIT {STRETCH})
                UNION ALL
                SELECT * FROM (SELECT tenant_id, job_id FROM checkpoints LIMIT {STRETCH}))) AS j
 WHERE NOT EXISTS (SELECT 1 FROM jobs WHERE jobs.tenant_id = j.tenant_id AND jobs.id = j.id)""",
        repair=Repair(
            does="Deletes the job's objects, and then the rows. The days' sums keep what they "
            "cost.",
            fix=by(_delete_left("attempts"), _delete_left("checkpoints")),
        ),
    ),
    Check(
        name="content_past_retention",
        holds="Content goes within a day of its time.",
        looked_at=f"the oldest {STRETCH} jobs, and the uploads whose time came first",
        offenders=f"""
SELECT {OF_JOB}
  FROM (SELECT tenant_id, id, expires_at
          FROM jobs INDEXED BY jobs_by_id
         ORDER BY id
         LIMIT {STRETCH}) AS j
 WHERE j.expires_at + {_PURGE_MS} <= {NOW}
 UNION ALL
SELECT * FROM
       (SELECT i.id AS id, json_array(i.tenant_id, i.id) AS key
          FROM inputs AS i
         WHERE i.expires_at <= {NOW} - {_PURGE_MS}
         LIMIT {STRETCH})""",
        by_hand="The purge does not keep up: see duty_overdue for purge_jobs and purge_inputs, and "
        "duty_failed in the log (the storage may refuse).",
    ),
)
