"""The one table of routes, and finding the row that a path names."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Final

from uketsuke.domain.api_key import Scope
from uketsuke.http.endpoints.alerts import list_alerts
from uketsuke.http.endpoints.audit import QUERY as AUDIT_QUERY
from uketsuke.http.endpoints.audit import list_audit
from uketsuke.http.endpoints.count_jobs import COUNT_QUERY, count_jobs
from uketsuke.http.endpoints.discard_letter import discard_letter
from uketsuke.http.endpoints.doctor import QUERY as DOCTOR_QUERY
from uketsuke.http.endpoints.doctor import get_doctor, repair_store
from uketsuke.http.endpoints.health import get_health, get_readiness
from uketsuke.http.endpoints.input import put_input
from uketsuke.http.endpoints.job import cancel_job, get_events, get_job, get_result
from uketsuke.http.endpoints.key import get_key
from uketsuke.http.endpoints.list_jobs import QUERY, list_jobs
from uketsuke.http.endpoints.metrics import (
    SERIES_QUERY,
    get_metrics,
    get_metrics_series,
    scrape_metrics,
)
from uketsuke.http.endpoints.openapi import get_openapi
from uketsuke.http.endpoints.preview_cron import QUERY as CRON_QUERY
from uketsuke.http.endpoints.preview_cron import preview_cron
from uketsuke.http.endpoints.redrive_letter import redrive_letter
from uketsuke.http.endpoints.redrives import LIST_QUERY as REDRIVES_QUERY
from uketsuke.http.endpoints.redrives import (
    get_redrive,
    list_redrives,
    stop_redrive,
    submit_redrive,
)
from uketsuke.http.endpoints.schedules import (
    LIST_QUERY,
    ONE_QUERY,
    delete_schedule,
    get_schedule,
    list_schedules,
    put_schedule_document,
)
from uketsuke.http.endpoints.submit_job import submit_job
from uketsuke.http.endpoints.triage import (
    GROUPS_QUERY,
    get_dead_letter,
    list_dead_letter_groups,
    list_dead_letters,
)
from uketsuke.http.endpoints.triage import LIST_QUERY as LETTERS_QUERY
from uketsuke.http.endpoints.trigger_schedule import trigger_schedule
from uketsuke.http.endpoints.usage import QUERY as USAGE_QUERY
from uketsuke.http.endpoints.usage import get_usage
from uketsuke.http.message import Response

Endpoint = Callable[..., Awaitable[Response]]

# Any one of them is enough. Operators look at jobs; the result's endpoint denies them content.
_READ: Final = frozenset({Scope.READ, Scope.OPERATE, Scope.ADMIN})
_WRITE: Final = frozenset({Scope.WRITE})
_OPERATE: Final = frozenset({Scope.OPERATE, Scope.ADMIN})
_ANY: Final = frozenset(Scope)
_OPEN: Final[frozenset[Scope]] = frozenset()
_NONE: Final[frozenset[str]] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """What answers a method on a path; without scopes it is open to everybody.

    ``endpoint`` takes the request, the context and the template's names as keywords. ``query``
    has the names of the parameters that it understands; others are refused.
    """

    method: str
    template: str
    scopes: frozenset[Scope]
    endpoint: Endpoint
    query: frozenset[str] = frozenset()


ROUTES: Final = tuple(
    Route(method=method, template=template, scopes=scopes, endpoint=endpoint, query=query)
    for method, template, scopes, endpoint, query in (
        ("GET", "/v1/key", _ANY, get_key, _NONE),
        ("GET", "/v1/jobs", _READ, list_jobs, QUERY),
        ("POST", "/v1/jobs", _WRITE, submit_job, _NONE),
        ("GET", "/v1/jobs/counts", _READ, count_jobs, COUNT_QUERY),  # before the ids
        ("GET", "/v1/jobs/{job_id}", _READ, get_job, _NONE),
        ("GET", "/v1/jobs/{job_id}/result", _READ, get_result, _NONE),
        ("POST", "/v1/jobs/{job_id}/cancel", _WRITE, cancel_job, _NONE),
        ("GET", "/v1/jobs/{job_id}/events", _READ, get_events, _NONE),
        ("PUT", "/v1/inputs", _WRITE, put_input, _NONE),
        ("GET", "/v1/schedules", _READ, list_schedules, LIST_QUERY),
        ("GET", "/v1/schedules/{name}", _READ, get_schedule, ONE_QUERY),
        ("PUT", "/v1/schedules/{name}", _WRITE, put_schedule_document, _NONE),
        ("DELETE", "/v1/schedules/{name}", _WRITE, delete_schedule, _NONE),
        ("POST", "/v1/schedules/{name}/trigger", _WRITE, trigger_schedule, _NONE),
        ("GET", "/v1/cron", _READ, preview_cron, CRON_QUERY),
        ("GET", "/v1/usage", _READ, get_usage, USAGE_QUERY),
        ("GET", "/v1/dead-letters", _OPERATE, list_dead_letters, LETTERS_QUERY),
        ("GET", "/v1/dead-letters/groups", _OPERATE, list_dead_letter_groups, GROUPS_QUERY),
        ("GET", "/v1/dead-letters/{letter_id}", _OPERATE, get_dead_letter, _NONE),
        ("GET", "/v1/metrics", _OPERATE, get_metrics, _NONE),
        ("GET", "/v1/metrics/series", _OPERATE, get_metrics_series, SERIES_QUERY),
        ("GET", "/metrics", _OPERATE, scrape_metrics, _NONE),
        ("GET", "/v1/alerts", _OPERATE, list_alerts, _NONE),
        ("POST", "/v1/dead-letters/{letter_id}/redrive", _OPERATE, redrive_letter, _NONE),
        ("POST", "/v1/dead-letters/{letter_id}/discard", _OPERATE, discard_letter, _NONE),
        ("GET", "/v1/audit", _READ, list_audit, AUDIT_QUERY),
        ("POST", "/v1/redrives", _OPERATE, submit_redrive, _NONE),
        ("GET", "/v1/redrives", _OPERATE, list_redrives, REDRIVES_QUERY),
        ("GET", "/v1/redrives/{redrive_id}", _OPERATE, get_redrive, _NONE),
        ("POST", "/v1/redrives/{redrive_id}/stop", _OPERATE, stop_redrive, _NONE),
        ("GET", "/v1/doctor", _OPERATE, get_doctor, DOCTOR_QUERY),
        ("POST", "/v1/doctor/repair", _OPERATE, repair_store, _NONE),
        ("GET", "/openapi.json", _OPEN, get_openapi, _NONE),
        ("GET", "/healthz", _OPEN, get_health, _NONE),
        ("GET", "/readyz", _OPEN, get_readiness, _NONE),
    )
)


# Routes of the contract that are not built yet, on paths that have others: they are not there
# (404), which is not the same as a method that will never be (405).
LATER: Final = frozenset({("DELETE", "/v1/jobs/{job_id}"), ("POST", "/v1/jobs/batch")})


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A path that exists: its template, the values in it, and its routes by method."""

    template: str
    values: Mapping[str, str]
    routes: Mapping[str, Route]

    @property
    def allowed(self) -> str:
        """The value of ``Allow``; whatever answers GET answers HEAD."""
        heads = {"HEAD"} if "GET" in self.routes else set()
        return ", ".join(sorted(self.routes.keys() | heads))

    def route_for(self, method: str) -> Route | None:
        return self.routes.get("GET" if method == "HEAD" else method)


def find_place(path: str) -> Place | None:
    """Find the path's place. Paths are taken literally: no decoding, no trailing slash."""
    segments = path.split("/")
    for template, routes in _PLACES.items():
        values = _values(template.split("/"), segments)
        if values is not None:
            return Place(template=template, values=values, routes=routes)
    return None


def _values(wanted: list[str], segments: list[str]) -> dict[str, str] | None:
    if len(wanted) != len(segments):
        return None
    values = {}
    for name, segment in zip(wanted, segments, strict=True):
        if name.startswith("{") and segment:
            values[name.strip("{}")] = segment
        elif name != segment:
            return None
    return values


def _places() -> dict[str, dict[str, Route]]:
    places: dict[str, dict[str, Route]] = {}
    for route in ROUTES:
        places.setdefault(route.template, {})[route.method] = route
    return places


_PLACES: Final = _places()
