"""Checks of bulk redrives: each goes on or is over, and its letters are those that it tells of."""

from __future__ import annotations

from typing import Final

from uketsuke.adapters.sql.doctor_check import SLACK, STRETCH, Check, told
from uketsuke.adapters.sql.terms import NOW

_OF_REDRIVE: Final = "r.id AS id, json_array(r.id) AS key"

# The letters of the newest bulk redrives, counted; those of the oldest among them may not be whole.
_LETTERS: Final = f"""
  WITH named AS MATERIALIZED
         (SELECT redrive_id AS id, count(*) AS letters
            FROM (SELECT redrive_id
                    FROM dead_letters INDEXED BY dead_letters_redrive
                   WHERE redrive_id IS NOT NULL
                   ORDER BY redrive_id DESC
                   LIMIT {STRETCH})
           GROUP BY redrive_id),
       cut AS MATERIALIZED
         (SELECT CASE WHEN sum(letters) < {STRETCH} THEN '' ELSE min(id) END AS id FROM named)"""

REDRIVE_CHECKS: Final = (
    Check(
        name="redrive_left",
        holds="The sweep looks at a bulk redrive that is not closed each minute.",
        looked_at=f"{STRETCH} bulk redrives that are not closed, those looked at longest ago first",
        offenders=f"""
SELECT {_OF_REDRIVE}
  FROM (SELECT id, looked_at
          FROM redrives INDEXED BY redrives_looked_at
         WHERE closed_at IS NULL
         ORDER BY looked_at
         LIMIT {STRETCH}) AS r
 WHERE r.looked_at + {SLACK} + 2 * {told("duty")} <= {NOW}
    OR r.looked_at > {NOW} + {SLACK}""",
        by_hand="See duty_overdue for redrives, and redrive_broke_off in the log. One that was "
        "looked at in the future waits until then: set looked_at to now in the database.",
    ),
    Check(
        name="redrive_unknown",
        holds="The bulk redrive that a letter or a note of one passed over names is there.",
        looked_at=f"{STRETCH} letters and {STRETCH} notes, those of the newest bulk redrives",
        offenders=f"""{_LETTERS}
SELECT n.id AS id, json_array(n.id) AS key
  FROM (SELECT id FROM named
        UNION
        SELECT redrive_id
          FROM (SELECT redrive_id FROM redrive_skips ORDER BY redrive_id DESC LIMIT {STRETCH})) AS n
 WHERE NOT EXISTS (SELECT 1 FROM redrives AS r WHERE r.id = n.id)""",
        by_hand="Nothing deletes a bulk redrive: it was written past the service, or a restore has "
        "mixed two times. GET /v1/audit?target= tells who asked for it and why.",
    ),
    Check(
        name="redrive_figures",
        holds="A closed bulk redrive has started the letters that name it, and no more of their "
        "jobs have ended than were started.",
        looked_at=f"the newest 1000 bulk redrives, against the newest {STRETCH} letters that name "
        "one",
        offenders=f"""{_LETTERS}
SELECT {_OF_REDRIVE}
  FROM (SELECT id, created_at, closed_at, started, succeeded, failed, canceled
          FROM redrives
         ORDER BY id DESC
         LIMIT 1000) AS r
  LEFT JOIN named AS n ON n.id = r.id
 WHERE r.closed_at IS NOT NULL
   AND (r.succeeded + r.failed + r.canceled > r.started
        OR (r.id > (SELECT id FROM cut) AND r.created_at + {told("letters")} > {NOW}
            AND r.started <> coalesce(n.letters, 0)))""",
        by_hand="What was started is what the letters say (redriven_to, redrive_id). Look for jobs "
        "that nobody has looked at, and tell whoever has read the figures.",
    ),
)
