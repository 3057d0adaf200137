"""Checks of what keeps the rows sound by itself: triggers and indexes, and the alerts' own rows."""

from __future__ import annotations

import json
from typing import Final

from uketsuke.adapters.sql.doctor_check import SLACK, STRETCH, Check, Repair, by, told
from uketsuke.adapters.sql.terms import NOW

# All that the migrations make, by name: a test holds them to this. Whoever rebuilds a table loses
# its triggers and indexes without a word, and with them sums, uniqueness and the audit's safety.
GUARDS: Final = (
    "api_keys", "alerts", "attempts", "attempts_usage_days", "audit", "audit_is_not_changed",
    "audit_is_not_deleted", "audit_is_not_replaced", "audit_of_tenant", "checkpoints", "conditions",
    "counters", "dead_letters", "dead_letters_by_time", "dead_letters_open", "dead_letters_redrive",
    "dead_letters_resolved_at", "doomed_instances", "duties", "ends_days", "inputs",
    "inputs_expires_at", "jobs", "jobs_by_id", "jobs_ends_days", "jobs_live_run_key", "jobs_pinned",
    "jobs_reserved", "jobs_wake_at", "lanes", "metrics_points", "metrics_state", "occurrences",
    "occurrences_recorded_at", "redrive_skips", "redrives", "redrives_idempotency_key",
    "redrives_looked_at", "schedules", "schedules_next_at", "submissions", "tenants", "usage_days",
    "usage_days_by_day",
)  # fmt: skip

# An alert that was looked at in the future takes no look of before, so it stands still until then.
_STRAY: Final = f"""(looked_at > {NOW} + {{slack}}
    OR (state <> 'ok'
        AND NOT EXISTS (SELECT 1 FROM conditions AS c WHERE c.name = {{row}}.name)))"""
_FORGET_ALERT: Final = f"""
DELETE FROM alerts
 WHERE name IN (SELECT value ->> 0 FROM json_each(?1))
   AND {_STRAY.format(row="alerts", slack=told("slack", parameter=2))}
"""

GUARD_CHECKS: Final = (
    Check(
        name="guard_missing",
        holds="The tables, indexes and triggers of the migrations are there.",
        offenders=f"""
SELECT g.value AS id, json_array(g.value) AS key
  FROM json_each('{json.dumps(GUARDS)}') AS g
 WHERE g.value NOT IN (SELECT name FROM sqlite_master)
 LIMIT {STRETCH}""",
        by_hand="Run the statement that makes it anew, from migrations/. Then look at all other "
        "checks: what it kept sound, nothing has kept since it went.",
    ),
    Check(
        name="alert_stray",
        holds="An alert that is not ok is of a condition that is there; none was looked at in the "
        "future.",
        looked_at="100 alerts",
        offenders=f"""
SELECT a.name AS id, json_array(a.name) AS key
  FROM (SELECT name, state, looked_at FROM alerts LIMIT 100) AS a
 WHERE {_STRAY.format(row="a", slack=SLACK)}""",
        repair=Repair(
            does="Forgets the alert: it fires anew if its condition holds.", fix=by(_FORGET_ALERT)
        ),
    ),
)
