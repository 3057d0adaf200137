"""What many statements have in common: the database's clock, a job's columns, a wave."""

from __future__ import annotations

from typing import Final

# unixepoch('subsec') needs SQLite 3.42; tests control this clock by replacing julianday().
NOW: Final = "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)"

# A job's columns, as rows.to_job reads them.
JOB: Final = (
    "tenant_id, id, kind, engine, origin, state, run_key, params, metadata, input, traceparent, "
    "max_attempts, attempts, attempt_no, call_epoch, created_at, due_at, deadline_at, started_at, "
    "leased_at, finished_at, expires_at, cancel_requested_at, erased_at, progress_done, "
    "progress_total, error_class, error_code, usage, attempts_cost_micros, result, redriven_from, "
    "redriven_to, redrives, max_cost_micros, expected, charged_micros, unknown_costs"
)
J_JOB: Final = ", ".join(f"j.{column}" for column in JOB.split(", "))

# A row that is older than a run may become, or whose time is over with nobody to notice, has
# outlived its limit: it must not stand in the way of a new start. A lease of grace is what stopping
# may take; its parameter is to be filled in.
STALE: Final = f"(state = 'running' AND leased_at + run_limit_ms + {{lease}} <= {NOW})"
OVERDUE: Final = (
    f"(deadline_at <= {NOW} AND (state IN ('accepted', 'retrying')"
    f" OR (state = 'running' AND leased_until <= {NOW})))"
)

# A job's result that is there, and will be for whoever pins it now. No purge takes what this is
# true of: what has expired cannot be named any more.
KEPT_RESULT: Final = f"state = 'succeeded' AND erased_at IS NULL AND expires_at > {NOW}"

# The jobs that a JSON array of [tenant, id] pairs names; keeps the planner on the primary key.
IN_WAVE: Final = "(tenant_id, id) IN (SELECT value ->> 0, value ->> 1 FROM json_each(?1))"
