"""Checks of leases and deadlines: who may work a job, for how long, and that it ends in time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from uketsuke.adapters.sql import rows
from uketsuke.adapters.sql import run_statements as runs
from uketsuke.adapters.sql.database import Statement
from uketsuke.adapters.sql.doctor_check import (
    BOTH_TOLD,
    LIVE_TOLD,
    OF_JOB,
    SLACK,
    Check,
    Patience,
    Repair,
    by,
    live,
    newest_and_live,
    told,
)
from uketsuke.adapters.sql.repository import taking_back
from uketsuke.adapters.sql.terms import IN_WAVE, NOW
from uketsuke.domain.failure import ErrorClass
from uketsuke.domain.job import JobKey

_UNHELD: Final = f"(j.state <> 'running' OR j.leased_until <= {NOW})"


def _taking_back(keys: Sequence[Sequence[str]], patience: Patience) -> Sequence[Statement]:
    """The sweep's own statements, on jobs of the queue engine and those that wait."""
    return taking_back([JobKey(*key[:2]) for key in keys], patience.retention)


def _ending_overdue(keys: Sequence[Sequence[str]], patience: Patience) -> Sequence[Statement]:
    """The same, and before it what a new start does to a run that has outlived its time."""
    kept, why = patience.retention, ErrorClass.STALE.value
    runs_of = rows.dump([key for key in keys if key[2]])
    end = (runs_of, why, rows.to_ms(kept.keep_results), rows.to_ms(kept.grace))
    return [
        Statement(runs.RECORD_SILENT, (runs_of, why)),
        Statement(runs.DOOM_SILENT, (runs_of,)),
        Statement(runs.END_SILENT, end),
        *_taking_back(keys, patience),
    ]


_PAST_ITS_END: Final = f"""
SELECT j.id AS id, json_array(j.tenant_id, j.id, j.lease_token) AS key
  FROM {live("state", "deadline_at", "lease_token", "leased_until")} AS j
 WHERE j.deadline_at + {SLACK} <= {NOW}"""

_WITHOUT_LEASE: Final = "state = 'running' AND (lease_token IS NULL OR leased_until IS NULL)"
# A lease that is over: whoever works it gets no other, and the sweep takes the job back.
_GIVE_SPENT_LEASE: Final = f"""
UPDATE jobs
   SET lease_token = coalesce(lease_token, 'doctor.' || id),
       leased_until = coalesce(leased_until, {NOW}),
       leased_at = coalesce(leased_at, {NOW}),
       wake_at = min(coalesce(wake_at, {NOW}), {NOW})
 WHERE {IN_WAVE} AND {_WITHOUT_LEASE}
"""

_LEASED_NOT_RUNNING: Final = f"""
SELECT {OF_JOB}
  FROM {newest_and_live("state", "lease_token", "leased_until")} AS j
 WHERE j.state <> 'running' AND (j.lease_token IS NOT NULL OR j.leased_until IS NOT NULL)"""
_TAKE_LEASE: Final = f"""
UPDATE jobs
   SET lease_token = NULL, leased_until = NULL
 WHERE {IN_WAVE} AND state <> 'running' AND coalesce(leased_until, 0) <= {NOW}
"""

_OVER_FOR_LONG: Final = f"""
SELECT {OF_JOB}
  FROM {live("state", "engine", "leased_until", "wake_at")} AS j
 WHERE j.state = 'running' AND j.leased_until + {SLACK} <= {NOW}"""
# What a silent run is worth, its instance must tell: the sweep asks it.
_LET_LOOK: Final = f"""
UPDATE jobs
   SET wake_at = {NOW}
 WHERE {IN_WAVE} AND state = 'running' AND leased_until <= {NOW} AND wake_at > {NOW}
"""


def _taking_or_waking(keys: Sequence[Sequence[str]], patience: Patience) -> Sequence[Statement]:
    return [*_taking_back(keys, patience), *by(_LET_LOOK)(keys, patience)]


LEASE_CHECKS: Final = (
    Check(
        name="job_past_its_end",
        holds="Every job has ended by its deadline, plus one lease, two sweeps and the first wake.",
        looked_at=LIVE_TOLD,
        offenders=_PAST_ITS_END,
        repair=Repair(
            does="Fails the job as the sweep does (canceled, if that was wished), with its dead "
            "letter. One whose lease is not over is left alone.",
            fix=_ending_overdue,
            targets=f"{_PAST_ITS_END} AND {_UNHELD}",
        ),
        by_hand="Find out why the sweep did not: see wake_overdue and duty_overdue.",
    ),
    Check(
        name="running_without_lease",
        holds="A running job has a lease token and a time at which the lease ends.",
        looked_at=LIVE_TOLD,
        offenders=f"""
SELECT {OF_JOB}
  FROM {live("state", "lease_token", "leased_until")} AS j
 WHERE {_WITHOUT_LEASE}""",
        repair=Repair(
            does="Gives it a lease that is over, so that the sweep takes the job back.",
            fix=by(_GIVE_SPENT_LEASE),
        ),
    ),
    Check(
        name="lease_without_run",
        holds="Only a running job has a lease.",
        looked_at=BOTH_TOLD,
        offenders=_LEASED_NOT_RUNNING,
        repair=Repair(
            does="Takes the lease away, once it is over.",
            fix=by(_TAKE_LEASE),
            targets=f"{_LEASED_NOT_RUNNING} AND coalesce(j.leased_until, 0) <= {NOW}",
        ),
        by_hand="While the lease lasts, wait: its holder may yet write.",
    ),
    Check(
        name="lease_over_for_long",
        holds="A lease that is over is taken back within a lease, two sweeps and the first wake.",
        looked_at=LIVE_TOLD,
        offenders=_OVER_FOR_LONG,
        repair=Repair(
            does="Takes the job back as the sweep does; of a run on a Workflow, lets the sweep "
            "ask its instance at once.",
            fix=_taking_or_waking,
            targets=f"{_OVER_FOR_LONG} AND (j.engine = 'queue' OR j.wake_at > {NOW})",
        ),
        by_hand="If a run stays, see that Workflows can be reached: the sweep asks there first.",
    ),
    Check(
        name="lease_too_long",
        holds="No lease lasts longer than the limit of its attempt and two leases.",
        looked_at=LIVE_TOLD,
        offenders=f"""
SELECT {OF_JOB}
  FROM {live("state", "leased_at", "leased_until", "run_limit_ms")} AS j
 WHERE j.state = 'running'
   AND j.leased_until > coalesce(j.leased_at, 0) + j.run_limit_ms + 2 * {told("lease")}""",
        by_hand="No machine touches a live lease. Cancel the job (its holder sees that when it "
        "renews). If you know that nobody works it, set leased_until to now in the database.",
    ),
)
