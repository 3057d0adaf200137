"""What the figures over time should be: by brute force, from the rows of all jobs and attempts."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from uketsuke.domain.tally import BOUNDS_MS, Counts

JOBS = "SELECT * FROM jobs"
ATTEMPTS = (
    "SELECT a.*, j.kind FROM attempts AS a"
    " JOIN jobs AS j ON j.tenant_id = a.tenant_id AND j.id = a.job_id"
)


def counted(
    jobs: Iterable[Mapping[str, Any]], attempts: Iterable[Mapping[str, Any]]
) -> dict[str, dict[str, int]]:
    """Return each kind's counts, but for how long attempts waited: that no row tells any more."""
    kinds: dict[str, Counter[str]] = defaultdict(Counter)
    for job in jobs:
        counts = kinds[job["kind"]]
        counts["accepted"] += 1
        if job["state"] == "failed":
            counts[f"failed.{job['error_class']}"] += 1
        elif job["state"] in ("succeeded", "canceled"):
            counts[job["state"]] += 1
    for attempt in attempts:
        kinds[attempt["kind"]] += _of_attempt(attempt)
    return {kind: {name: n for name, n in counts.items() if n} for kind, counts in kinds.items()}


def without_waits(counts: Counts) -> dict[str, int]:
    """Leave out what ``counted`` cannot tell."""
    waits = {f"q{bound}" for bound in BOUNDS_MS} | {"waited_ms", "waiting_ms"}
    return {name: value for name, value in counts.items() if value and name not in waits}


def _of_attempt(attempt: Mapping[str, Any]) -> Counter[str]:
    used = json.loads(attempt["usage"] or "{}")
    cost, failed = used.get("cost_micros"), attempt["outcome"] in ("failed", "lost")
    ran = int(attempt["ended_at"] - attempt["started_at"])
    bound = next(bound for bound in BOUNDS_MS if ran <= bound)
    return Counter(
        {
            "attempts": 1,
            "failed_attempts": failed,
            "retried": attempt["outcome"] == "failed" and attempt["state"] == "retrying",
            "cost_micros": cost or 0,
            "failed_cost_micros": (cost or 0) * failed,
            "unknown_costs": cost is None or bool(used.get("unknown_calls")),
            "ran_ms": ran,
            f"r{bound}": 1,
        }
    )
