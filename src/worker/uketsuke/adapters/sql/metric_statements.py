"""The statements of figures over time: sums that others keep, points, and what is live.

What a request reads is bounded by parameters, whatever the tables hold. Figures come as JSON.
"""

from __future__ import annotations

from typing import Final

from uketsuke.adapters.sql.terms import NOW
from uketsuke.domain.tally import FAILED_AS

# Two days: attempts end on the day on which their row is written, so older sums stand still. A
# state of tomorrow is of a clock that was wrong. Without a state, all is new.
_UNSEEN: Final = f"""
       day >= coalesce((SELECT date(min(rolled_at, {NOW}) / 1000 - 86400, 'unixepoch')
                          FROM metrics_state
                         WHERE id = 1), '')"""
# By what the roll-up met, and not by what is there: once it is too much, the roll-up has everything
# that was told before, so that nobody is told less than before. ?1 rows at most
_FEW_ENOUGH: Final = "coalesce((SELECT usage_rows FROM metrics_state WHERE id = 1), 0) <= ?1"

SELECT_STATE: Final = f"""
SELECT now.at AS now, s.*
  FROM (SELECT {NOW} AS at) AS now
  LEFT JOIN metrics_state AS s ON s.id = 1
"""

# ?1 rows at most
SUM_ATTEMPTS: Final = f"""
SELECT day, kind, count(*) AS usage_rows,
       json_object('attempts', sum(attempts),
                   'failed_attempts', sum(failed_attempts),
                   'succeeded', sum(succeeded),
                   'retried', sum(retried),
                   'cost_micros', sum(cost_micros),
                   'failed_cost_micros', sum(failed_cost_micros),
                   'unknown_costs', sum(unknown),
                   'waited_ms', sum(waited_ms),
                   'ran_ms', sum(ran_ms)) AS figures
  FROM usage_days
 WHERE {_UNSEEN} AND {_FEW_ENOUGH}
 GROUP BY day, kind
"""

# ?1 rows at most
SUM_SPANS: Final = f"""
SELECT day, kind, 0 AS usage_rows, json_group_object(name, attempts) AS figures
  FROM (SELECT day, kind, span.key AS name, sum(span.value) AS attempts
          FROM usage_days CROSS JOIN json_each(spans) AS span
         WHERE {_UNSEEN} AND {_FEW_ENOUGH}
         GROUP BY day, kind, span.key)
 GROUP BY day, kind
"""

# ?1 rows at most
SUM_ENDS: Final = f"""
SELECT day, kind, 0 AS usage_rows,
       json_group_object(CASE state WHEN 'failed' THEN '{FAILED_AS}' || class ELSE state END,
                         jobs) AS figures
  FROM ends_days
 WHERE {_UNSEEN} AND {_FEW_ENOUGH}
 GROUP BY day, kind
"""

# Of jobs that wait the oldest was accepted first, of those that run it was leased first. Which one
# it is comes with its time, as one text whose least is asked for: a bare column would be of either
# min(). ?1 jobs at most, -1 for all
LIVE_JOBS: Final = f"""
SELECT kind, state, count(*) AS jobs,
       sum(state <> 'running' AND due_at <= {NOW}) AS due,
       {NOW} - min(since) AS oldest_ms,
       substr(min(printf('%015d', since) || id), 16) AS oldest_id,
       {NOW} - min(CASE WHEN state <> 'running' AND due_at <= {NOW} THEN due_at END)
         AS oldest_due_ms
  FROM (SELECT id, kind, state, due_at,
               CASE state WHEN 'running' THEN leased_at ELSE created_at END AS since
          FROM jobs INDEXED BY jobs_wake_at
         WHERE wake_at IS NOT NULL
         LIMIT ?1) AS page
 GROUP BY kind, state
"""

# The points that this moment lies in.
SELECT_POINTS_NOW: Final = f"""
SELECT p.step, p.at, p.kind, p.figures
  FROM (SELECT 'minute' AS step, 60000 AS length
        UNION ALL SELECT 'hour', 3600000
        UNION ALL SELECT 'day', 86400000) AS s
 CROSS JOIN metrics_points AS p
    ON p.step = s.step AND p.at = {NOW} / s.length * s.length
"""

# The last points that lie in so many stretches; none that is still to come, of a clock that was
# wrong. ?1 step, ?2 length of a stretch in ms, ?3 how many, ?4 rows at most
SELECT_POINTS: Final = f"""
SELECT step, at, kind, figures
  FROM metrics_points
 WHERE step = ?1
   AND at >= {NOW} / CAST(?2 AS INTEGER) * CAST(?2 AS INTEGER) - CAST(?2 AS INTEGER) * (?3 - 1)
   AND at <= {NOW}
 ORDER BY at
 LIMIT ?4
"""

# Only by who has read the revision that is still the last: what it adds, nobody has added since.
# ?1 JSON array of [step, at, kind, figures], ?2 revision
KEEP_POINTS: Final = """
INSERT INTO metrics_points (step, at, kind, figures)
SELECT put.value ->> 0, put.value ->> 1, put.value ->> 2, put.value ->> 3
  FROM json_each(?1) AS put
 WHERE coalesce((SELECT revision FROM metrics_state WHERE id = 1), 0) = ?2
ON CONFLICT (step, at, kind) DO UPDATE SET figures = excluded.figures
"""

# Last, for it ends the revision that proves the points.
# ?1 JSON array of [revision, rolled_at, usage_rows, seen, live, totals, gauges], ?2 revision before
KEEP_STATE: Final = """
INSERT INTO metrics_state (id, revision, rolled_at, usage_rows, seen, live, totals, gauges)
SELECT 1, ?1 ->> 0, ?1 ->> 1, ?1 ->> 2, ?1 ->> 3, ?1 ->> 4, ?1 ->> 5, ?1 ->> 6
 WHERE coalesce((SELECT revision FROM metrics_state WHERE id = 1), 0) = ?2
ON CONFLICT (id) DO UPDATE
   SET revision = excluded.revision,
       rolled_at = excluded.rolled_at,
       usage_rows = excluded.usage_rows,
       seen = excluded.seen,
       live = excluded.live,
       totals = excluded.totals,
       gauges = excluded.gauges
RETURNING revision
"""

# ?1 step, ?2 ms to keep, ?3 page size
DELETE_POINTS: Final = f"""
DELETE FROM metrics_points
 WHERE (step, at, kind) IN (SELECT step, at, kind
                              FROM metrics_points
                             WHERE step = ?1 AND at < {NOW} - ?2
                             ORDER BY at
                             LIMIT ?3)
"""

# When the duty that was done least lately was done; and how overdue the job is that somebody should
# have looked at first. ?1 JSON array of duties
SELECT_LAGS: Final = f"""
SELECT (SELECT {NOW} - min(done_at)
          FROM duties
         WHERE name IN (SELECT value FROM json_each(?1))) AS sweep_ms,
       (SELECT max(0, {NOW} - min(wake_at)) FROM jobs WHERE wake_at IS NOT NULL) AS outbox_ms
"""

# A handful.
SELECT_COUNTERS: Final = "SELECT name, value FROM counters LIMIT 100"
