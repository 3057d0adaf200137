"""Checks of money: what is reserved, what a job was charged, what its tenant's day says."""

from __future__ import annotations

from typing import Final

from uketsuke.adapters.sql.cost_statements import TODAY
from uketsuke.adapters.sql.doctor_check import (
    NEWEST_TOLD,
    OF_JOB,
    STRETCH,
    Check,
    Repair,
    by,
    newest,
    told,
)
from uketsuke.adapters.sql.terms import IN_WAVE, NOW

_YESTERDAY: Final = f"date({NOW} / 1000, 'unixepoch', '-1 day')"
_DAY_MS: Final = 86_400_000
# A job lives for 7 days at most: of its attempts none ended before the day before yesterday if the
# oldest job that was looked at is older than this.
_LONGEST_LIFE_MS: Final = 9 * _DAY_MS
_RELEASE: Final = f"""
UPDATE jobs
   SET reserved_micros = NULL
 WHERE {IN_WAVE} AND reserved_micros IS NOT NULL AND state <> 'running'
"""

# What was looked at adds up to at least its part of a day's sums; and to all of them where no job
# of these days can be missing from it.
_DAYS: Final = f"""
  WITH looked AS MATERIALIZED (SELECT * FROM {newest("kind", "created_at")}),
       seen AS MATERIALIZED
         (SELECT l.tenant_id, date(a.ended_at / 1000, 'unixepoch') AS day, l.kind,
                 coalesce(a.usage ->> 'provider', '') AS provider,
                 coalesce(a.usage ->> 'asked_model', a.usage ->> 'model', '') AS model,
                 count(*) AS attempts,
                 sum(coalesce(a.usage ->> 'charged_micros', 0)) AS charged
            FROM looked AS l
            JOIN attempts AS a ON a.tenant_id = l.tenant_id AND a.job_id = l.id
           WHERE date(a.ended_at / 1000, 'unixepoch') >= {_YESTERDAY}
           GROUP BY 1, 2, 3, 4, 5),
       whole AS MATERIALIZED
         (SELECT {told("keep")} >= {2 * _DAY_MS}
                 AND (count(*) < {STRETCH} OR min(created_at) < {NOW} - {_LONGEST_LIFE_MS}) AS yes
            FROM looked),
       days AS MATERIALIZED
         (SELECT u.tenant_id, u.day, u.kind, u.provider, u.model, u.attempts,
                 u.charged_micros AS charged
            FROM (SELECT DISTINCT tenant_id FROM looked) AS l
            JOIN usage_days AS u
              ON u.tenant_id = l.tenant_id AND u.day BETWEEN {_YESTERDAY} AND {TODAY})
SELECT tenant_id || '/' || day || '/' || kind || '/' || provider || '/' || model AS id,
       json_array(tenant_id, day, kind, provider, model) AS key
  FROM (SELECT tenant_id, day, kind, provider, model, sum(seen_attempts) AS seen_attempts,
               sum(seen_charged) AS seen_charged, sum(attempts) AS attempts, sum(charged) AS charged
          FROM (SELECT tenant_id, day, kind, provider, model, attempts AS seen_attempts,
                       charged AS seen_charged, 0 AS attempts, 0 AS charged
                  FROM seen
                UNION ALL
                SELECT tenant_id, day, kind, provider, model, 0, 0, attempts, charged FROM days)
         GROUP BY 1, 2, 3, 4, 5)
 WHERE seen_attempts > attempts
    OR seen_charged > charged
    OR ((SELECT yes FROM whole) AND (seen_attempts <> attempts OR seen_charged <> charged))"""

COST_CHECKS: Final = (
    Check(
        name="reserved_without_run",
        holds="Only a running job has money reserved.",
        looked_at=f"{STRETCH} jobs that have reserved money",
        offenders=f"""
SELECT {OF_JOB}
  FROM (SELECT tenant_id, id, state
          FROM jobs INDEXED BY jobs_reserved
         WHERE reserved_micros IS NOT NULL
         LIMIT {STRETCH}) AS j
 WHERE j.state <> 'running'""",
        repair=Repair(does="Releases what it has reserved.", fix=by(_RELEASE)),
    ),
    Check(
        name="job_cost_disagrees",
        holds="A job was charged what its ended attempts were charged.",
        looked_at=NEWEST_TOLD,
        offenders=f"""
SELECT {OF_JOB}
  FROM {newest("charged_micros", "attempt_no", "erased_at")} AS j
 WHERE j.erased_at IS NULL
   AND j.charged_micros <> coalesce((SELECT sum(a.usage ->> 'charged_micros')
                                       FROM attempts AS a
                                      WHERE a.tenant_id = j.tenant_id AND a.job_id = j.id), 0)""",
        by_hand="The attempts are the record; the job's sum decides what it may still spend "
        "(max_cost_usd). Correct jobs.charged_micros by hand if the job is live.",
    ),
    Check(
        name="usage_day_disagrees",
        holds="A tenant's sums of today and yesterday are those of its attempts.",
        looked_at=f"today's and yesterday's attempts of {NEWEST_TOLD}",
        offenders=_DAYS,
        by_hand="A trigger keeps the sums in the statement that writes an attempt, so rows were "
        "written past it. Budgets are judged by the sums: correct usage_days by hand from the "
        "attempts of that day, and note why.",
    ),
)
