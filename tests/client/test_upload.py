"""Uploading: every kind of source arrives whole, with its length, and again if need be."""

from __future__ import annotations

import hashlib
import io
import os
import threading
from pathlib import Path

import pytest

from tests.client.scripted import KEY, Answer, ScriptedServer, ToldClock, problem
from uketsuke_client import ApiError, Client, InputRef
from uketsuke_client.input_ref import Source

BODY = bytes(range(256)) * 1_200  # more than one chunk of what httpx reads at once
CREATED = Answer(
    status=201,
    body={
        "ref": "in_1",
        "bytes": len(BODY),
        "sha256": hashlib.sha256(BODY).hexdigest(),
        "content_type": "application/octet-stream",
        "expires_at": "2026-12-29T10:00:00.000Z",
    },
)


def uploaded(server: ScriptedServer, source: Source, clock: ToldClock) -> InputRef:
    with Client(server.url, KEY, clock=clock.as_clock()) as client:
        return client.upload(source)


def assert_arrived_whole(server: ScriptedServer) -> None:
    request = server.received[-1]
    assert request.body == BODY
    assert request.headers["content-length"] == str(len(BODY))
    assert "transfer-encoding" not in request.headers


def test_bytes_arrive_whole_and_are_named(server: ScriptedServer, clock: ToldClock) -> None:
    server.answers("PUT", "/v1/inputs", CREATED)

    found = uploaded(server, BODY, clock)

    assert_arrived_whole(server)
    assert (found.ref, found.bytes) == ("in_1", len(BODY))


def test_a_file_is_sent_with_the_type_that_its_name_tells(
    server: ScriptedServer, clock: ToldClock, tmp_path: Path
) -> None:
    server.answers("PUT", "/v1/inputs", CREATED)
    file = tmp_path / "talk.mp3"
    file.write_bytes(BODY)

    uploaded(server, file, clock)

    assert_arrived_whole(server)
    assert server.received[0].headers["content-type"] == "audio/mpeg"


def test_a_stream_is_sent_from_where_it_stands(server: ScriptedServer, clock: ToldClock) -> None:
    server.answers("PUT", "/v1/inputs", CREATED)
    stream = io.BytesIO(b"read before" + BODY)
    stream.seek(len(b"read before"))

    uploaded(server, stream, clock)

    assert_arrived_whole(server)


def test_a_pipe_which_has_no_length_gets_one(server: ScriptedServer, clock: ToldClock) -> None:
    server.answers("PUT", "/v1/inputs", CREATED)
    reading, writing = os.pipe()

    def write() -> None:
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(BODY)

    writer = threading.Thread(target=write)
    writer.start()
    with os.fdopen(reading, "rb") as pipe:
        uploaded(server, pipe, clock)
    writer.join()

    assert_arrived_whole(server)


def test_an_upload_that_is_sent_again_is_sent_from_its_start(
    server: ScriptedServer, clock: ToldClock
) -> None:
    server.answers("PUT", "/v1/inputs", Answer(dropped=True), problem(503, "unavailable"), CREATED)

    uploaded(server, io.BytesIO(BODY), clock)

    assert [request.body == BODY for request in server.received] == [True, True, True]


def test_a_refused_upload_says_why(server: ScriptedServer, clock: ToldClock) -> None:
    server.answers("PUT", "/v1/inputs", problem(413, "too_large"))

    with pytest.raises(ApiError) as caught:
        uploaded(server, BODY, clock)

    assert (caught.value.status, caught.value.code) == (413, "too_large")
