"""Running the command as its users do: by its arguments, judged by code, stdout and stderr."""

from __future__ import annotations

import io
import json
import os
import pty
import select
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from rich.console import Console, RenderableType

from tests.client.scripted import KEY
from uketsuke_client.command import main

PROGRAM = [sys.executable, "-c", "from uketsuke_client.command import main; exit(main())"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """What stdout holds, which must be one JSON document and nothing else."""
        return json.loads(self.out)


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """The command, in this process."""

    capture: pytest.CaptureFixture[str]

    def __call__(self, *argv: str) -> Ran:
        self.capture.readouterr()
        code = main(argv)
        out, err = self.capture.readouterr()
        return Ran(code=code, out=out, err=err)


def environment(url: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("UKETSUKE")}
    return {**kept, "UKETSUKE_URL": url, "UKETSUKE_KEY": KEY, "UKETSUKE_PATIENCE": "0"}


def started(argv: Sequence[str], *, url: str, **options: Any) -> subprocess.Popen[bytes]:
    """Start the command as a process of its own, with the signals that a terminal gives it.

    A shell's background job, as these tests may be, ignores Ctrl-C, and its children with it.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return subprocess.Popen([*PROGRAM, *argv], env=environment(url), **options)
    finally:
        signal.signal(signal.SIGINT, before)


def on_a_terminal(
    argv: Sequence[str], *, url: str, columns: int = 100, typed: str = "", within: float = 20.0
) -> tuple[int, str]:
    """Run the command on a terminal on which this is typed; return its code and all it drew."""
    controller, terminal = pty.openpty()
    os.write(controller, typed.encode())
    known = {"COLUMNS": str(columns), "TERM": "xterm-256color"}
    sized: Mapping[str, str] = {**environment(url), **known}
    process = subprocess.Popen(
        [*PROGRAM, *argv], env=dict(sized), stdin=terminal, stdout=terminal, stderr=terminal
    )
    os.close(terminal)
    try:
        drawn = _read_to_the_end(controller, within=within)
        return process.wait(timeout=within), drawn.decode()
    finally:
        process.kill()
        process.wait()
        os.close(controller)


def on_paper(rendered: RenderableType, *, columns: int) -> list[str]:
    """Return the lines that a terminal of this width would show, without their styles."""
    paper = Console(file=io.StringIO(), width=columns, no_color=True)
    with paper.capture() as captured:
        paper.print(rendered)
    return captured.get().splitlines()


def _read_to_the_end(controller: int, *, within: float) -> bytes:
    drawn = b""
    while select.select([controller], [], [], within)[0]:
        try:
            part = os.read(controller, 65_536)
        except OSError:  # how Linux says that the other end of a terminal is closed
            return drawn
        if not part:
            return drawn
        drawn += part
    raise TimeoutError(f"nothing more was drawn for {within} s after {drawn!r}")
