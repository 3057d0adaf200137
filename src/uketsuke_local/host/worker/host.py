"""The host's own Python: search path, start-up guards, entrypoint discovery and calls.

It does what the platform's own start-up code does around a Worker's main module. It is loaded into
the interpreter as ``_uketsuke_host``.
"""

from __future__ import annotations

import asyncio
import errno
import importlib
import inspect
import random
import sys
from collections.abc import Callable, Sequence
from site import addsitedir
from types import ModuleType
from typing import Any

ROOT = "/session/metadata"
PACKAGES = f"{ROOT}/python_modules"

_state = {"starting": True}


def prepare() -> None:
    """Order the search path as the platform does; guard what has no meaning while starting."""
    while "" in sys.path:
        sys.path.remove("")
    at = next(i for i, path in enumerate(sys.path) if "site-packages" in path)
    sys.path.insert(at, PACKAGES)
    sys.path.append(ROOT)
    addsitedir(PACKAGES)
    for name in random.__all__:
        draw = getattr(random, name)
        if inspect.ismethod(draw) or inspect.isbuiltin(draw):
            setattr(random, name, _guarded(name, draw))
    random.Random.seed = _guarded_seed(random.Random.seed)  # type: ignore[method-assign]


def _guarded(name: str, draw: Callable[..., Any]) -> Callable[..., Any]:
    def guarded(*args: Any, **kwargs: Any) -> Any:
        if _state["starting"]:
            raise RuntimeError(
                f"Cannot use random.{name}() outside of request context. Randomness is not "
                "allowed while a Worker is starting, because startup values will be repeated."
            )
        return draw(*args, **kwargs)

    return guarded


def _guarded_seed(seed: Callable[..., None]) -> Callable[..., None]:
    """Without entropy CPython would fall back on the clock, which stands still."""

    def guarded(generator: random.Random, a: Any = None, version: int = 2) -> None:
        if a is None and _state["starting"]:
            raise OSError(errno.EIO, "Randomness is not allowed while a Worker is starting.")
        seed(generator, a, version)

    return guarded


def import_main(name: str) -> ModuleType:
    """Import the Worker's main module; an error carries the hint that the platform gives."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name == "src":
            error.add_note(
                "If your main module is inside the 'src' directory then your import statement "
                "shouldn't include a 'src.' prefix"
            )
        raise


def entrypoints(module: ModuleType) -> dict[str, str]:
    """The entrypoint classes that the main module holds, and which kind each is."""
    from workers import DurableObject, WorkerEntrypoint, WorkflowEntrypoint

    bases = (WorkerEntrypoint, WorkflowEntrypoint, DurableObject)
    kinds = {}
    for name in getattr(module, "__all__", dir(module)):
        value = getattr(module, name)
        if inspect.isclass(value) and value not in bases and issubclass(value, bases):
            kinds[name] = next(base.__name__ for base in bases if issubclass(value, base))
    return kinds


def begin_requests() -> None:
    """Called before the first event: there is randomness from now on."""
    _state["starting"] = False
    random.seed()


def stop_scheduling() -> None:
    """The end: no coroutine goes on, not even to its finally clauses, as when an isolate dies."""
    loop = asyncio.get_event_loop()
    for name in ("call_soon", "call_soon_threadsafe", "call_later", "call_at"):
        setattr(loop, name, lambda *args, **kwargs: None)


async def invoke(relaxed: bool, instance: object, name: str, *args: Any) -> Any:
    """Call a method with arguments converted as over RPC, and convert what it returns."""
    from workers.rpc import python_from_rpc, python_to_rpc

    method = getattr(instance, name, None)
    if not callable(method):
        raise TypeError(f"Method {name} does not exist")
    values = [python_from_rpc(arg) for arg in args]
    result = method(*(_accepted(method, values) if relaxed else values))
    return python_to_rpc(await result if inspect.isawaitable(result) else result)


def _accepted(method: Callable[..., Any], values: Sequence[Any]) -> Sequence[Any]:
    """As many of the values as the method takes."""
    kinds = [parameter.kind for parameter in inspect.signature(method).parameters.values()]
    if inspect.Parameter.VAR_POSITIONAL in kinds:
        return values
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return values[: sum(kind in positional for kind in kinds)]
