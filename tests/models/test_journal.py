"""The journal shows what the provider was asked, and never content or keys; nor does the log."""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import Any

import httpx

from tests.models.running import Running, calls
from tests.models.sample import summary_request

SECRET = "xyzzy-the-content-of-a-prompt"


def ask(http: httpx.Client, **headers: str) -> httpx.Response:
    return http.post("/v1/chat/completions", json=summary_request(SECRET), headers=headers)


def test_a_call_is_noted_with_its_names_size_time_and_answer(http: httpx.Client) -> None:
    key = uuid.uuid4().hex
    parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

    response = ask(http, **{"idempotency-key": key, "traceparent": parent})

    [call] = calls(http, key)
    assert datetime.fromisoformat(call.pop("at")).tzinfo is not None
    assert call == {
        "route": "chat",
        "request_id": response.headers["x-request-id"],
        "idempotency_key": key,
        "traceparent": parent,
        "model": "extractive-e5",
        "bytes": int(response.request.headers["content-length"]),
        "answer": 200,
    }


def test_calls_are_listed_newest_last(http: httpx.Client) -> None:
    first, second = uuid.uuid4().hex, uuid.uuid4().hex
    ask(http, **{"idempotency-key": first})
    ask(http, **{"idempotency-key": second})

    listed: list[dict[str, Any]] = http.get("/requests").json()["items"]

    assert [call["idempotency_key"] for call in listed[-2:]] == [first, second]


def test_the_model_of_a_form_is_noted_too(http: httpx.Client) -> None:
    key = uuid.uuid4().hex

    http.post(
        "/v1/audio/transcriptions",
        files={"file": b"no audio"},
        data={"model": "whisper-none"},
        headers={"idempotency-key": key},
    )

    [call] = calls(http, key)
    assert (call["route"], call["model"], call["answer"]) == ("transcriptions", "whisper-none", 404)


def test_neither_journal_nor_log_holds_content_or_the_authorization_header(
    http: httpx.Client, server: Running
) -> None:
    authorization = {"authorization": "Bearer abracadabra"}
    ask(http, **authorization)
    http.post("/v1/embeddings", json={"model": SECRET, "input": 1}, headers=authorization)
    http.post("/v1/chat/completions", content=f'{{"{SECRET}', headers=authorization)
    http.post(
        "/v1/audio/transcriptions",
        content=f"--{SECRET}",
        headers={**authorization, "content-type": "multipart/form-data; boundary=other"},
    )

    kept = http.get("/requests").text + server.log.read_text()

    assert "abracadabra" not in kept
    assert SECRET not in kept.replace(f'"model":"{SECRET}"', "")
    assert server.log.read_text() == ""
