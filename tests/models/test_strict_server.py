"""A server with a key refuses others; one with a full lane refuses more; all say so clearly."""

from __future__ import annotations

import json
import socket
import uuid

import httpx
import pytest

from tests.models.running import Running, calls, eventually
from tests.models.sample import SHORT, summary_request


@pytest.mark.parametrize("authorization", ["", "Bearer wrong-key", "Basic right-key", "right-key"])
def test_a_call_without_the_right_key_is_refused(strict: httpx.Client, authorization: str) -> None:
    headers = {"authorization": authorization}

    answers = [
        strict.post("/v1/chat/completions", json=summary_request(SHORT), headers=headers),
        strict.get("/v1/models", headers=headers),
    ]

    for answer in answers:
        assert answer.status_code == 401
        assert answer.json()["error"]["code"] == "invalid_api_key"


def test_a_refused_key_uses_up_no_fault_order(strict: httpx.Client) -> None:
    strict.post("/faults", json={"count": 1, "status": 503}).raise_for_status()
    request = summary_request(SHORT)

    refused = strict.post("/v1/chat/completions", json=request, headers={"authorization": "no"})
    failed = strict.post("/v1/chat/completions", json=request)

    assert (refused.status_code, failed.status_code) == (401, 503)


def test_a_full_lane_answers_429_and_is_free_again_when_its_caller_leaves(
    strict: httpx.Client, strict_server: Running
) -> None:
    key = uuid.uuid4().hex
    with socket.create_connection(strict_server.address) as slow:
        slow.sendall(embedding_of_many_texts(key))
        eventually(lambda: calls_at_work(strict) == 1, what="the lane is taken")

        refused = strict.post("/v1/chat/completions", json=summary_request(SHORT))

    assert refused.status_code == 429
    assert int(refused.headers["retry-after"]) >= 1
    assert refused.json()["error"]["code"] == "rate_limit_exceeded"
    eventually(lambda: calls_at_work(strict) == 0, what="the lane is free")
    assert strict.post("/v1/chat/completions", json=summary_request(SHORT)).status_code == 200
    assert [call["answer"] for call in calls(strict, key)] == [499]


def test_without_weights_transcription_says_what_brings_them(strict: httpx.Client) -> None:
    response = strict.post(
        "/v1/audio/transcriptions", files={"file": b"any"}, data={"model": "whisper-base"}
    )

    assert response.status_code == 503
    assert response.json()["error"]["code"] == "model_not_available"
    assert "python -m uketsuke_local.models.weights" in response.json()["error"]["message"]


def test_without_weights_the_speech_model_is_not_listed(strict: httpx.Client) -> None:
    models = [model["id"] for model in strict.get("/v1/models").json()["data"]]

    assert "extractive-e5" in models
    assert "multilingual-e5-small" in models
    assert "whisper-base" not in models


def calls_at_work(http: httpx.Client) -> int:
    count: int = http.get("/healthz").json()["engines"]["embedding"]["calls"]
    return count


def embedding_of_many_texts(key: str) -> bytes:
    """Return a call that would keep the engine busy for half a minute."""
    texts = [f"The text with the number {n} in it." for n in range(2_000)]
    body = json.dumps({"model": "multilingual-e5-small", "input": texts}).encode()
    head = (
        "POST /v1/embeddings HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer right-key\r\n"
        f"Idempotency-Key: {key}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body
