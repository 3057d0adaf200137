"""Processes of a test's own, found by a mark in their environment (Linux)."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

from tests.host.hosting import PATIENCE_SECONDS, eventually

MARK: Final = "UKETSUKE_TEST_MARK"
_READY_WITHIN_SECONDS: Final = 90.0


def living(mark: str) -> list[int]:
    """Every process that was started with this mark, by whomever, and has not ended."""
    wanted = f"{MARK}={mark}".encode()
    return [pid for pid in _pids() if wanted in _environment(pid).split(b"\0")]


def _pids() -> list[int]:
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]


def _environment(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes()  # empty for one that is a zombie
    except OSError:
        return b""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dev:
    """`uketsuke dev`, with the mark that all its processes carry."""

    process: subprocess.Popen[str]
    mark: str

    def ready_line(self) -> dict[str, Any]:
        return _ready_line(self.process)

    def end(self, how: signal.Signals) -> int:
        """Send it a signal and return its exit code."""
        self.process.send_signal(how)
        return self.process.wait(timeout=PATIENCE_SECONDS)

    def nothing_is_left(self) -> bool:
        eventually(lambda: not living(self.mark), what=lambda: f"{living(self.mark)} live on")
        return True


@contextmanager
def running_dev(state: Path) -> Iterator[Dev]:
    """Yield a stack that starts on a free port; what a failed test leaves of it is killed."""
    mark = uuid4().hex
    command = [sys.executable, "-m", "uketsuke_local.dev", "--json", "--port", "0"]
    process = subprocess.Popen(
        [*command, "--state", str(state)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, MARK: mark},
    )
    assert process.stdout is not None
    try:
        with process.stdout:
            yield Dev(process=process, mark=mark)
    finally:
        for pid in living(mark):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        process.wait(timeout=PATIENCE_SECONDS)


def _ready_line(process: subprocess.Popen[str]) -> dict[str, Any]:
    assert process.stdout is not None
    late = threading.Timer(_READY_WITHIN_SECONDS, process.kill)
    late.start()
    line = process.stdout.readline()
    late.cancel()
    late.join()
    assert line, "the stack ended before it was ready"
    found: dict[str, Any] = json.loads(line)
    return found
