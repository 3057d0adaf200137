"""The host's own Python: search path, start-up guards, entrypoint discovery and calls.

It does what the platform's own start-up code does around a Worker's main module.
"""

import asyncio
import importlib
import inspect
import random
import sys
from site import addsitedir

ROOT = "/session/metadata"
PACKAGES = ROOT + "/python_modules"

_DRAWS = (
    "betavariate binomialvariate choice choices expovariate gammavariate gauss getrandbits lognormvariate "
    "normalvariate paretovariate randbytes randint random randrange sample shuffle triangular uniform "
    "vonmisesvariate weibullvariate"
).split()

_starting = True


def prepare():
    """Order the search path as the platform does, and guard what has no meaning while starting."""
    while "" in sys.path:
        sys.path.remove("")
    at = next(i for i, path in enumerate(sys.path) if "site-packages" in path)
    sys.path.insert(at, PACKAGES)
    sys.path.append(ROOT)
    addsitedir(PACKAGES)
    for name in _DRAWS:
        setattr(random, name, _guarded(name, getattr(random, name)))


def _guarded(name, draw):
    def guarded(*args, **kwargs):
        if _starting:
            raise RuntimeError(
                f"Cannot use random.{name}() outside of request context. Randomness is not allowed "
                "while a Worker is starting because startup values will be repeated."
            )
        return draw(*args, **kwargs)

    return guarded


def import_main(name):
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


def entrypoints(module):
    """The entrypoint classes that the main module holds, and which kind each is."""
    from workers import DurableObject, WorkerEntrypoint, WorkflowEntrypoint

    bases = (WorkerEntrypoint, WorkflowEntrypoint, DurableObject)
    kinds = {}
    for name in getattr(module, "__all__", dir(module)):
        value = getattr(module, name)
        if inspect.isclass(value) and value not in bases:
            kinds |= {name: base.__name__ for base in bases if issubclass(value, base)}
    return kinds


def begin_requests():
    """Called before the first event: there is randomness from now on."""
    global _starting
    _starting = False
    random.seed()


def stop_scheduling():
    """The end: no coroutine goes on, not even to its finally clauses, as when an isolate dies."""
    loop = asyncio.get_event_loop()
    for name in ("call_soon", "call_soon_threadsafe", "call_later", "call_at"):
        setattr(loop, name, lambda *args, **kwargs: None)


async def invoke(relaxed, instance, name, *args):
    """Call a method with arguments converted as over RPC, and convert what it returns."""
    from workers.rpc import python_from_rpc, python_to_rpc

    method = getattr(instance, name, None)
    if not callable(method):
        raise TypeError(f"Method {name} does not exist")
    values = [python_from_rpc(arg) for arg in args]
    if relaxed:
        values = _accepted(method, values)
    result = method(*values)
    return python_to_rpc(await result if inspect.isawaitable(result) else result)


def _accepted(method, values):
    """As many of the values as the method takes."""
    kinds = [parameter.kind for parameter in inspect.signature(method).parameters.values()]
    if inspect.Parameter.VAR_POSITIONAL in kinds:
        return values
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return values[: sum(kind in positional for kind in kinds)]
