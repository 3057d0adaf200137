"""The HTTP layer as a whole: routes, methods, what every answer carries, and what is logged."""

from __future__ import annotations

import asyncio
import json
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.http.factories import KINDS, TENANT, an_id
from tests.unit.http.fakes import BytesBody, out_of_reach
from tests.unit.http.world import Answer, World, assert_problem
from uketsuke.domain.api_key import Caller, Scope
from uketsuke.http.app import respond
from uketsuke.http.context import Context
from uketsuke.http.endpoints.discard_letter import discard_letter
from uketsuke.http.endpoints.doctor import repair_store
from uketsuke.http.endpoints.job import cancel_job
from uketsuke.http.endpoints.redrive_letter import redrive_letter
from uketsuke.http.endpoints.redrives import submit_redrive
from uketsuke.http.endpoints.schedules import put_schedule_document
from uketsuke.http.endpoints.submit_job import submit_job
from uketsuke.http.message import Request
from uketsuke.http.problem import MEANINGS, Refused
from uketsuke.http.routes import ROUTES, Endpoint, Route, find_place
from uketsuke.settings import Settings

JOB_PATH = f"/v1/jobs/{an_id('job', 1)}"
OPERATING = (
    "dead_letters", "triage", "conditions", "audit", "redrives", "doctor", "alerts", "metrics",
)  # fmt: skip
_METHODS = (
    "find", "accept", "page", "put_stream", "put", "delete", "usage", "groups", "kept", "start",
    "standing", "counts", "stop", "ask", "repairable", "look",
)  # fmt: skip
CLOSED = [route for route in ROUTES if route.scopes]
PARTED = [route for route in CLOSED if route.scopes != set(Scope)]  # not open to every key
_OF_TENANTS = {"jobs:read", "jobs:write"}
FOR_TENANTS_ONLY = [route for route in CLOSED if "operate" not in route.scopes]


def path_of(route: Route) -> str:
    path = route.template.replace("{job_id}", an_id("job", 1)).replace("{name}", "nightly")
    path = path.replace("{redrive_id}", an_id("rd", 1))
    return path.replace("{letter_id}", an_id("dl", 1))


def fitting_key(world: World, route: Route) -> str:
    """Make a key that the route takes: a tenant's, if it takes those."""
    if route.scopes & _OF_TENANTS:
        return world.add_key(8, tenant_id=TENANT, scopes="jobs:read jobs:write")
    return world.add_key(8, tenant_id=None, scopes="operate")


def fitting_document(route: Route) -> dict[str, object] | None:
    """Return a body that the route takes; None if it needs none."""
    work = {"kind": "summarize", "input": {"text": "a"}}
    bodies: dict[Endpoint, dict[str, object]] = {
        cancel_job: {},
        redrive_letter: {"reason": "because"},
        discard_letter: {"reason": "because"},
        submit_redrive: {"filter": {}, "reason": "because"},
        repair_store: {"check": "job_past_its_end", "reason": "because"},
        submit_job: {**work},
        put_schedule_document: {**work, "cron": "0 7 * * *"},
    }
    return bodies.get(route.endpoint)


def name_of(route: Route) -> str:
    return f"{route.method} {route.template}"


def send(world: World, route: Route, **given: Any) -> Answer:
    return world.send(route.method, path_of(route), **given)


def logged(output: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in output.splitlines()]


# Every route


@pytest.mark.parametrize("route", CLOSED, ids=name_of)
def test_without_a_key_nothing_is_told_or_read(world: World, route: Route) -> None:
    answer = send(world, route, content=b"{}")

    assert_problem(answer, 401, "unauthenticated")
    assert answer.headers["www-authenticate"] == "Bearer"
    assert not world.body.taken


@pytest.mark.parametrize("route", PARTED, ids=name_of)
def test_a_key_without_the_scope_is_forbidden(world: World, route: Route) -> None:
    other = "jobs:write" if "jobs:read" in route.scopes else "jobs:read"
    key = world.add_key(8, tenant_id=TENANT, scopes=other)

    answer = send(world, route, key=key, content=b"{}")

    assert_problem(answer, 403, "forbidden")
    assert sorted(route.scopes)[0] in answer.document["detail"]


@pytest.mark.parametrize("route", FOR_TENANTS_ONLY, ids=name_of)
def test_what_writes_is_forbidden_to_those_of_no_tenant(
    world: World, operator_key: str, route: Route
) -> None:
    assert_problem(send(world, route, key=operator_key), 403, "forbidden")


@pytest.mark.parametrize("route", CLOSED, ids=name_of)
def test_an_unknown_query_parameter_is_refused(world: World, route: Route) -> None:
    key = fitting_key(world, route)
    answer = world.send(route.method, path_of(route) + "?wait=5&since=", key=key)

    assert_problem(answer, 400, "invalid_request")
    assert answer.faults == [("", "unknown_member")] * 2
    assert '"wait"' in answer.document["errors"][0]["detail"]


@pytest.mark.parametrize("route", ROUTES, ids=name_of)
@pytest.mark.parametrize("method", ["OPTIONS", "PATCH", "TRACE", "get", "\x00"])
def test_another_method_is_told_which_ones_there_are(
    world: World, route: Route, method: str
) -> None:
    answer = world.send(method, path_of(route))

    assert_problem(answer, 405, "method_not_allowed")
    assert route.method in answer.headers["allow"]
    place = find_place(path_of(route))
    assert place
    assert ("HEAD" in answer.headers["allow"]) == ("GET" in place.routes)


@pytest.mark.parametrize("route", ROUTES, ids=name_of)
def test_a_mistake_of_ours_tells_nothing_and_is_noted(
    world: World,
    route: Route,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    async def slip(*_: object, **__: object) -> None:
        raise ZeroDivisionError("SELECT secret FROM api_keys")

    for place in ("jobs", "listing", "inputs", "blobs", "schedules", "costs", *OPERATING):
        for method in _METHODS:
            if hasattr(getattr(world, place), method):
                monkeypatch.setattr(getattr(world, place), method, slip)

    key, document = fitting_key(world, route), fitting_document(route)
    answer = send(world, route, key=key, document=document, headers={"content-length": "2"})

    if route.template in ("/v1/key", "/healthz", "/openapi.json"):  # they ask nobody
        assert answer.status == 200
        return
    if route.template == "/v1/cron":  # nor does this, and it wants to be asked something
        assert_problem(answer, 400, "invalid_request")
        return
    assert_problem(answer, 500, "internal")
    assert b"secret" not in answer.body
    noted, _ = logged(capsys.readouterr().out)
    assert noted["event"] == "unexpected_error"
    assert noted["error.type"] == "ZeroDivisionError"
    assert noted["error_at"].startswith(("http/", "services/"))
    assert noted["request_id"] == answer.headers["x-request-id"]
    assert "secret" not in json.dumps(noted)


# The table of errors: one request for each code


def bad_json(world: World, key: str) -> Answer:
    headers = {"content-type": "application/json"}
    return world.send("POST", "/v1/jobs", key=key, headers=headers, content=b"{")


def deep_json(world: World, key: str) -> Answer:
    headers = {"content-type": "application/json"}
    content = b'{"params":' + b"[" * 10_000 + b"]" * 10_000 + b"}"
    return world.send("POST", "/v1/jobs", key=key, headers=headers, content=content)


def too_large(world: World, key: str) -> Answer:
    headers = {"content-type": "application/json"}
    return world.send("POST", "/v1/jobs", key=key, headers=headers, content=b" " * 1_048_577)


def no_type(world: World, key: str) -> Answer:
    return world.send("POST", "/v1/jobs", key=key, content=b"{}")


def database_away(world: World, key: str) -> Answer:
    world.jobs.broken = out_of_reach()
    return world.send("GET", JOB_PATH, key=key)


@pytest.mark.parametrize(
    ("ask", "status", "code"),
    [
        (bad_json, 400, "invalid_json"),
        (deep_json, 400, "invalid_json"),
        (too_large, 413, "too_large"),
        (no_type, 415, "unsupported_media_type"),
        (database_away, 503, "unavailable"),
    ],
)
def test_each_error_has_its_status_and_code(
    world: World, tenant_key: str, ask: Any, status: int, code: str
) -> None:
    answer = ask(world, tenant_key)

    assert_problem(answer, status, code)
    assert ("retry-after" in answer.headers) == (status == 503)


def test_the_codes_stand_for_the_statuses_of_the_contract() -> None:
    by_status: dict[int, set[str]] = {}
    for code, meaning in MEANINGS.items():
        by_status.setdefault(meaning.status, set()).add(code)

    assert by_status == {
        400: {"invalid_json", "invalid_request", "invalid_cursor"},
        401: {"unauthenticated"},
        403: {"forbidden", "content_denied"},
        404: {"not_found"},
        405: {"method_not_allowed"},
        406: {"not_acceptable"},
        409: {
            "run_in_progress", "not_finished", "job_failed", "job_canceled", "already_finished",
            "already_redriven", "already_resolved", "not_repairable",
        },
        410: {"expired", "erased"},
        411: {"length_required"},
        413: {"too_large"},
        415: {"unsupported_media_type"},
        422: {"idempotency_mismatch", "not_replayable", "input_gone"},
        500: {"internal"},
        503: {"unavailable"},
    }  # fmt: skip


# What every answer carries, and the log


def test_the_callers_request_id_comes_back(world: World) -> None:
    answer = world.send("GET", "/healthz", headers={"x-request-id": "mine-1"})

    assert answer.headers["x-request-id"] == "mine-1"


def test_each_answer_is_logged_once_by_its_route_and_not_its_path(
    world: World, tenant_key: str, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = world.send("GET", JOB_PATH, key=tenant_key)

    (line,) = logged(capsys.readouterr().out)
    assert line["event"] == "request_answered"
    assert (line["http.request.method"], line["http.route"]) == ("GET", "/v1/jobs/{job_id}")
    assert (line["http.response.status_code"], line["duration_ms"]) == (404, 0)
    assert line["started_at"] == line["ended_at"] == "2026-11-29T12:00:00.000Z"
    assert line["request_id"] == answer.headers["x-request-id"]
    assert (len(line["trace_id"]), len(line["span_id"])) == (32, 16)
    assert line["d1.calls"] == line["d1.rows_read"] == line["d1.rows_written"] == 0  # no D1 here
    assert "parent_id" not in line


def test_the_log_repeats_nothing_that_a_stranger_made_up(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    headers = {"x-request-id": "secret secret", "traceparent": "secret", "user-agent": "secret"}
    world.send("SECRET", "/secret?secret=secret", headers=headers, key="secret", content=b"secret")

    output = capsys.readouterr().out
    (line,) = logged(output)
    assert (line["http.request.method"], line.get("http.route")) == ("_OTHER", None)
    assert "secret" not in output.lower()


def test_a_request_is_logged_as_a_span_within_the_callers(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    trace, above = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
    world.send("GET", "/healthz", headers={"traceparent": f"00-{trace}-{above}-01"})

    (line,) = logged(capsys.readouterr().out)
    assert (line["trace_id"], line["parent_id"]) == (trace, above)
    assert line["span_id"] != above


def test_a_context_of_no_tenant_gives_none() -> None:
    operator = Caller(key_id="o", tenant_id=None, scopes=frozenset({"operate"}))
    world = World(kinds=KINDS)
    context = Context(
        caller=operator, ports=world.ports, kinds=KINDS, request_id="r", traceparent=""
    )

    with pytest.raises(Refused):
        _ = context.tenant_id


@given(
    method=st.sampled_from(["GET", "HEAD", "POST", "PUT"]) | st.text(max_size=5),
    path=st.sampled_from([path_of(route) for route in ROUTES]) | st.text(alphabet="/v1jobs{}%.x"),
    query=st.sampled_from(["", "?a=b", "?&&=", "?a=1&a=2"]),
    headers=st.dictionaries(
        st.sampled_from(["content-type", "content-length", "if-none-match", "idempotency-key"]),
        st.sampled_from(["application/json", "3", "*", '"k"']) | st.text(max_size=10),
    ),
    content=st.sampled_from([b"{}", b"[]", b'{"kind":"summarize","input":{"text":"a"}}'])
    | st.binary(max_size=20),
)
def test_every_request_is_answered(
    method: str, path: str, query: str, headers: dict[str, str], content: bytes
) -> None:
    world = World(kinds=KINDS)
    key = world.add_key(1, tenant_id=TENANT, scopes="jobs:read jobs:write")

    answer = world.send(method, path + query, key=key, headers=headers, content=content)

    assert answer.status in {200, 201, 202, 304, 400, 403, 404, 405, 411, 413, 415}
    assert answer.headers["x-request-id"]
    if answer.status >= 400 and method != "HEAD":
        assert_problem(answer, answer.status, answer.code)


def test_a_request_that_is_given_up_is_not_answered_as_an_error(world: World) -> None:
    world.jobs.hangs = True
    world.settings = Settings(intake_database_timeout=timedelta(days=1))

    async def give_up() -> None:
        request = Request(method="GET", path="/readyz", headers={}, body=BytesBody(b""))
        task = asyncio.create_task(respond(request, app=world.app, ports=world.ports))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(give_up())


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("DELETE", "/v1/jobs/job_00000000000000000000000000"),
        ("POST", "/v1/jobs/batch"),
    ],
)
def test_a_route_that_is_not_built_yet_is_not_there(world: World, method: str, path: str) -> None:
    answer = world.send(method, path)

    assert_problem(answer, 404, "not_found")
