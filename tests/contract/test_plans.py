"""No statement on a hot path scans a table: what SQLite plans is read, not hoped."""

from __future__ import annotations

import re

import pytest

from tests.support.sqlite import connect
from uketsuke.adapters.sql import (
    accept_statements,
    alerts,
    audit,
    bulk_standing,
    bulk_statements,
    conditions,
    cost_statements,
    costs,
    dead_letters,
    expiry,
    inputs,
    job_counts,
    keys,
    lane_statements,
    letter_lists,
    listing,
    metric_statements,
    money_and_lanes,
    occurrences,
    purging,
    redrive_statements,
    schedules,
    statements,
    sweeping,
    triage,
)

MODULES = (
    accept_statements,
    statements,
    expiry,
    sweeping,
    purging,
    inputs,
    keys,
    listing,
    job_counts,
    dead_letters,
    redrive_statements,
    audit,
    bulk_standing,
    bulk_statements,
)
COSTS = (cost_statements, costs)
SCHEDULING = (schedules, occurrences, lane_statements)
TRIAGE = (letter_lists, triage, conditions)
FIGURES = (metric_statements, alerts, money_and_lanes)

# What may be scanned: the wave that came in as JSON, a bounded stretch, what has one row, the lanes
# that are parked, the few conditions, alerts, duties and counters, and the open dead letters, but
# in their own index alone.
_HARMLESS = re.compile(
    r"SCAN (json_each|wave|held|e|asked|named|asks|put|page|looked|owner|span|now|s|lanes|parked"
    r"|other|conditions|alerts|said|duties|counters"
    r"|dead_letters USING COVERING INDEX dead_letters_open|"
    # Stops where its LIMIT says.
    r"dead_letters USING INDEX dead_letters_by_time"
    r"|\(subquery-\d+\)|CONSTANT ROW|\d+ CONSTANT)"
)

SQL = {
    name: text
    for module in (*MODULES, *SCHEDULING, *COSTS, *TRIAGE, *FIGURES)
    for name, text in vars(module).items()
    if isinstance(text, str)
    and not name.startswith("_")  # a piece of others
    and re.match(r"\s*(SELECT|INSERT|UPDATE|DELETE|WITH)\b", text)
}


def plan_of(name: str) -> list[str]:
    highest = max((int(number) for number in re.findall(r"\?(\d+)", SQL[name])), default=0)
    plan = connect().execute(f"EXPLAIN QUERY PLAN {SQL[name]}", ["[]"] * highest).fetchall()
    return [row["detail"] for row in plan]


def test_the_statements_were_found() -> None:
    assert {"INSERT_JOB", "LEASE", "SETTLE_JOBS", "SELECT_KEY", "INSERT_INPUT"} <= SQL.keys()


@pytest.mark.parametrize("name", sorted(SQL))
def test_a_statement_scans_nothing(name: str) -> None:
    steps = plan_of(name)

    scans = [s for s in steps if s.startswith("SCAN") and not _HARMLESS.match(s)]
    assert not scans, steps


AT = "(last_failed_at>? AND last_failed_at<?)"
OF_AGE = "(last_failed_at>? AND (last_failed_at,id)<(?,?))"
OF_REDRIVE = "(redrive_id=? AND redriven_to<?)"
BEFORE = "((last_failed_at,id)<(?,?))"
FOUND_BY = {
    "PAGE_OF_OPEN": f"SEARCH dead_letters USING COVERING INDEX dead_letters_open {BEFORE}",
    "END_OF_OPEN": f"SEARCH dead_letters USING COVERING INDEX dead_letters_open {BEFORE}",
    "PAGE_OF_ALL": f"SEARCH dead_letters USING INDEX dead_letters_by_time {BEFORE}",
    "END_OF_ALL": f"SEARCH dead_letters USING COVERING INDEX dead_letters_by_time {BEFORE}",
    "PAGE_OF_EXPIRING": f"SEARCH dead_letters USING COVERING INDEX dead_letters_open {OF_AGE}",
    "END_OF_EXPIRING": f"SEARCH dead_letters USING COVERING INDEX dead_letters_open {OF_AGE}",
    "PAGE_OF_REDRIVE": f"SEARCH dead_letters USING INDEX dead_letters_redrive {OF_REDRIVE}",
    "END_OF_REDRIVE": f"SEARCH dead_letters USING COVERING INDEX dead_letters_redrive {OF_REDRIVE}",
    "GROUPS_OF_OPEN": "SCAN dead_letters USING COVERING INDEX dead_letters_open",
    "GROUPS_OF_ALL": "SCAN dead_letters USING INDEX dead_letters_by_time",
    "COUNT_OPEN": "SCAN dead_letters USING COVERING INDEX dead_letters_open",
    "COUNT_EXPIRING": f"SEARCH dead_letters USING INDEX dead_letters_open {AT}",
    "COUNT_GROWTH": "SEARCH dead_letters USING COVERING INDEX dead_letters_by_time",
    "SUM_ATTEMPTS": "SEARCH usage_days USING INDEX usage_days_by_day (day>?)",
    "SUM_TODAY": "SEARCH usage_days USING INDEX usage_days_by_day (day=?)",
    "SELECT_SPENDER": "SEARCH usage_days USING INDEX usage_days_by_day (day=?)",
    "SUM_SPANS": "SEARCH usage_days USING INDEX usage_days_by_day (day>?)",
    "LIVE_JOBS": "SEARCH jobs USING INDEX jobs_wake_at",
    "LIST_LIVE": "SEARCH jobs USING INDEX jobs_wake_at",
    "MANY_LIVE": "SEARCH jobs USING COVERING INDEX jobs_wake_at",
    "COUNT_LIVE": "SEARCH jobs USING INDEX jobs_wake_at",
    "COUNT_NEWEST_OF_ALL": "SEARCH jobs USING INDEX jobs_by_id",
    "COUNT_NEWEST_OF_A_TENANT": "SEARCH jobs USING PRIMARY KEY (tenant_id=?)",
    "SELECT_LAGS": "SEARCH jobs USING COVERING INDEX jobs_wake_at",
    "SELECT_POINTS": "SEARCH metrics_points USING PRIMARY KEY (step=? AND at>? AND at<?)",
    "SELECT_POINTS_NOW": "SEARCH p USING PRIMARY KEY (step=? AND at=?)",
    "DELETE_LETTERS": "SEARCH dead_letters USING COVERING INDEX dead_letters_resolved_at",
}


@pytest.mark.parametrize("name", sorted(FOUND_BY))
def test_what_many_rows_are_looked_through_for_is_found_by_its_index(name: str) -> None:
    assert any(step.startswith(FOUND_BY[name]) for step in plan_of(name)), plan_of(name)
