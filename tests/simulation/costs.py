"""What was charged, held against what was paid: by brute force, over all attempts of a history."""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime
from typing import Any, Final

from tests.simulation.trace import name_of
from tests.simulation.world import World
from uketsuke.domain.job import JobKey

_ATTEMPTS: Final = (
    "SELECT a.tenant_id, a.job_id, j.kind, a.outcome, a.ended_at, a.usage FROM attempts AS a"
    " JOIN jobs AS j ON j.tenant_id = a.tenant_id AND j.id = a.job_id"
)
_FIGURES: Final = ("input_tokens", "output_tokens", "cost_micros", "charged_micros")
_KEY: Final = ("tenant_id", "day", "kind", "provider", "model")
_SUMMED: Final = ("attempts", "failed_attempts", "failed_cost_micros", "unknown", *_FIGURES)


def judge_costs(world: World) -> None:
    """Hold the days' sums, the jobs' sums and the provider's calls against the attempts."""
    _judge_days(world)
    _judge_jobs(world)


def _judge_days(world: World) -> None:
    """Each attempt is in its day once, whoever wrote its row and however often they tried."""
    expected: Counter[tuple[str, ...]] = Counter()
    for row in world.ledger.connection.execute(_ATTEMPTS):
        used: dict[str, Any] = json.loads(row["usage"] or "{}")
        day = datetime.fromtimestamp(row["ended_at"] / 1000, UTC).date().isoformat()
        key = (
            row["tenant_id"], day, row["kind"], used.get("provider") or "",
            used.get("asked_model") or "",
        )  # fmt: skip
        failed = row["outcome"] in ("failed", "lost")
        cost = used.get("cost_micros")
        expected[*key, "attempts"] += 1
        expected[*key, "failed_attempts"] += failed
        expected[*key, "failed_cost_micros"] += failed * (cost or 0)
        expected[*key, "unknown"] += cost is None or bool(used.get("unknown_calls"))
        for name in _FIGURES:
            expected[*key, name] += used.get(name) or 0
    found: Counter[tuple[str, ...]] = Counter()
    for row in world.ledger.connection.execute("SELECT * FROM usage_days"):
        for name in _SUMMED:
            found[*(row[part] for part in _KEY), name] += row[name]
    wrong = {key for key in expected | found if expected[key] != found[key]}
    world.trace.require(not wrong, "usage-days-add-up", str(sorted(wrong)))


def _judge_jobs(world: World) -> None:
    charged: Counter[JobKey] = Counter()
    known: Counter[JobKey] = Counter()
    for row in world.ledger.connection.execute(_ATTEMPTS):
        used = json.loads(row["usage"] or "{}")
        key = JobKey(row["tenant_id"], row["job_id"])
        charged[key] += used.get("charged_micros") or 0
        known[key] += used.get("cost_micros") or 0
    paid = Counter(call.job_id for call in world.provider.calls if call.paid)
    for row in world.ledger.connection.execute("SELECT * FROM jobs"):
        key, label = JobKey(row["tenant_id"], row["id"]), name_of(row["id"])
        told = f"{label}: {row['charged_micros']} in its row, {charged[key]} in its attempts"
        same = row["charged_micros"] == charged[key]
        world.trace.require(same, "a-job-is-charged-as-its-attempts-are", told)
        price = 2 * paid[row["id"]]  # a call is one token in and one out, of a micro-dollar each
        told = f"{label}: {known[key]} of {price}"
        world.trace.require(known[key] <= price, "no-cost-counts-twice", told)
        bound = world.profile.settings.daily_budget_micros is not None
        told = f"{label}: {charged[key]} for {price}"
        world.trace.require(
            not bound or charged[key] >= price, "what-was-paid-counts-for-the-budget", told
        )
        if bound and charged[key] > known[key]:
            world.trace.count("charged in doubt")
