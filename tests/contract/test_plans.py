"""No statement on a hot path scans a table: what SQLite plans is read, not hoped."""

from __future__ import annotations

import re

import pytest

from tests.support.sqlite import connect
from uketsuke.adapters.sql import (
    accept_statements,
    audit,
    bulk_statements,
    cost_statements,
    costs,
    dead_letters,
    expiry,
    inputs,
    keys,
    lane_statements,
    listing,
    occurrences,
    purging,
    redrive_statements,
    schedules,
    statements,
    sweeping,
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
    dead_letters,
    redrive_statements,
    audit,
    bulk_statements,
)
COSTS = (cost_statements, costs)
SCHEDULING = (schedules, occurrences, lane_statements)

# What may be scanned: the wave that came in as JSON, a bounded stretch, what has one row, and the
# lanes that are parked.
_HARMLESS = re.compile(
    r"SCAN (json_each|wave|held|e|asked|named|asks|put|page|owner|lanes|parked|other"
    r"|\(subquery-\d+\)|CONSTANT ROW|\d+ CONSTANT)"
)

SQL = {
    name: text
    for module in (*MODULES, *SCHEDULING, *COSTS)
    for name, text in vars(module).items()
    if isinstance(text, str)
    and not name.startswith("_")  # a piece of others
    and re.match(r"\s*(SELECT|INSERT|UPDATE|DELETE|WITH)\b", text)
}


def test_the_statements_were_found() -> None:
    assert {"INSERT_JOB", "LEASE", "SETTLE_JOBS", "SELECT_KEY", "INSERT_INPUT"} <= SQL.keys()


@pytest.mark.parametrize("name", sorted(SQL))
def test_a_statement_scans_nothing(name: str) -> None:
    highest = max((int(number) for number in re.findall(r"\?(\d+)", SQL[name])), default=0)
    connection = connect()

    plan = connection.execute(f"EXPLAIN QUERY PLAN {SQL[name]}", ["[]"] * highest).fetchall()

    steps = [row["detail"] for row in plan]
    scans = [s for s in steps if s.startswith("SCAN") and not _HARMLESS.match(s)]
    assert not scans, steps
