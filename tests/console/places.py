"""Every page of the console, with something on it."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote

from tests.console.furnished import Furnished

OPERATOR = "operator_key"


@dataclass(frozen=True, kw_only=True)
class Place:
    """A page, by its pattern in ``pages.js``; ``key`` is a seeded key or one of our own."""

    name: str
    pattern: str
    address: str
    key: str


def places(there: Furnished) -> list[Place]:
    """Return all of them: a tenant's first, then an operator's."""
    mine, tenant = there.key, quote(there.tenant)
    return [
        _place("submit", "submit", mine),
        _place("jobs-mine", "jobs", mine),
        *(_job(kind, job, mine) for kind, job in there.jobs.items()),
        _place("schedules", "schedules", mine),
        _place("schedule", "schedules/:name", mine, quote(there.schedule)),
        _place("schedule-new", "schedules/-", mine),
        _place("schedule-edit", "schedules/:name/edit", mine, f"{quote(there.schedule)}/edit"),
        _place("usage-mine", "usage", mine),
        _place("audit-mine", "audit", mine),
        _place("overview", "overview", OPERATOR),
        _place("jobs", "jobs", OPERATOR, query=f"tenant={tenant}"),
        _job("hidden", there.jobs["summarize"], OPERATOR),
        _place("dead-letters", "dead-letters", OPERATOR, query=f"tenant={tenant}"),
        _place("dead-letter-list", "dead-letters/list", OPERATOR, query=f"tenant={tenant}"),
        _place("dead-letter", "dead-letters/:id", OPERATOR, there.letter),
        _place("discarded", "dead-letters/:id", OPERATOR, there.discarded),
        _place("redrives", "redrives", OPERATOR),
        _place("new-redrive", "redrives/new", OPERATOR, query=f"tenant={tenant}"),
        _place("redrive", "redrives/:id", OPERATOR, there.redrive),
        _place("usage", "usage", OPERATOR),
        _place("audit", "audit", OPERATOR, query=f"tenant={tenant}"),
        _place("alerts", "alerts", OPERATOR),
        _place("doctor", "doctor", OPERATOR),
    ]


def _job(name: str, job: str, key: str) -> Place:
    return _place(f"job-{name}", "jobs/:id", key, job)


def _place(name: str, pattern: str, key: str, value: str = "", *, query: str = "") -> Place:
    path = f"{pattern.partition(':')[0]}{value}"
    address = f"#/{path}?{query}" if query else f"#/{path}"
    return Place(name=name, pattern=pattern, address=address, key=key)
