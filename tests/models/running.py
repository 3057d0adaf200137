"""Start the model server as a user does, as a process of its own, and end it for certain."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import httpx

PATIENCE_SECONDS: Final = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    process: subprocess.Popen[bytes]
    url: str
    log: Path

    @property
    def address(self) -> tuple[str, int]:
        parts = urlsplit(self.url)
        assert parts.hostname is not None
        assert parts.port is not None
        return parts.hostname, parts.port


@contextmanager
def running(
    log: Path, *options: str, environment: Mapping[str, str] | None = None
) -> Iterator[Running]:
    """Run the server until the block ends. It also ends by itself when the tests die."""
    command = [sys.executable, "-m", "uketsuke_local.models", "--json", "--exit-with-stdin"]
    with (
        log.open("wb") as stderr,
        subprocess.Popen(
            [*command, *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            env={**os.environ, **(environment or {})},
        ) as process,
    ):
        try:
            yield Running(process=process, url=_ready(process, log)["url"], log=log)
        finally:
            process.kill()


def eventually(condition: Callable[[], bool], *, what: str) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < deadline, f"did not come true: {what}"
        time.sleep(0.01)


def calls(http: httpx.Client, key: str) -> list[dict[str, Any]]:
    """Return what the journal has on the calls with this idempotency key."""
    listed: list[dict[str, Any]] = http.get("/requests").json()["items"]
    return [call for call in listed if call["idempotency_key"] == key]


def _ready(process: subprocess.Popen[bytes], log: Path) -> dict[str, Any]:
    assert process.stdout is not None
    said, _, _ = select.select([process.stdout], [], [], PATIENCE_SECONDS)
    line = process.stdout.readline() if said else b""
    assert line, f"the server did not get ready: {log.read_text()}"
    ready: dict[str, Any] = json.loads(line)
    assert ready["ready"] is True
    return ready
