"""Each fault order makes the calls it names misbehave as ordered, seen from the client's side."""

from __future__ import annotations

import json
import socket
import time
import uuid
from typing import Any

import httpx
import pytest

from tests.models.running import Running, calls, eventually
from tests.models.sample import SHORT, summary_request

GONE = (httpx.RemoteProtocolError, httpx.ReadError)


def order(http: httpx.Client, **members: Any) -> None:
    http.post("/faults", json={"count": 1} | members).raise_for_status()


def chat(http: httpx.Client, *, key: str = "k", timeout: float | None = None) -> httpx.Response:
    return http.post(
        "/v1/chat/completions",
        json=summary_request(SHORT),
        headers={"idempotency-key": key},
        timeout=timeout or http.timeout,
    )


def embed(http: httpx.Client, **headers: str) -> httpx.Response:
    request = {"model": "multilingual-e5-small", "input": "A text."}
    return http.post("/v1/embeddings", json=request, headers=headers)


def transcribe(http: httpx.Client) -> httpx.Response:
    return http.post("/v1/audio/transcriptions", files={"file": b"-"}, data={"model": "whisper-1"})


@pytest.mark.parametrize("status", [400, 401, 408, 429, 500, 503, 529])
def test_a_status_comes_in_the_error_shape_with_a_request_id(
    http: httpx.Client, status: int
) -> None:
    order(http, status=status)

    response = chat(http)

    assert response.status_code == status
    assert response.json()["error"].keys() == {"message", "type", "code"}
    assert response.headers["x-request-id"].startswith("req_")


@pytest.mark.parametrize("wait", [7, "Fri, 31 Dec 2027 23:59:59 GMT"])
def test_retry_after_is_sent_as_ordered_and_means_429(http: httpx.Client, wait: int | str) -> None:
    order(http, retry_after=wait)

    response = chat(http)

    assert response.status_code == 429
    assert response.headers["retry-after"] == str(wait)


def test_an_error_can_have_a_code_of_its_own(http: httpx.Client) -> None:
    order(http, status=429, code="insufficient_quota")

    assert chat(http).json()["error"]["code"] == "insufficient_quota"


def test_seconds_alone_are_slow_but_right(http: httpx.Client) -> None:
    right = chat(http).json()["choices"]
    order(http, seconds=0.5)
    started = time.monotonic()

    response = chat(http)

    assert time.monotonic() - started >= 0.5
    assert response.json()["choices"] == right


def test_a_hanging_call_has_no_answer_and_ends_when_the_client_leaves(
    http: httpx.Client,
) -> None:
    order(http, hang=True)
    key = uuid.uuid4().hex

    with pytest.raises(httpx.ReadTimeout):
        chat(http, key=key, timeout=0.3)

    assert [call["answer"] for call in calls(http, key)] == ["hang"]
    assert chat(http).status_code == 200


def test_a_slow_call_that_the_client_left_is_noted_as_such(http: httpx.Client) -> None:
    order(http, seconds=60)
    key = uuid.uuid4().hex

    with pytest.raises(httpx.ReadTimeout):
        chat(http, key=key, timeout=0.3)

    eventually(lambda: calls(http, key)[0]["answer"] == 499, what="the call is noted as left")


def test_a_drop_before_the_answer_closes_the_connection_without_a_byte(
    http: httpx.Client, server: Running
) -> None:
    order(http, drop="before")

    with socket.create_connection(server.address, timeout=30) as connection:
        connection.sendall(raw_chat())
        received = connection.recv(65_536)

    assert received == b""


def test_a_drop_in_the_middle_closes_the_connection_before_the_promised_end(
    http: httpx.Client, server: Running
) -> None:
    order(http, drop="middle")
    received = b""

    with socket.create_connection(server.address, timeout=30) as connection:
        connection.sendall(raw_chat())
        while chunk := connection.recv(65_536):
            received += chunk

    head, _, body = received.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200")
    promised = next(line for line in head.split(b"\r\n") if line.startswith(b"content-length"))
    assert 0 < len(body) < int(promised.split()[1])


@pytest.mark.parametrize("drop", ["before", "middle"])
def test_a_dropped_call_is_an_error_at_the_client_and_noted(http: httpx.Client, drop: str) -> None:
    order(http, drop=drop)
    key = uuid.uuid4().hex

    with pytest.raises(GONE):
        chat(http, key=key)

    assert [call["answer"] for call in calls(http, key)] == ["drop"]
    assert chat(http).status_code == 200


@pytest.mark.parametrize("body", ["garbage", "truncated"])
@pytest.mark.parametrize("status", [200, 502])
def test_a_broken_body_is_whole_http_but_no_json(
    http: httpx.Client, body: str, status: int
) -> None:
    order(http, body=body, **({} if status == 200 else {"status": status}))

    response = chat(http)

    assert response.status_code == status
    assert response.content
    assert not is_json(response.content)


def test_chat_can_be_empty_cut_or_filtered(http: httpx.Client) -> None:
    choices = {}
    for body in ("empty", "length", "refusal"):
        order(http, body=body)
        choices[body] = chat(http).json()["choices"][0]

    assert choices["empty"]["message"]["content"] == ""
    assert choices["length"]["finish_reason"] == "length"
    assert choices["refusal"]["finish_reason"] == "content_filter"
    assert choices["refusal"]["message"]["content"] is None


def test_the_other_routes_do_the_nearest_thing_to_an_odd_answer(http: httpx.Client) -> None:
    for body in ("empty", "length", "refusal"):
        order(http, body=body, count=2)

    assert embed(http).json()["data"] == []
    assert transcribe(http).json() == {"text": ""}
    assert len(embed(http).json()["data"][0]["embedding"]) == 192
    assert transcribe(http).json()["text"]
    assert embed(http).json()["error"]["code"] == "content_filter"
    assert transcribe(http).status_code == 400


def test_orders_queue_up_and_each_is_used_up_before_the_next(http: httpx.Client) -> None:
    order(http, status=500, count=2)
    order(http, count=1)  # lets a call through
    order(http, status=429)

    assert [chat(http).status_code for _ in range(5)] == [500, 500, 200, 429, 200]


def test_an_order_for_a_route_leaves_other_routes_alone(http: httpx.Client) -> None:
    order(http, status=500, route="embeddings")
    order(http, status=503)

    assert chat(http).status_code == 503
    assert chat(http).status_code == 200
    assert embed(http).status_code == 500
    assert embed(http).status_code == 200


def test_an_order_without_a_route_is_for_any_model_route_and_no_other(http: httpx.Client) -> None:
    order(http, status=503, count=3, route=None)

    assert http.get("/healthz").status_code == 200
    assert http.get("/v1/models").status_code == 200
    assert [call(http).status_code for call in (chat, embed, transcribe)] == [503] * 3


def test_an_order_may_be_for_calls_with_certain_headers(http: httpx.Client) -> None:
    order(http, status=500, match={"Idempotency-Key": "this-one"})

    assert embed(http, **{"idempotency-key": "another"}).status_code == 200
    assert embed(http).status_code == 200
    assert embed(http, **{"idempotency-key": "this-one"}).status_code == 500


def test_a_match_on_a_traceparent_is_for_its_trace_whichever_span_calls(http: httpx.Client) -> None:
    trace, other = "00-" + "a" * 32, "00-" + "b" * 32
    order(http, status=500, match={"traceparent": f"{trace}-{'1' * 16}-01"})

    passed = embed(http, traceparent=f"{other}-{'1' * 16}-01")
    met = embed(http, traceparent=f"{trace}-{'2' * 16}-01")

    assert (passed.status_code, met.status_code) == (200, 500)


def test_what_is_left_can_be_seen_and_cleared(http: httpx.Client) -> None:
    order(http, status=500, count=3)
    chat(http)

    left = http.get("/faults").json()["items"]
    http.delete("/faults").raise_for_status()

    assert left == [{"count": 2, "status": 500}]
    assert http.get("/faults").json()["items"] == []
    assert chat(http).status_code == 200


@pytest.mark.parametrize(
    "misread",
    [
        {},
        {"status": 500},
        {"count": 0},
        {"count": 1, "status": 200},
        {"count": 1, "route": "images"},
        {"count": 1, "seconds": -1},
        {"count": 1, "drop": "after"},
        {"count": 1, "repeat": True},
        {"count": 1, "retry_after": "a\r\nb: c"},
        {"count": 1, "hang": True, "status": 500},
        {"count": 1, "drop": "middle", "body": "empty"},
        {"count": 1, "status": 500, "body": "refusal"},
    ],
)
def test_an_order_that_cannot_be_carried_out_is_refused_and_not_queued(
    http: httpx.Client, misread: dict[str, Any]
) -> None:
    response = http.post("/faults", json=misread)

    assert response.status_code == 400
    assert http.get("/faults").json()["items"] == []


def is_json(content: bytes) -> bool:
    try:
        json.loads(content)
    except ValueError:
        return False
    return True


def raw_chat() -> bytes:
    body = json.dumps(summary_request(SHORT)).encode()
    head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: h\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body
