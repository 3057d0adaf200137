"""The statements that tell how a bulk redrive stands: what became of the jobs it has started."""

from __future__ import annotations

from typing import Final

from uketsuke.domain.bulk_redrive import LOOKS_BACK, MOST_CANARIES

# j is the job that was made of the letter d.
ITS_JOB: Final = "j.tenant_id = d.tenant_id AND j.id = d.redriven_to"
# What a job tells that a redrive has started; one that was canceled tells nothing. j is the job, d
# its old letter. Letters of before migration 0008 know no model, so theirs is not held against it.
_TELLS: Final = "j.state <> 'canceled'"
_FAILED_AGAIN: Final = """CASE WHEN j.state = 'failed' THEN
         EXISTS (SELECT 1 FROM dead_letters AS again
                  WHERE again.id = 'dl_' || substr(j.id, 5)
                    AND again.class = d.class AND again.code = d.code
                    AND (d.model IS NULL OR again.model IS d.model))
       ELSE 0 END"""

# ?1 redrive
SELECT_CANARIES_ENDED: Final = f"""
SELECT {_FAILED_AGAIN} AS failed_again
  FROM redrives AS r
 CROSS JOIN dead_letters AS d ON d.redrive_id = r.id
  JOIN jobs AS j ON {ITS_JOB}
 WHERE r.id = ?1 AND r.state = 'canary' AND j.finished_at IS NOT NULL AND {_TELLS}
 ORDER BY d.redriven_to DESC
 LIMIT {MOST_CANARIES}
"""
# Those started last come first: looking ends where most of a stretch have ended. ?1 redrive
SELECT_LATEST: Final = f"""
SELECT again, started
  FROM (SELECT count(finished_at) OVER near AS ended,
               sum(failed_again) OVER near AS again,
               count(*) OVER near AS started
          FROM (SELECT d.redriven_to, j.finished_at, {_FAILED_AGAIN} AS failed_again
                  FROM redrives AS r
                 CROSS JOIN dead_letters AS d ON d.redrive_id = r.id
                  JOIN jobs AS j ON {ITS_JOB}
                 WHERE r.id = ?1 AND r.state = 'running' AND {_TELLS})
        WINDOW near AS (ORDER BY redriven_to DESC ROWS {LOOKS_BACK - 1} PRECEDING))
 WHERE 2 * ended > {LOOKS_BACK}
 LIMIT 1
"""
UNDER_WAY: Final = f"""
(SELECT 1
           FROM dead_letters AS d
           JOIN jobs AS j ON {ITS_JOB}
          WHERE d.redrive_id = ?1 AND j.finished_at IS NULL
          ORDER BY d.redriven_to DESC
          LIMIT 1) IS NOT NULL"""

# ?1 redrive
SELECT_STANDING: Final = f"""
SELECT CASE WHEN state = 'canary' THEN
         (SELECT count(*)
            FROM dead_letters AS d
            LEFT JOIN jobs AS j ON {ITS_JOB}
           WHERE d.redrive_id = ?1 AND j.state IS NOT 'canceled') ELSE 0 END AS started,
       CASE WHEN state <> 'running' OR all_seen THEN {UNDER_WAY} END AS under_way
  FROM redrives
 WHERE id = ?1
"""
