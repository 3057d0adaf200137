"""Checks of the sweep: that it runs, and leaves nothing lying that is its to see to."""

from __future__ import annotations

from typing import Final

from uketsuke.adapters.sql.doctor_check import (
    LIVE_TOLD,
    OF_JOB,
    SLACK,
    STRETCH,
    Check,
    Repair,
    by,
    live,
    told,
)
from uketsuke.adapters.sql.terms import NOW

_DUTY: Final = told("duty")
_HOUR_MS: Final = 3_600_000

# A duty that was never done is as late as the oldest job that is there.
_OLDEST: Final = "(SELECT created_at FROM jobs INDEXED BY jobs_by_id ORDER BY id LIMIT 1)"
_LATE: Final = f"{SLACK} + 2 * {_DUTY} <= {NOW}"

_STUCK: Final = """
SELECT d.name AS id, json_array(d.name) AS key
  FROM duties AS d
 WHERE {stuck}"""
_BEYOND_ANY_CLAIM: Final = "leased_until > {now} + {duty}"
_FREE_DUTY: Final = f"""
UPDATE duties
   SET lease_token = NULL, leased_until = 0
 WHERE name IN (SELECT value ->> 0 FROM json_each(?1))
   AND {_BEYOND_ANY_CLAIM.format(now=NOW, duty=told("duty", parameter=2))}
"""

# Its instance is asked for before: see services.doctor.
_FORGET: Final = """
DELETE FROM doomed_instances WHERE id IN (SELECT value ->> 0 FROM json_each(?1))
"""

SWEEP_CHECKS: Final = (
    Check(
        name="wake_overdue",
        holds="The sweep looks at a job soon after the time at which somebody must.",
        looked_at=LIVE_TOLD,
        offenders=f"""
SELECT {OF_JOB}
  FROM {live("wake_at")} AS j
 WHERE j.wake_at + {SLACK} <= {NOW}""",
        by_hand="The sweep is down or behind. See that the consumer Worker's cron fires each "
        "minute and does not fail (duty_failed in the log); it then catches up by itself.",
    ),
    Check(
        name="duty_overdue",
        holds="Each duty of the sweep was done lately.",
        offenders=f"""
SELECT d.name AS id, json_array(d.name) AS key
  FROM (SELECT * FROM duties LIMIT {STRETCH}) AS d
 WHERE max(coalesce(d.done_at, {_OLDEST}, {NOW}), d.leased_until) + {_LATE}
 UNION ALL
SELECT 'sweep', json_array('sweep')
 WHERE NOT EXISTS (SELECT 1 FROM duties) AND {_OLDEST} + {_LATE}""",
        by_hand="See that the cron fires, and duty_failed in the log; where 'sweep' is named, no "
        "sweep has ever run. If no version that you run has the duty any more, delete its row from "
        "duties.",
    ),
    Check(
        name="duty_lease_stuck",
        holds="No sweep holds a duty for longer than a claim lasts.",
        offenders=_STUCK.format(stuck=_BEYOND_ANY_CLAIM.format(now=NOW, duty=_DUTY)),
        repair=Repair(
            does="Frees the duty: no claim ends so late, so no sweep is at it.", fix=by(_FREE_DUTY)
        ),
    ),
    Check(
        name="schedule_overdue",
        holds="An occurrence is recorded soon after its time.",
        looked_at=f"the {STRETCH} schedules that are due first",
        offenders=f"""
SELECT s.tenant_id || '/' || s.name AS id, json_array(s.tenant_id, s.name) AS key
  FROM schedules AS s
 WHERE s.next_at IS NOT NULL AND s.next_at + {SLACK} <= {NOW}
 LIMIT {STRETCH}""",
        by_hand="See duty_overdue for start_due, and schedule_unreadable in the log: the data of "
        "time zones may have changed; then its tenant puts the schedule anew.",
    ),
    Check(
        name="occurrence_left",
        holds="An occurrence is decided within an hour of its record.",
        looked_at=f"{STRETCH} occurrences that are not decided, oldest first",
        offenders=f"""
SELECT o.job_id AS id, json_array(o.tenant_id, o.schedule, o.due_at) AS key
  FROM (SELECT tenant_id, schedule, due_at, job_id, recorded_at
          FROM occurrences INDEXED BY occurrences_recorded_at
         WHERE state = 'recorded'
         ORDER BY recorded_at
         LIMIT {STRETCH}) AS o
 WHERE o.recorded_at + {SLACK} + {_HOUR_MS} <= {NOW}""",
        by_hand="The sweep takes it up each time, so look why it cannot: run_not_asked and "
        "start_failed in the log, and whether Workflows have room.",
    ),
    Check(
        name="started_without_job",
        holds="The job that a schedule says it started last is there, as long as any is kept; so "
        "is that of each occurrence.",
        looked_at=f"{STRETCH} schedules and {STRETCH} occurrences, in the order of their names",
        offenders=f"""
SELECT s.tenant_id || '/' || s.name AS id, json_array(s.tenant_id, s.name) AS key
  FROM (SELECT tenant_id, name, last_at, last_job_id FROM schedules LIMIT {STRETCH}) AS s
 WHERE s.last_job_id IS NOT NULL AND s.last_at + {told("keep")} > {NOW}
   AND NOT EXISTS (SELECT 1
                     FROM jobs AS j
                    WHERE j.tenant_id = s.tenant_id AND j.id = s.last_job_id)
 UNION
SELECT o.tenant_id || '/' || o.schedule AS id, json_array(o.tenant_id, o.schedule) AS key
  FROM (SELECT * FROM occurrences LIMIT {STRETCH}) AS o
 WHERE o.state = 'started' AND o.recorded_at + {told("keep")} > {NOW}
   AND NOT EXISTS (SELECT 1 FROM jobs AS j WHERE j.tenant_id = o.tenant_id AND j.id = o.job_id)""",
        by_hand="The run was recorded as started and is nowhere. Trigger the schedule by hand if "
        "its work is wanted.",
    ),
    Check(
        name="doomed_left",
        holds="An instance whose run is over is stopped within minutes.",
        looked_at=f"{STRETCH} doomed instances",
        offenders=f"""
SELECT d.id AS id, json_array(d.id) AS key
  FROM (SELECT * FROM doomed_instances LIMIT {STRETCH}) AS d
 WHERE d.doomed_at + {_LATE}""",
        repair=Repair(
            does="Forgets those that the platform does not know, or that have ended there.",
            fix=by(_FORGET),
        ),
        by_hand="One that lives on must be stopped: see duty_overdue for end_doomed, or terminate "
        "it in the platform's own dashboard.",
    ),
    Check(
        name="probe_of_nobody",
        holds="A parked lane's probe, or its last failure, is an attempt of a job that there is, "
        "as long as any is kept.",
        offenders=f"""
SELECT l.lane AS id, json_array(l.lane) AS key
  FROM (SELECT * FROM lanes LIMIT {STRETCH}) AS l
 WHERE l.forget_at > {NOW} AND l.parked_at + {told("keep")} > {NOW}
   AND NOT EXISTS (SELECT 1
                     FROM jobs AS j
                    WHERE j.tenant_id = l.probe_tenant AND j.id = l.probe_job
                      AND j.lease_token = l.probe_token)
   AND NOT EXISTS (SELECT 1
                     FROM attempts AS a
                    WHERE a.tenant_id = l.probe_tenant AND a.job_id = l.probe_job
                      AND a.lease_token = l.probe_token)""",
        by_hand="When its time is over, the next job takes the probe over. No machine opens a "
        "lane: if the provider is fine and jobs still wait, delete the lane's row from lanes.",
    ),
)
