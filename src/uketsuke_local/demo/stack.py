"""The demo's own stack: a child process with a state that nobody else has, gone at the end."""

from __future__ import annotations

import json
import os
import queue
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

COMMAND = (sys.executable, "-m", "uketsuke_local.dev", "--json")
_READY_WITHIN_SECONDS = 60.0
_STOPPED_WITHIN_SECONDS = 10.0
_LOG_LINES_SHOWN = 20
_LOG_LINE_CHARACTERS = 300


class StackFailed(Exception):
    """The stack did not come up; the message ends with what it last said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stack:
    url: str
    model_url: str
    key: str


@contextmanager
def running_stack() -> Iterator[Stack]:
    """Yield a stack that is ready, and leave neither a process nor a file of it behind."""
    with tempfile.TemporaryDirectory(prefix="uketsuke-demo-") as folder:
        log = Path(folder, "stack.log")
        with log.open("wb") as log_file, _child(Path(folder, "state"), log_file) as child:
            yield _ready(child, log=log)


@contextmanager
def _child(state: Path, log_file: IO[bytes]) -> Iterator[subprocess.Popen[str]]:
    child = subprocess.Popen(
        [*COMMAND, "--port", str(_free_port()), "--state", str(state)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=log_file,
        text=True,
        # Ctrl-C is for the demo, which then stops the stack in its own order.
        start_new_session=True,
    )
    try:
        yield child
    finally:
        _stop(child)


def _stop(child: subprocess.Popen[str]) -> None:
    """Ask the stack to end; what is left of its process group after that is killed."""
    child.send_signal(signal.SIGINT)
    try:
        child.wait(timeout=_STOPPED_WITHIN_SECONDS)
    except subprocess.TimeoutExpired:
        pass
    finally:
        with suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()


def _ready(child: subprocess.Popen[str], *, log: Path) -> Stack:
    lines: queue.Queue[str | None] = queue.Queue()
    threading.Thread(target=_pump, args=(child, lines), daemon=True).start()
    give_up_at = time.monotonic() + _READY_WITHIN_SECONDS
    while True:
        try:
            line = lines.get(timeout=max(0.0, give_up_at - time.monotonic()))
        except queue.Empty:
            raise StackFailed(_with_log("the stack was not ready in time", log)) from None
        if line is None:
            raise StackFailed(_with_log("the stack ended before it was ready", log))
        told = _object(line)
        if "url" in told:
            return Stack(url=told["url"], model_url=told["model_url"], key=told["tenant_key"])


def _pump(child: subprocess.Popen[str], lines: queue.Queue[str | None]) -> None:
    """Read the child's output to its end, so that it never waits for a reader."""
    assert child.stdout is not None
    with child.stdout:
        for line in child.stdout:
            lines.put(line)
    lines.put(None)


def _object(line: str) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _with_log(what: str, log: Path) -> str:
    last = log.read_text(errors="replace").splitlines()[-_LOG_LINES_SHOWN:]
    return "\n  ".join([what, *(line[:_LOG_LINE_CHARACTERS] for line in last)])


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
