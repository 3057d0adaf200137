"""A tenant's schedules, made due by hand."""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from tests.acceptance.runs import BRIEF, Desk
from uketsuke.domain.schedule import ScheduleKey
from uketsuke.services.occurrences import job_id_of

NEVER = "0 0 1 1 *"  # none of its own accord: each test says itself when it is due


@dataclass(frozen=True, kw_only=True)
class Clock:
    """A tenant's schedules, made due by hand."""

    desk: Desk
    tenant: str
    names: dict[str, str] = field(default_factory=dict)  # of the schedule that started a job

    def due(self, faults: Mapping[str, dict[str, Any]] | None = None, **members: Any) -> str:
        """Put a schedule that is due, order faults for its job's steps, and return the job's id."""
        name = f"s-{secrets.token_hex(4)}"
        asked = {"cron": NEVER, "kind": "summarize", "input": {"text": BRIEF}, **members}
        answer = self.desk.api.put(f"/v1/schedules/{name}", json=asked)
        assert answer.status_code == 201, answer.text
        return self.due_again(name, faults)

    def due_again(self, name: str, faults: Mapping[str, dict[str, Any]] | None = None) -> str:
        at = datetime.fromtimestamp(int(time.time()) - 1, UTC)
        d1 = self.desk.stack.d1
        (row,) = d1("SELECT generation FROM schedules WHERE name = ?1", name)
        job = job_id_of(ScheduleKey(self.tenant, name), generation=row["generation"], at=at)
        self.names[job] = name
        for step, fault in (faults or {}).items():
            match = {"match": {"idempotency-key": f"{job}.{step}"}}
            self.desk.stack.order(**{"count": 1, "route": "chat", **match, **fault})
        # Last: the cron's own minute may come at any time.
        at_ms = int(at.timestamp() * 1000)
        d1("UPDATE schedules SET next_at = ?2 WHERE name = ?1", name, at_ms)
        return job

    def occurrence(self, job: str) -> tuple[str, str | None]:
        sql = "SELECT state, reason FROM occurrences WHERE job_id = ?1"
        (row,) = self.desk.stack.d1(sql, job)
        return row["state"], row["reason"]
