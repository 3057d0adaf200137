"""Checks of attempts: each is recorded once, none is beyond the maximum, one ends the job."""

from __future__ import annotations

from typing import Final

from uketsuke.adapters.sql.doctor_check import ENDED, NEWEST_TOLD, OF_JOB, Check, newest

_ITS_ATTEMPTS: Final = "attempts AS a WHERE a.tenant_id = j.tenant_id AND a.job_id = j.id"
_RUNS: Final = "(j.state = 'running')"

ATTEMPT_CHECKS: Final = (
    Check(
        name="ended_twice",
        holds="At most one attempt ends a job, and the job's state is what that attempt made it.",
        looked_at=NEWEST_TOLD,
        offenders=f"""
SELECT {OF_JOB}
  FROM {newest("state", "attempt_no")} AS j
 WHERE j.attempt_no > 0
   AND (SELECT count(*) > 1 OR max(a.state <> j.state)
          FROM {_ITS_ATTEMPTS} AND a.state IN {ENDED})""",
        by_hand="A fence did not hold: that is a fault of the software, so report it with the "
        "job's row and attempts. The job's own row is what callers see.",
    ),
    Check(
        name="attempts_beyond_max",
        holds="A job has spent no more attempts than it may, and no more than it has begun.",
        looked_at=NEWEST_TOLD,
        offenders=f"""
SELECT {OF_JOB}
  FROM {newest("attempts", "max_attempts", "attempt_no")} AS j
 WHERE j.attempts < 0 OR j.attempts > j.max_attempts OR j.attempts > j.attempt_no""",
        by_hand="A live job with none left is not worked again; let its tenant cancel it. Then "
        "find out who wrote the row: no version of the service does.",
    ),
    Check(
        name="attempt_rows",
        holds="Each attempt of a job has one row, but the running one, which has none yet.",
        looked_at=NEWEST_TOLD,
        offenders=f"""
SELECT {OF_JOB}
  FROM {newest("state", "attempt_no", "erased_at")} AS j
 WHERE j.erased_at IS NULL
   AND (SELECT count(*) <> j.attempt_no - {_RUNS}
               OR max(a.number) <> j.attempt_no - {_RUNS}
          FROM {_ITS_ATTEMPTS})""",
        by_hand="Nobody can tell what an attempt did that left no row, and no machine makes it up. "
        "The job goes on, or has ended; its cost is known but for that attempt.",
    ),
    Check(
        name="attempts_add_up",
        holds="A job has spent as many attempts as its history has that were not given back.",
        looked_at=NEWEST_TOLD,
        offenders=f"""
SELECT {OF_JOB}
  FROM {newest("state", "attempts", "erased_at")} AS j
 WHERE j.erased_at IS NULL
   AND (SELECT count(*) <> j.attempts - {_RUNS}
          FROM {_ITS_ATTEMPTS} AND a.outcome <> 'deferred')""",
        by_hand="The job has one try more, or less, than it should. Where it failed too early, "
        "redrive its dead letter.",
    ),
    Check(
        name="crashed_in_company",
        holds="No job has failed for a crash that a neighbour may have caused.",
        looked_at=NEWEST_TOLD,
        offenders=f"""
SELECT {OF_JOB}
  FROM {newest("state", "engine", "error_class", "leased_alone")} AS j
 WHERE j.state = 'failed' AND j.error_class = 'crashed' AND j.engine = 'queue'
   AND j.leased_alone = 0""",
        by_hand="Redrive its dead letter: it was perhaps not to blame.",
    ),
)
