"""Uploads are streamed: a large one works, and the Worker's memory does not grow by it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.support.jobs import ended, submit
from tests.support.running import Stack, until

MIB = 1024 * 1024


def heap_of_the_api(stack: Stack) -> dict[str, Any]:
    heap: dict[str, Any] = stack.get("/heap")["uketsuke-api"]
    return heap


def body(size: int) -> Iterator[bytes]:
    """``size`` bytes that do not compress to nothing, made as they are sent."""
    block = hashlib.sha256(b"block").digest() * 2048
    for start in range(0, size, len(block)):
        yield block[: min(len(block), size - start)]


def put(api: httpx.Client, size: int) -> httpx.Response:
    headers = {"content-length": str(size), "content-type": "application/octet-stream"}
    return api.put("/v1/inputs", content=body(size), headers=headers)


@pytest.mark.parametrize("size", [0, 1, 5 * MIB - 1, 5 * MIB, 5 * MIB + 1, 95 * MIB])
def test_an_upload_of_any_size_is_stored_whole(stack: Stack, size: int) -> None:
    digest = hashlib.sha256()
    for chunk in body(size):
        digest.update(chunk)
    with stack.api(stack.tenant()) as api:
        before = heap_of_the_api(stack)

        answer = put(api, size)

    after = heap_of_the_api(stack)
    assert answer.status_code == 201, answer.text
    stored = answer.json()
    assert stored["ref"].startswith("in_")
    assert (stored["bytes"], stored["sha256"]) == (size, digest.hexdigest())
    assert stored["content_type"] == "application/octet-stream"
    assert stored["expires_at"]
    grown = after["memory"] - before["memory"]
    assert grown < max(size / 4, 4 * MIB)


def test_a_line_that_nests_deep_fails_its_job_and_not_the_worker(stack: Stack) -> None:
    with stack.api(stack.tenant()) as api:
        ref = api.put("/v1/inputs", content=b'"one"\n' + b"[" * 100_000).json()["ref"]

        job = ended(api, submit(api, kind="embed", input={"ref": ref}))

    assert (job["error"]["code"], job["attempts"]) == ("input_not_json_lines", 1)


def test_an_upload_that_is_cut_off_leaves_nothing(stack: Stack) -> None:
    key = stack.tenant()

    def cut_off() -> Iterator[bytes]:
        yield from body(12 * MIB)
        raise ConnectionAbortedError

    with stack.api(key) as api, pytest.raises(ConnectionAbortedError):
        api.put("/v1/inputs", content=cut_off(), headers={"content-length": str(40 * MIB)})

    tenant = stack.tenant_of(key)
    answered = '"http.response.status_code": 5'
    of_inputs = '"http.route": "/v1/inputs"'
    until(
        lambda: any(answered in line and of_inputs in line for line in stack.log.splitlines()),
        within=20,
    )
    assert stack.get(f"/r2?prefix={tenant}/") == []
    assert stack.d1("SELECT id FROM inputs WHERE tenant_id = ?1", tenant) == []
