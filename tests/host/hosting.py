"""The fixture Workers, running on the host; what tests of the host ask and wait with."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeVar

import httpx

from uketsuke_local.child import Message
from uketsuke_local.control import Control
from uketsuke_local.runtime import (
    RunningRuntime,
    RuntimeSettings,
    WorkerSource,
    runtime_process,
    start_runtime,
)
from uketsuke_local.stack import ROOT
from uketsuke_local.vendor import vendor

T = TypeVar("T")

PATIENCE_SECONDS: Final = 30.0
_POLL_SECONDS: Final = 0.02

WORKERS: Final = Path(__file__).parent / "workers"
CONFIGURATIONS: Final = ("wrangler.toml", "wrangler.back.toml", "wrangler.bare.toml")


class Log:
    """Every message of the host so far."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._messages: list[Message] = []

    def add(self, message: Message) -> None:
        with self._lock:
            self._messages.append(message)

    def lines(self, worker: str | None = None) -> list[Message]:
        with self._lock:
            logged = [message for message in self._messages if message["event"] == "log"]
        return [line for line in logged if worker in (None, line["worker"])]

    def find(self, text: str, *, worker: str) -> Message | None:
        return next((line for line in self.lines(worker) if text in line["line"]), None)

    def tail(self) -> str:
        return "\n".join(f"[{line['worker']}] {line['line']}" for line in self.lines()[-30:])


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """The running fixture Workers."""

    runtime: RunningRuntime
    control: Control
    http: httpx.Client
    log: Log = field(default_factory=Log)

    def get(self, probe: str, **query: object) -> httpx.Response:
        return self.http.get(f"/{probe}", params={key: str(value) for key, value in query.items()})

    def ask(self, probe: str, **query: object) -> dict[str, Any]:
        """What a probe of the HTTP Worker answers; it must not fail."""
        response = self.get(probe, **query)
        assert response.status_code == 200, f"{response.text}\n{self.log.tail()}"
        answer: dict[str, Any] = response.json()
        return answer

    def notes(self, kind: str, text: str = "%") -> list[str]:
        """What the Workers wrote down of this kind, oldest first."""
        sql = "SELECT text FROM notes WHERE kind = ?1 AND text LIKE ?2 ORDER BY id"
        return [row["text"] for row in self.control.d1(sql, kind, text)]

    def eventually(self, look: Callable[[], T | None], *, what: str) -> T:
        """The first truthy answer of ``look``; fails with the host's log when there is none."""
        return eventually(look, what=lambda: f"{what}\n{self.log.tail()}")


def eventually(look: Callable[[], T | None], *, what: Callable[[], str]) -> T:
    give_up_at = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < give_up_at:
        found = look()
        if found:
            return found
        time.sleep(_POLL_SECONDS)
    raise AssertionError(f"it never came to this: {what()}")


def copy_project(folder: Path) -> Path:
    """The fixture Workers in a folder of their own, with the packages beside them."""
    vendor(ROOT)
    project = folder / "workers"
    shutil.copytree(WORKERS, project, ignore=shutil.ignore_patterns("__pycache__"))
    (project / "python_modules").symlink_to(ROOT / "python_modules", target_is_directory=True)
    return project


def settings_for(project: Path, **changes: Any) -> RuntimeSettings:
    variables: Mapping[str, str] = {"GREETING": "from the test"}
    given = {
        "workers": [
            WorkerSource(path=project / name, variables=variables) for name in CONFIGURATIONS
        ],
        "state": project.parent / "state",
        "cache": ROOT / ".cache",
        "migrations": project / "migrations",
    }
    return RuntimeSettings(**{**given, **changes})


@contextmanager
def running_host(settings: RuntimeSettings) -> Iterator[Host]:
    log = Log()
    with runtime_process(log.add, folder=ROOT) as child:
        runtime = start_runtime(child, settings)
        with (
            Control(runtime.control_url, runtime.control_token) as control,
            httpx.Client(base_url=runtime.url, timeout=PATIENCE_SECONDS, verify=False) as http,
        ):
            yield Host(runtime=runtime, control=control, http=http, log=log)
