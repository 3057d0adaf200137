"""Set the checkout up: Python, Node, the local runtime, the Worker's packages, speech weights.

Runs on the machine's own python3 with nothing but its standard library, and needs no root. Each
step is skipped when what it made is still right, so that a second run takes no time.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VENV = ROOT / ".venv"
BIN = VENV / "bin"
STAMPS = VENV / "stamps"
OLDEST = (3, 11)


class SetupFailed(Exception):
    """A step cannot be done. The message is what a person is told."""


def main() -> int:
    """Do all steps; return the exit code."""
    try:
        check_python()
        steps: list[tuple[str, list[str], Callable[[], None]]] = [
            ("Python environment", [], make_venv),
            ("Python packages", ["requirements/dev.txt"], install_packages),
            ("this project, editable", ["pyproject.toml"], install_project),
            ("local runtime (npm)", ["package-lock.json"], install_node_modules),
            (
                "the console's libraries",
                ["package-lock.json", "scripts/console_libraries.py"],
                vendor_console,
            ),
            ("the Worker's packages", ["requirements/worker.txt"], vendor_packages),
            ("speech weights (optional)", ["requirements/speech.txt"], fetch_weights),
        ]
        for number, (name, inputs, work) in enumerate(steps, 1):
            run_step(f"[{number}/{len(steps)}] {name}", inputs, work)
    except SetupFailed as problem:
        say(f"setup: {problem}")
        return 1
    return 0


def run_step(name: str, inputs: list[str], work: Callable[[], None]) -> None:
    """Run ``work`` unless it was done for the same inputs in this environment."""
    stamp = STAMPS / work.__name__
    digest = hashlib.sha256(b"".join((ROOT / path).read_bytes() for path in inputs)).hexdigest()
    if stamp.exists() and stamp.read_text() == digest:
        return
    say(f"{name} …")
    started = time.monotonic()
    work()
    STAMPS.mkdir(parents=True, exist_ok=True)
    stamp.write_text(digest)
    say(f"{name}: done in {time.monotonic() - started:.0f} s")


def check_python() -> None:
    if sys.version_info < OLDEST:
        found = ".".join(map(str, sys.version_info[:3]))
        raise SetupFailed(f"Python 3.11 or newer is needed; python3 here is {found}")


def make_venv() -> None:
    try:
        import ensurepip  # noqa: F401 - Debian ships it apart, in python3-venv
        import venv
    except ImportError:
        raise SetupFailed(
            "Python's venv module is missing; install it (on Debian: apt-get install python3-venv)"
        ) from None
    venv.create(VENV, with_pip=True, clear=VENV.exists())


def install_packages() -> None:
    pip("install", "--require-hashes", "--requirement", "requirements/dev.txt")


def install_project() -> None:
    pip("install", "--no-build-isolation", "--no-deps", "--editable", ".")


def install_node_modules() -> None:
    run(BIN / "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")


def vendor_console() -> None:
    run(BIN / "python", "scripts/console_libraries.py")


def vendor_packages() -> None:
    run(BIN / "python", "-m", "uketsuke_local.vendor")


def fetch_weights() -> None:
    run(BIN / "python", "-m", "uketsuke_local.models.weights", "--optional")


def pip(*arguments: str) -> None:
    run(BIN / "python", "-m", "pip", "--disable-pip-version-check", "--quiet", *arguments)


def run(*command: str | Path) -> None:
    """Run a command in the root; what it says goes to the terminal."""
    environment = {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ.get('PATH', '')}"}
    done = subprocess.run([str(part) for part in command], cwd=ROOT, env=environment, check=False)
    if done.returncode != 0:
        raise SetupFailed(f"'{' '.join(map(str, command[:4]))} …' failed; see above")


def say(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main())
