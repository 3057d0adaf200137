"""The local stack: the model server, and both Workers on workerd.

Run it in the foreground: ``python -m uketsuke_local.dev --port 8787 --state .uketsuke --json``.
In a test::

    with running_stack(StackSettings(state=tmp_path)) as stack:
        httpx.get(stack.url + "/healthz")
"""

from __future__ import annotations

import os
import secrets
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from uketsuke_local.child import Child, ChildFailed, Message
from uketsuke_local.keys import Keys, load_or_mint, seed
from uketsuke_local.vendor import VendoringFailed, vendor

ROOT = Path(__file__).resolve().parents[2]
HOST = Path(__file__).parent / "host" / "run.mjs"
API_WORKER = "wrangler.toml"
CONSUMER_WORKER = "wrangler.consumer.toml"

_MODELS_READY_WITHIN_SECONDS = 120.0
_HOST_READY_WITHIN_SECONDS = 120.0


class StackFailed(Exception):
    """The stack could not start; nothing of it is left running."""


def _ignore(message: Message) -> None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class StackSettings:
    """What to start. Port 0 takes a free one; ``variables`` override both Workers' vars."""

    state: Path
    port: int = 0
    variables: Mapping[str, str] = field(default_factory=dict)
    fire_crons: bool = True
    warm_models: bool = False
    on_log: Callable[[Message], None] = _ignore


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningStack:
    """Where it is, and the keys that open it."""

    url: str
    model_url: str
    control_url: str
    control_token: str
    keys: Keys
    host: Child
    models: Child


@contextmanager
def running_stack(settings: StackSettings) -> Iterator[RunningStack]:
    """Yield a stack that answers; end all its processes afterwards. Raises ``StackFailed``."""
    with ExitStack() as cleanup:
        try:
            stack = _start(settings, cleanup)
        except (ChildFailed, VendoringFailed, OSError) as problem:
            raise StackFailed(str(problem)) from problem
        yield stack


def _start(settings: StackSettings, cleanup: ExitStack) -> RunningStack:
    vendor(ROOT)
    keys = load_or_mint(settings.state)
    token = secrets.token_hex(16)
    host = _start_host(settings, cleanup)
    models = _start_models(settings, keys, cleanup)
    ready = models.wait_for(lambda m: m.get("ready") is True, within=_MODELS_READY_WITHIN_SECONDS)
    model_url = str(ready["url"])
    host.tell(_configuration(settings, keys, model_url=model_url, token=token))
    told = _wait_for_host(host)
    return RunningStack(
        url=told["url"],
        model_url=model_url,
        control_url=told["control_url"],
        control_token=token,
        keys=keys,
        host=host,
        models=models,
    )


def _start_host(settings: StackSettings, cleanup: ExitStack) -> Child:
    host = Child("the local runtime", [_node(), str(HOST)], folder=ROOT, on_message=settings.on_log)
    cleanup.callback(host.stop)
    return host


def _start_models(settings: StackSettings, keys: Keys, cleanup: ExitStack) -> Child:
    command = [sys.executable, "-m", "uketsuke_local.models", "--json", "--port", "0"]
    command += ["--exit-with-stdin", "--api-key", keys.model_key]
    command += ["--warm"] if settings.warm_models else []
    models = Child("the model server", command, folder=ROOT, on_message=_ignore)
    cleanup.callback(models.stop)
    return models


def _configuration(
    settings: StackSettings, keys: Keys, *, model_url: str, token: str
) -> dict[str, object]:
    api = {"KEY_HASH_SECRET": keys.hash_secret}
    consumer = {"MODEL_BASE_URL": f"{model_url}/v1", "MODEL_API_KEY": keys.model_key}
    return {
        "workers": [
            {"path": str(ROOT / API_WORKER), "vars": {**api, **settings.variables}},
            {"path": str(ROOT / CONSUMER_WORKER), "vars": {**consumer, **settings.variables}},
        ],
        "host": "127.0.0.1",
        "port": settings.port,
        "state": str(settings.state.resolve() / "resources"),
        "migrations": str(ROOT / "migrations"),
        "seed": seed(keys),
        "control": {"token": token},
        "crons": settings.fire_crons,
    }


def _wait_for_host(host: Child) -> Message:
    told = host.wait_for(
        lambda message: message.get("event") in ("ready", "error"),
        within=_HOST_READY_WITHIN_SECONDS,
    )
    if told["event"] == "error":
        raise ChildFailed(str(told["message"]))
    return told


def _node() -> str:
    """The Node that comes with the Python environment; the system's may be too old."""
    beside = Path(sys.executable).parent / ("node.exe" if os.name == "nt" else "node")
    found = str(beside) if beside.exists() else shutil.which("node")
    if found is None:
        raise StackFailed("Node is missing: run `make setup` first.")
    return found
