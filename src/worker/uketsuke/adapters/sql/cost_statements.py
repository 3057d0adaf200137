"""Budgets in the statements that claim, end and ask: pieces of SQL, and statements of their own.

A running attempt that a budget binds has what it may cost in its row, ``reserved_micros``, from the
statement that leases it to the one that ends it. So what a tenant has spent today and what its
running jobs have reserved is all that there is to look at, and no two claims can miss each other.

The functions take how the statement calls the job's row, and the numbers of its parameters: the
kinds' rates (JSON: kind to [in, out, audio]) and the deployment's daily budget.
"""

from __future__ import annotations

from typing import Final

from uketsuke.adapters.sql.terms import IN_WAVE, JOB, NOW

TODAY: Final = f"date({NOW} / 1000, 'unixepoch')"
_WAITING: Final = f"state IN ('accepted', 'retrying') AND due_at <= {NOW}"


def estimate_of(row: str, *, rates: str) -> str:
    """What the attempt may cost: as ``domain.price.estimate``; null if its price is unknown."""
    rate = f"({rates} -> {row}.kind)"

    def part(name: str, place: int, factor: int) -> str:
        amount = f"coalesce({row}.expected ->> '{name}', 0)"
        return f"{amount} * ({rate} ->> {place}) * {factor}"

    parts = f"({part('i', 0, 3)} + {part('o', 1, 3)} + {part('a', 2, 50)})"
    calls = f"coalesce({row}.expected ->> 'n', 0)"
    # What is too much for an integer becomes a real number, which no column of ours takes.
    return f"CAST({parts} / 3000000 + {calls} * ({parts} > 0) AS INTEGER)"


def budget_of(row: str, *, default: str) -> str:
    """What the tenant may spend in a day; null is no bound."""
    own = f"(SELECT b.daily_budget_micros FROM tenants AS b WHERE b.id = {row}.tenant_id)"
    return f"coalesce({own}, CAST({default} AS INTEGER))"


def bound(row: str, *, default: str) -> str:
    """Whether a budget binds the job: only then does it pay for what follows."""
    whose = budget_of(row, default=default)
    return f"({row}.max_cost_micros IS NOT NULL OR {whose} IS NOT NULL)"


def spent_by_the_tenant_of(row: str) -> str:
    return f"""coalesce((SELECT sum(u.charged_micros)
                     FROM usage_days AS u
                    WHERE u.tenant_id = {row}.tenant_id AND u.day = {TODAY}), 0)"""


def _reserved_by_others(row: str) -> str:
    # The index is named: the primary key would look as good to the planner, and reads all jobs.
    return f"""coalesce((SELECT sum(o.reserved_micros)
                     FROM jobs AS o INDEXED BY jobs_reserved
                    WHERE o.tenant_id = {row}.tenant_id AND o.reserved_micros IS NOT NULL
                      AND o.id <> {row}.id), 0)"""


def funds(row: str, *, rates: str, default: str) -> str:
    """Why a budget keeps a job from what it needs (see ``domain.job.Funds``); null if none does."""
    wanted, budget = estimate_of(row, rates=rates), budget_of(row, default=default)
    spent = spent_by_the_tenant_of(row)
    return f"""
       CASE WHEN {row}.finished_at IS NOT NULL OR {row}.reserved_micros IS NOT NULL
              OR NOT {bound(row, default=default)} THEN NULL
            WHEN {wanted} IS NULL THEN 'price_unknown'
            WHEN {wanted} = 0 THEN NULL
            WHEN {wanted} > {row}.max_cost_micros - {row}.charged_micros
              OR {wanted} > {budget} - {spent} THEN 'budget_exceeded'
            WHEN {wanted} > {budget} - {spent} - {_reserved_by_others(row)} THEN 'budget_reserved'
            END"""


def reservation(row: str, *, rates: str, default: str) -> str:
    """What the attempt that is leased here reserves; null if no budget binds it."""
    wanted = estimate_of(row, rates=rates)
    return f"CASE WHEN {bound(row, default=default)} THEN {wanted} END"


def unaffordable(*, alone: str, rates: str, default: str) -> str:
    """Select jobs of the wave that their budgets do not allow, as (tenant_id, id).

    Jobs of one wave do not see each other's reservations: their estimates are summed up, in their
    order, for those that would fit by themselves. What costs nothing fits, also where more was
    spent than there was. (Left out are those that such a wave does not lease: see ``LEASE``.)
    """
    wanted, budget = estimate_of("jobs", rates=rates), budget_of("jobs", default=default)
    left = f"{budget} - {spent_by_the_tenant_of('jobs')} - {_reserved_by_others('jobs')}"
    return f"""
SELECT tenant_id, id
  FROM (SELECT tenant_id, id, wanted, own_left, day_left,
               sum(CASE WHEN wanted <= day_left AND wanted <= coalesce(own_left, wanted)
                        THEN wanted END)
                 OVER (PARTITION BY tenant_id ORDER BY id ROWS UNBOUNDED PRECEDING) AS wanted_so_far
          FROM (SELECT tenant_id, id, {wanted} AS wanted,
                       max_cost_micros - charged_micros AS own_left, {left} AS day_left
                  FROM jobs
                 WHERE {IN_WAVE} AND {_WAITING}
                   AND ({alone} OR engine = 'workflow' OR crashes = 0)
                   AND {bound("jobs", default=default)}))
 WHERE wanted IS NULL
    OR (wanted > 0 AND (wanted > own_left OR wanted > day_left OR wanted_so_far > day_left))"""


# What is known of an attempt whose holder is gone (for a row of jobs that is running): the steps
# that it has kept; and what it had reserved counts as spent, for nobody knows better.
ABANDONED_USAGE: Final = """
       CASE WHEN engine = 'workflow' OR reserved_micros IS NOT NULL THEN
            (SELECT json_object('provider', max(c.usage ->> 'provider'),
                                'asked_model', max(c.usage ->> 'asked_model'),
                                'input_tokens', sum(c.usage ->> 'input_tokens'),
                                'output_tokens', sum(c.usage ->> 'output_tokens'),
                                'audio_ms', sum(c.usage ->> 'audio_ms'),
                                'cost_micros', sum(c.usage ->> 'cost_micros'),
                                'unknown_calls', 1,
                                'charged_micros', max(coalesce(jobs.reserved_micros, 0),
                                                      coalesce(sum(c.usage ->> 'charged_micros'),
                                                               0)))
               FROM checkpoints AS c
              WHERE c.tenant_id = jobs.tenant_id AND c.job_id = jobs.id
                AND c.attempt = jobs.attempt_no) END"""

# In the UPDATE that takes such an attempt away, once it has its row.
ABANDON: Final = """charged_micros = charged_micros
           + (state = 'running') * coalesce((SELECT a.usage ->> 'charged_micros'
                                               FROM attempts AS a
                                              WHERE a.tenant_id = jobs.tenant_id
                                                AND a.job_id = jobs.id
                                                AND a.number = jobs.attempt_no), 0),
       unknown_costs = unknown_costs + (state = 'running'),
       reserved_micros = NULL"""

# A due job whose budget can never allow it fails. The reason is found anew: what another statement
# saw may be over. ?1 wave, ?2 ms to keep, ?3 rates, ?4 daily budget
FAIL_OVER_BUDGET: Final = f"""
UPDATE jobs
   SET state = 'failed',
       error_class = 'budget',
       error_code = {funds("jobs", rates="?3", default="?4")},
       wake_at = NULL,
       live_run_key = NULL,
       finished_at = {NOW},
       expires_at = {NOW} + ?2
 WHERE {IN_WAVE} AND {_WAITING}
   AND {funds("jobs", rates="?3", default="?4")} IN ('budget_exceeded', 'price_unknown')
RETURNING {JOB}
"""

# A due job waits for what others have reserved. ?1 wave, ?2 wait ms, ?3 grace ms
AWAIT_BUDGET: Final = f"""
UPDATE jobs
   SET due_at = {NOW} + ?2,
       wake_at = min({NOW} + ?2 + ?3, deadline_at)
 WHERE {IN_WAVE} AND {_WAITING}
RETURNING id
"""

# The attempt needs more than it has reserved: its budgets must allow that, too. Safe to repeat.
# ?1 tenant, ?2 job, ?3 lease token, ?4 what it needs in all, ?5 daily budget
RAISE_RESERVATION: Final = f"""
UPDATE jobs
   SET reserved_micros = max(reserved_micros, CAST(?4 AS INTEGER))
 WHERE tenant_id = ?1 AND id = ?2 AND lease_token = ?3 AND reserved_micros IS NOT NULL
   AND coalesce(?4 <= max_cost_micros - charged_micros, 1)
   AND coalesce(?4 <= {budget_of("jobs", default="?5")} - {spent_by_the_tenant_of("jobs")}
                      - {_reserved_by_others("jobs")}, 1)
RETURNING reserved_micros
"""
