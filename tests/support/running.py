"""The real stack for tests: all of it, as `uketsuke dev` runs it."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self, TypeVar

import httpx

from uketsuke_local import keys

# Short where production is patient, so that tests need not be.
QUICK: Mapping[str, str] = {
    "LEASE_SECONDS": "6",
    "RENEW_EVERY_SECONDS": "2",
    "PROGRESS_EVERY_SECONDS": "0.3",
    "FIRST_WAKE_SECONDS": "4",
    "RETRY_BASE_SECONDS": "0.5",
    "RETRY_CAP_SECONDS": "2",
    "ATTEMPT_LIMIT_SECONDS": "40",
    "LANE_SPREAD_SECONDS": "0.5",
    "LANE_MEMORY_SECONDS": "10",
    "PARK_THROTTLED_SECONDS": "0.3",
    "PARK_THROTTLED_CAP_SECONDS": "2",
    "PARK_QUOTA_SECONDS": "0.5",
    "PARK_QUOTA_CAP_SECONDS": "2",
    "PARK_DENIED_SECONDS": "0.5",
    "PARK_DENIED_CAP_SECONDS": "2",
    "KEY_CACHE_SECONDS": "1",
    "ALERT_CLEAR_SECONDS": "1",
}


T = TypeVar("T")


def until(look: Callable[[], T | None], *, within: float = 30, every: float = 0.1) -> T:
    """Return what ``look`` gives as soon as it is true; fail if it stays false too long."""
    deadline = time.monotonic() + within
    while True:
        found = look()
        if found:
            return found
        assert time.monotonic() < deadline, f"not within {within} s; the last answer was {found!r}"
        time.sleep(every)


@dataclass
class Stack:
    """One running stack. Stop it with ``stop``; ``kill`` takes everything down at once.

    It is that of this checkout, or of a copy of it.
    """

    state: Path
    checkout: Path | None = None
    settings: Mapping[str, str] = field(default_factory=lambda: QUICK)
    port: int = 0
    ready: dict[str, Any] = field(default_factory=dict)
    _process: subprocess.Popen[str] | None = None
    _lines: list[str] = field(default_factory=list)
    _found: dict[str, Any] | None = None
    _reader: threading.Thread | None = None
    _tenants: dict[str, str] = field(default_factory=dict)

    def start(self) -> Self:
        command = [sys.executable, "-m", "uketsuke_local.dev", "--json", "--port", str(self.port)]
        command += ["--state", str(self.state)]
        for name, value in self.settings.items():
            command += ["--set", f"{name}={value}"]
        self._process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
            env=self._environment(),
        )
        self._reader = threading.Thread(target=self._collect, args=(self._process,), daemon=True)
        self._reader.start()
        self.ready = until(self._find_ready, within=90)
        self.port = int(self.ready["url"].rpartition(":")[2])
        return self

    def _environment(self) -> Mapping[str, str] | None:
        if self.checkout is None:
            return None
        paths = (f"{self.checkout}/src", f"{self.checkout}/src/worker")
        return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}

    def _collect(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        with process.stdout:
            for line in process.stdout:
                self._lines.append(line)
                if '"model_url"' in line and line.startswith("{"):
                    self._found = json.loads(line)

    def _find_ready(self) -> dict[str, Any] | None:
        assert self._process is not None
        if self._process.poll() is not None:
            raise AssertionError(f"the stack did not start:\n{self.log[-5000:]}")
        found, self._found = self._found, None
        return found

    @property
    def log(self) -> str:
        """Everything that the stack has printed since it was made, its ready lines left out."""
        return "".join(line for line in list(self._lines) if '"model_url"' not in line)

    def stop(self) -> int:
        """End it as Ctrl-C does, and return its exit code."""
        return self._end(signal.SIGTERM)

    def kill(self) -> None:
        """End it as a power cut does."""
        self._end(signal.SIGKILL)

    def _end(self, how: signal.Signals) -> int:
        assert self._process is not None
        with contextlib.suppress(ProcessLookupError):
            if how is signal.SIGKILL:
                os.killpg(self._process.pid, how)
            else:
                self._process.send_signal(how)
        code = self._process.wait(timeout=30)
        assert self._reader is not None
        self._reader.join(timeout=10)
        return code

    def api(self, key: str | None = "tenant_key") -> httpx.Client:
        """A client of the API, under one of the seeded keys, a literal one, or none."""
        headers = {}
        if key is not None:
            headers["authorization"] = f"Bearer {self.ready.get(key, key)}"
        return _client(self.ready["url"], headers)

    def tenant(self) -> str:
        """Make a tenant of the test's own and return its key; ``tenant_of`` tells its id."""
        hash_secret = keys.load_or_mint(self.state).hash_secret
        name, key = f"t-{secrets.token_hex(5)}", keys.mint_key()
        self.post("/d1", {"batch": keys.tenant_statements(name, key, hash_secret=hash_secret)})
        self._tenants[key] = name
        return key

    def tenant_of(self, key: str) -> str:
        return self._tenants[key]

    def models(self) -> httpx.Client:
        return _client(self.ready["model_url"])

    def control(self) -> httpx.Client:
        headers = {"x-control-token": self.ready["control_token"]}
        return _client(self.ready["control_url"], headers)

    def order(self, **fault: Any) -> None:
        """Order a fault of the model server."""
        with self.models() as models:
            models.post("/faults", json=fault).raise_for_status()

    def sweep(self) -> None:
        """Fire the consumer's cron once and wait for it."""
        self.post("/cron", {"worker": "uketsuke-consumer", "cron": "* * * * *"})

    def deliver(self, queue: str, bodies: Sequence[object], *, attempts: int = 1) -> Any:
        """Hand messages to the consumer, past the broker, and return its verdicts."""
        messages = [
            {"id": f"m-{secrets.token_hex(6)}", "attempts": attempts, "body": body}
            for body in bodies
        ]
        answer = self.post(
            "/queue", {"worker": "uketsuke-consumer", "queue": queue, "messages": messages}
        )
        return [m["id"] for m in messages], answer

    def d1(self, sql: str, *params: object) -> Any:
        """Run one statement on the stack's D1."""
        return self.post("/d1", {"batch": [{"sql": sql, "params": list(params)}]})[0]["results"]

    def post(self, path: str, document: object) -> Any:
        with self.control() as control:
            return control.post(path, json=document).raise_for_status().json()

    def get(self, path: str) -> Any:
        with self.control() as control:
            return control.get(path).raise_for_status().json()


def _client(url: str, headers: Mapping[str, str] | None = None) -> httpx.Client:
    """A client of plain HTTP on loopback: loading the authorities would take longer than a call."""
    return httpx.Client(base_url=url, headers=headers, timeout=60, verify=False)


@contextlib.contextmanager
def running(state: Path, settings: Mapping[str, str] = QUICK) -> Iterator[Stack]:
    """A stack of one's own."""
    stack = Stack(state=state, settings=settings).start()
    try:
        yield stack
    finally:
        stack.stop()
