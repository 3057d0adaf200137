"""The local stack: the model server, and both Workers on workerd.

Run it in the foreground: ``python -m uketsuke_local.dev --port 8787 --state .uketsuke --json``.
In a test::

    with running_stack(StackSettings(state=tmp_path)) as stack:
        httpx.get(stack.url + "/healthz")
        stack.control.kill("uketsuke-consumer")
"""

from __future__ import annotations

import fcntl
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from uketsuke_local.child import Child, ChildFailed, Message
from uketsuke_local.control import Control
from uketsuke_local.keys import Keys, load_or_mint, seed
from uketsuke_local.models.names import local_prices
from uketsuke_local.runtime import (
    ModelServer,
    PortInUse,
    RunningRuntime,
    RuntimeSettings,
    WorkerSource,
    runtime_process,
    start_runtime,
)
from uketsuke_local.vendor import VendoringFailed, vendor

ROOT = Path(__file__).resolve().parents[2]

_MODELS_READY_WITHIN_SECONDS = 120.0


class StackFailed(Exception):
    """The stack could not start; nothing of it is left running."""


class PortTaken(StackFailed):
    """Something else listens on the port that was asked for."""


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
    """Where it is, the keys that open it, and the control server's client."""

    url: str
    model_url: str
    control_url: str
    control_token: str = field(repr=False)
    keys: Keys
    control: Control
    children: tuple[Child, ...]

    def add_tenant(self, tenant: str) -> str:
        """Make a tenant, and return a key of all a tenant's scopes."""
        return self.control.add_tenant(tenant, hash_secret=self.keys.hash_secret)


@contextmanager
def running_stack(settings: StackSettings) -> Iterator[RunningStack]:
    """Yield a stack that answers; end all its processes afterwards.

    Raises ``StackFailed``, which says what was wrong.
    """
    with ExitStack() as cleanup:
        try:
            stack = _start(settings, cleanup)
        except PortInUse as problem:
            raise PortTaken(str(problem)) from problem
        except (ChildFailed, VendoringFailed, OSError) as problem:
            raise StackFailed(str(problem)) from problem
        yield stack


def _start(settings: StackSettings, cleanup: ExitStack) -> RunningStack:
    _require_checkout()
    cleanup.enter_context(_claimed(settings.state))
    vendor(ROOT)
    keys = load_or_mint(settings.state)
    # Both load their modules meanwhile; the runtime must know where the models are.
    host = cleanup.enter_context(runtime_process(settings.on_log, folder=ROOT))
    models = cleanup.enter_context(_models(settings, keys))
    ready = models.wait_for(lambda m: m.get("ready") is True, within=_MODELS_READY_WITHIN_SECONDS)
    model_url = str(ready["url"])
    runtime = start_runtime(host, _runtime_settings(settings, keys, model_url=model_url))
    return RunningStack(
        url=runtime.url,
        model_url=model_url,
        control_url=runtime.control_url,
        control_token=runtime.control_token,
        keys=keys,
        control=cleanup.enter_context(_control(runtime)),
        children=(host, models),
    )


@contextmanager
def _claimed(state: Path) -> Iterator[None]:
    """Hold the state folder: two stacks on one would tear each other's databases apart.

    The system lets go of the lock when the process ends, however it ends.
    """
    try:
        state.mkdir(parents=True, exist_ok=True)
        lock = (state / "lock").open("w")
    except OSError as problem:
        told = f"the state folder {state} cannot be used ({problem.strerror})"
        raise StackFailed(f"{told}: choose another with --state") from problem
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as problem:
            told = f"another stack runs on {state}"
            raise StackFailed(f"{told}: stop it, or choose another with --state") from problem
        yield


def _require_checkout() -> None:
    if not (ROOT / "wrangler.toml").exists():
        raise StackFailed("the local stack runs from a checkout of the project, not from a wheel")
    if not (ROOT / "node_modules" / "miniflare").exists():
        raise StackFailed("node_modules is missing: run `make setup` first")


def _control(runtime: RunningRuntime) -> Control:
    return Control(runtime.control_url, runtime.control_token)


@contextmanager
def _models(settings: StackSettings, keys: Keys) -> Iterator[Child]:
    command = [sys.executable, "-m", "uketsuke_local.models", "--json", "--port", "0"]
    command += ["--exit-with-stdin", "--api-key", keys.model_key]
    command += ["--warm"] if settings.warm_models else []
    models = Child("the model server", command, folder=ROOT, on_message=_ignore)
    try:
        yield models
    finally:
        models.stop()


def _runtime_settings(settings: StackSettings, keys: Keys, *, model_url: str) -> RuntimeSettings:
    models = ModelServer(base_url=f"{model_url}/v1", api_key=keys.model_key)
    prices = {"PRICES": json.dumps(local_prices())}
    api = {**prices, "KEY_HASH_SECRET": keys.hash_secret}
    consumer = {**prices, "MODEL_BASE_URL": models.base_url, "MODEL_API_KEY": models.api_key}
    return RuntimeSettings(
        workers=[
            WorkerSource(path=ROOT / "wrangler.toml", variables={**api, **settings.variables}),
            WorkerSource(
                path=ROOT / "wrangler.consumer.toml",
                variables={**consumer, **settings.variables},
                ai=True,
            ),
        ],
        models=models,
        state=settings.state / "resources",
        cache=ROOT / ".cache",
        port=settings.port,
        migrations=ROOT / "migrations",
        seed=seed(keys),
        fire_crons=settings.fire_crons,
    )
