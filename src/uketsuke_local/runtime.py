"""The local runtime: the Node process that runs Workers on workerd, started and ended from here."""

from __future__ import annotations

import os
import secrets
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from uketsuke_local.child import Child, ChildFailed, Message
from uketsuke_local.keys import Statement

RUN = Path(__file__).parent / "host" / "run.mjs"

_READY_WITHIN_SECONDS = 120.0
_ADDRESS_IN_USE = "ERR_ADDRESS_IN_USE"


class PortInUse(ChildFailed):
    """Something else listens on the port that was asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerSource:
    """A wrangler file, and values that override its ``[vars]``."""

    path: Path
    variables: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class RuntimeSettings:
    """What to run. The first Worker answers HTTP; port 0 takes a free one."""

    workers: Sequence[WorkerSource]
    state: Path
    cache: Path
    port: int = 0
    migrations: Path | None = None
    seed: Sequence[Statement] = ()
    fire_crons: bool = True
    heap_bytes: int | None = None
    cpu_ms: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningRuntime:
    url: str
    control_url: str
    control_token: str
    child: Child


@contextmanager
def runtime_process(on_message: Callable[[Message], None], *, folder: Path) -> Iterator[Child]:
    """Yield the process, which loads its modules and then waits to be told what to run."""
    child = Child("the local runtime", [node(), str(RUN)], folder=folder, on_message=on_message)
    try:
        yield child
    finally:
        child.stop()


def start_runtime(child: Child, settings: RuntimeSettings) -> RunningRuntime:
    """Tell the process what to run; return when all Workers are up and the database is migrated.

    Raises ``PortInUse`` or ``ChildFailed``, whose text ends with the Python traceback when a
    Worker's main module could not be imported.
    """
    token = secrets.token_hex(16)
    child.tell(_configuration(settings, token))
    told = child.wait_for(
        lambda message: message.get("event") in ("ready", "error"), within=_READY_WITHIN_SECONDS
    )
    if told["event"] == "error":
        kind = PortInUse if told["code"] == _ADDRESS_IN_USE else ChildFailed
        raise kind(str(told["message"]))
    return RunningRuntime(
        url=told["url"], control_url=told["control_url"], control_token=token, child=child
    )


def _configuration(settings: RuntimeSettings, token: str) -> dict[str, object]:
    limits = {"heap_bytes": settings.heap_bytes, "cpu_ms": settings.cpu_ms}
    return {
        "workers": [
            {"path": str(source.path), "vars": dict(source.variables)}
            for source in settings.workers
        ],
        "host": "127.0.0.1",
        "port": settings.port,
        "state": str(settings.state.resolve()),
        "cache": str(settings.cache.resolve()),
        "migrations": str(settings.migrations) if settings.migrations else None,
        "seed": list(settings.seed),
        "control": {"token": token},
        "crons": settings.fire_crons,
        "limits": {name: value for name, value in limits.items() if value is not None},
    }


def node() -> str:
    """The Node that comes with the Python environment; the system's may be too old."""
    beside = Path(sys.executable).parent / ("node.exe" if os.name == "nt" else "node")
    found = str(beside) if beside.exists() else shutil.which("node")
    if found is None:
        raise ChildFailed("Node is missing: run `make setup` first.")
    return found
