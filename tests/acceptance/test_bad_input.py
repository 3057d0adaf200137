"""Bad input: each a clear problem that points at what is wrong, and nothing is stored."""

from __future__ import annotations

import json
import socket
from typing import Any

import httpx
import pytest

from tests.support.running import Stack

GOOD = {"kind": "summarize", "input": {"text": "Some text."}}
JSON = {"content-type": "application/json"}


@pytest.fixture
def api(stack: Stack) -> Any:
    """A client of a tenant that must have nothing stored at the end."""
    key = stack.tenant()
    with stack.api(key) as client:
        yield client
    for table in ("jobs", "submissions", "inputs"):
        sql = f"SELECT count(*) AS rows FROM {table} WHERE tenant_id = ?1"  # noqa: S608
        assert stack.d1(sql, stack.tenant_of(key))[0]["rows"] == 0


def problem(answer: httpx.Response, status: int, code: str) -> dict[str, Any]:
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.headers["x-request-id"]
    document: dict[str, Any] = answer.json()
    assert (document["status"], document["code"]) == (status, code)
    assert document["detail"]
    return document


def faults(answer: httpx.Response) -> set[tuple[str, str]]:
    document = problem(answer, 400, "invalid_request")
    assert all(fault["detail"] for fault in document["errors"])
    return {(fault["pointer"], fault["code"]) for fault in document["errors"]}


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b'{"kind": "summarize", "kind": "embed"}',
        b'{"a": NaN}',
        b"\xff\xfe",
        b"[" * 10_000 + b"]" * 10_000,
        b'{"a": ' * 10_000 + b"1" + b"}" * 10_000,
    ],
    ids=["nothing", "cut off", "said twice", "NaN", "not UTF-8", "deep lists", "deep objects"],
)
def test_what_is_no_json_is_said_so(api: httpx.Client, body: bytes) -> None:
    problem(api.post("/v1/jobs", content=body, headers=JSON), 400, "invalid_json")


def test_every_fault_is_told_at_once(api: httpx.Client) -> None:
    wrong = {
        "kind": "summarize",
        "input": {"text": 7},
        "params": {"max_words": 9, "style": "loud", "extra": 1},
        "max_attempts": "5",
        "deadline_seconds": 0,
        "metadata": {"a": 1},
        "surprise": True,
    }

    assert faults(api.post("/v1/jobs", json=wrong)) == {
        ("/input/text", "wrong_type"),
        ("/params/max_words", "out_of_range"),
        ("/params/style", "bad_value"),
        ("/params/extra", "unknown_member"),
        ("/max_attempts", "wrong_type"),
        ("/deadline_seconds", "out_of_range"),
        ("/metadata/a", "wrong_type"),
        ("/surprise", "unknown_member"),
    }


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"kind": "translate"}, ("/kind", "unknown_kind")),
        ({"input": {"text": ""}}, ("/input/text", "empty")),
        ({"input": {"text": " \n\t"}}, ("/input/text", "empty")),
        ({"input": {"text": "x" * 524_289}}, ("/input/text", "too_long")),
        ({"input": {"text": "あ" * 174_763}}, ("/input/text", "too_long")),
        ({"input": {"text": "a\0b"}}, ("/input/text", "bad_value")),
        ({"input": {"ref": "in_" + "0" * 26}}, ("/input/ref", "input_not_found")),
        ({"input": {}}, ("/input", "missing")),
        ({"priority": "high"}, ("/priority", "not_supported")),
        ({"callback_url": "https://example.org/"}, ("/callback_url", "not_supported")),
    ],
)
def test_a_fault_is_pointed_at(
    api: httpx.Client, change: dict[str, Any], fault: tuple[str, str]
) -> None:
    assert fault in faults(api.post("/v1/jobs", json={**GOOD, **change}))


def test_a_lone_surrogate_is_refused(api: httpx.Client) -> None:
    body = json.dumps({**GOOD, "input": {"text": "a\ud800b"}}).encode()

    assert faults(api.post("/v1/jobs", content=body, headers=JSON)) == {
        ("/input/text", "bad_value")
    }


def test_another_tenants_upload_is_not_there(stack: Stack, api: httpx.Client) -> None:
    with stack.api(stack.tenant()) as other:
        ref = other.put("/v1/inputs", content=b"text").json()["ref"]

    answer = api.post("/v1/jobs", json={**GOOD, "input": {"ref": ref}})

    assert faults(answer) == {("/input/ref", "input_not_found")}


@pytest.mark.parametrize("content_type", ["text/plain", "application/xml", ""])
def test_another_content_type_is_refused(api: httpx.Client, content_type: str) -> None:
    answer = api.post(
        "/v1/jobs", content=json.dumps(GOOD).encode(), headers={"content-type": content_type}
    )

    problem(answer, 415, "unsupported_media_type")


def test_a_body_over_the_limit_is_refused(api: httpx.Client) -> None:
    body = json.dumps({**GOOD, "metadata": {"a": "x" * 1_048_576}}).encode()

    problem(api.post("/v1/jobs", content=body, headers=JSON), 413, "too_large")


def test_an_upload_without_its_length_is_refused(api: httpx.Client) -> None:
    answer = api.put("/v1/inputs", content=iter([b"chunk"]))

    problem(answer, 411, "length_required")


def test_an_upload_over_the_limit_is_refused_by_its_length(stack: Stack, api: httpx.Client) -> None:
    url = httpx.URL(stack.ready["url"])
    head = (
        f"PUT /v1/inputs HTTP/1.1\r\nhost: {url.host}\r\n"
        f"authorization: {api.headers['authorization']}\r\ncontent-length: 100000001\r\n\r\n"
    )
    with socket.create_connection((url.host, url.port or 80), timeout=30) as connection:
        connection.sendall(head.encode())
        answer = connection.recv(65_536).decode()

    assert answer.startswith("HTTP/1.1 413")
    assert "x-request-id" in answer.lower()


@pytest.mark.parametrize(
    "authorization",
    [None, "Bearer", "Bearer x", "Basic dTpw", "Bearer uk_aaaaaaaaaaaa_" + "x" * 32],
)
def test_without_a_good_key_nothing_is_told(stack: Stack, authorization: str | None) -> None:
    headers = {} if authorization is None else {"authorization": authorization}
    with stack.api(None) as api:
        answer = api.post("/v1/jobs", json=GOOD, headers=headers)

    problem(answer, 401, "unauthenticated")
    assert answer.headers["www-authenticate"]


def test_another_tenants_job_is_not_there(stack: Stack) -> None:
    with stack.api(stack.tenant()) as owner, stack.api(stack.tenant()) as other:
        job = owner.post("/v1/jobs", json=GOOD).json()

        for path in ("", "/result", "/events"):
            problem(other.get(f"/v1/jobs/{job['id']}{path}"), 404, "not_found")
        problem(other.post(f"/v1/jobs/{job['id']}/cancel"), 404, "not_found")


def test_an_operator_sees_a_job_but_not_its_content(stack: Stack) -> None:
    key = stack.tenant()
    with stack.api(key) as owner, stack.api("operator_key") as operator:
        job = owner.post("/v1/jobs", json={**GOOD, "metadata": {"name": "canary"}}).json()

        seen = operator.get(f"/v1/jobs/{job['id']}")
        assert seen.json()["tenant_id"] == stack.tenant_of(key)
        assert "canary" not in seen.text
        problem(operator.get(f"/v1/jobs/{job['id']}/result"), 403, "content_denied")
        problem(operator.post("/v1/jobs", json=GOOD), 403, "forbidden")
        problem(operator.put("/v1/inputs", content=b"text"), 403, "forbidden")


def test_an_unknown_route_and_a_wrong_method_are_told_apart(api: httpx.Client) -> None:
    problem(api.get("/v1/nothing"), 404, "not_found")
    answer = api.delete("/v1/jobs")
    problem(answer, 405, "method_not_allowed")
    assert "POST" in answer.headers["allow"]
