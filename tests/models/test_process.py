"""The server says ready, ends when told or left, and leaves nothing behind."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
from pathlib import Path

import httpx

from tests.models.running import PATIENCE_SECONDS, Running, eventually, running
from tests.models.sample import SHORT, summary_request
from tests.models.test_strict_server import embedding_of_many_texts


def test_sigterm_ends_it_with_0_though_a_call_hangs_and_an_engine_works(tmp_path: Path) -> None:
    with running(tmp_path / "log") as server, httpx.Client(base_url=server.url) as http:
        http.post("/faults", json={"count": 1, "route": "chat", "hang": True}).raise_for_status()
        with (
            socket.create_connection(server.address, timeout=PATIENCE_SECONDS) as hanging,
            socket.create_connection(server.address, timeout=PATIENCE_SECONDS) as working,
        ):
            hanging.sendall(raw_chat())
            working.sendall(embedding_of_many_texts("any"))
            eventually(lambda: both_at_work(http), what="one call hangs, one works")

            server.process.send_signal(signal.SIGTERM)

            assert server.process.wait(timeout=PATIENCE_SECONDS) == 0
            assert hanging.recv(1_024) == b""
        assert server.log.read_text() == ""


def test_it_ends_when_the_holder_of_its_stdin_is_gone(tmp_path: Path) -> None:
    with running(tmp_path / "log") as server:
        close_stdin(server)

        assert server.process.wait(timeout=PATIENCE_SECONDS) == 0
        assert server.log.read_text() == ""


def test_a_port_in_use_is_one_line_and_exit_code_2(server: Running) -> None:
    ended = start("--port", str(server.address[1]))

    assert ended.returncode == 2
    assert ended.stdout == ""
    assert ended.stderr.count("\n") == 1
    assert str(server.address[1]) in ended.stderr


def test_an_address_that_others_can_reach_is_refused() -> None:
    ended = start("--host", "0.0.0.0")

    assert ended.returncode == 2
    assert "not a loopback address" in ended.stderr


def start(*options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "uketsuke_local.models", *options]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False
    )


def close_stdin(server: Running) -> None:
    assert server.process.stdin is not None
    server.process.stdin.close()


def both_at_work(http: httpx.Client) -> bool:
    answers = {call["answer"] for call in http.get("/requests").json()["items"]}
    engines = http.get("/healthz").json()["engines"]
    return "hang" in answers and engines["embedding"]["calls"] == 1


def raw_chat() -> bytes:
    body = json.dumps(summary_request(SHORT)).encode()
    head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: h\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body
