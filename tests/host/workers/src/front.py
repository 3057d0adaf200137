"""The HTTP Worker of the host's tests: one small probe a path, answered as JSON."""

import asyncio
import importlib
import json
import os
import time
from pathlib import Path
from urllib.parse import parse_qs, urlparse

import early
import js
import pack
from workers import Response, WorkerEntrypoint, fetch, wait_until

HERE = Path(__file__).parent
STATE = {"instances": 0, "interpreter": "first"}
LOCK = asyncio.Lock()
BELL = asyncio.Event()


def places(worker, query):
    return early.PLACES | {"pack": pack.NAME}


def early_attempts(worker, query):
    return {"seen": early.SEEN, "clock": early.CLOCK}


def instance(worker, query):
    fresh = not hasattr(worker, "used")
    worker.used = True
    return {"fresh": fresh, "instances": STATE["instances"]}


def variables(worker, query):
    return {"greeting": worker.env.GREETING, "kept": worker.env.KEPT}


def files(worker, query):
    names = ["greeting.txt", "page.html", "schema.sql", "blob.bin"]
    names += ["absent.json", "absent.toml", "absent.md", "front.py", "python_modules/tests"]
    return {name: (HERE / name).exists() for name in names}


def write_files(worker, query):
    return {
        "overwrite": _attempt(lambda: (HERE / "greeting.txt").write_text("no")),
        "create": _attempt(lambda: (HERE / "new.txt").write_text("no")),
        "package": _attempt(lambda: (HERE / "python_modules" / "new.py").write_text("no")),
        "tmp": _attempt(lambda: Path("/tmp/new.txt").write_text("yes")),
    }


def import_with_prefix(worker, query):
    try:
        importlib.import_module("src.pack")
    except ModuleNotFoundError as error:
        return {"name": error.name}
    return {}


def draws(worker, query):
    import random
    import uuid

    return {"random": random.random(), "uuid": str(uuid.uuid4()), "year": time.gmtime().tm_year}


async def bind(worker, query):
    db = worker.env.DB
    row = (
        await db.prepare("SELECT typeof(?1) AS whole, typeof(?2) AS listed").bind(5, [1, 2]).first()
    )
    await db.prepare("INSERT INTO numbers VALUES (?1, ?1, ?1)").bind(5).run()
    kept = await db.prepare("SELECT typeof(whole) AS whole, words FROM numbers LIMIT 1").first()
    big = _attempt(lambda: db.prepare("SELECT ?1").bind(2**60))
    return {"bound": dict(row), "kept": dict(kept), "big": big}


async def send(worker, query):
    await worker.env.WORK.sendBatch([{"body": body} for body in json.loads(query["bodies"])])
    return {}


async def long_delays(worker, query):
    work = worker.env.WORK
    return {
        "send": await _attempt_later(work.send({"n": 1}, delaySeconds=86_401)),
        "send_batch": await _attempt_later(
            work.sendBatch([{"body": {"n": 1}, "delaySeconds": 86_401}])
        ),
    }


async def drop_task(worker, query):
    asyncio.create_task(_note_later(worker, 0.2, "dropped", query["mark"]))  # noqa: RUF006
    return {}


async def keep_task(worker, query):
    worker.ctx.waitUntil(_note_later(worker, 0.6, "kept", query["mark"]))
    return {}


async def keep_by_function(worker, query):
    wait_until(_note_later(worker, 0.1, "kept_by_function", query["mark"]))
    return {}


async def wait_for_bell(worker, query):
    await BELL.wait()
    return {}


def ring_bell(worker, query):
    BELL.set()
    BELL.clear()
    return {}


async def hold_lock(worker, query):
    async with LOCK:
        await asyncio.sleep(1)
    return {}


async def stream(worker, query):
    pipe = js.IdentityTransformStream.new()
    worker.ctx.waitUntil(_feed(pipe.writable.getWriter()))
    return Response(pipe.readable, headers={"content-type": "text/plain"})


async def call_back(worker, query):
    back = worker.env.BACK
    return {
        "echo": await back.echo({"a": [1, None, "x"]}, [True], None),
        "keywords": await back.keywords(a=1, b="two"),
        "sync": await back.plain(3),
        "desk": await worker.env.DESK.greet("you"),
        "raises": await _attempt_later(back.explode()),
        "missing": await _attempt_later(back.no_such_method()),
    }


async def call_bare(worker, query):
    return {"bare": await _attempt_later(worker.env.BARE.fetch("http://bare/"))}


async def start_flow(worker, query):
    await worker.env.FLOW.create({"id": query["id"], "params": {"mode": query["mode"]}})
    return {}


async def put_blob(worker, query):
    await worker.env.BLOBS.put(query["key"], query["text"])
    return {}


async def shout(worker, query):
    for _ in range(int(query["lines"])):
        print("a" * 1000)  # noqa: T201 - the log is what is tried
    return {}


async def allocate(worker, query):
    STATE["interpreter"] = "has allocated"
    block = bytearray(int(query["megabytes"]) * 1024 * 1024)
    return {"bytes": len(block)}


def interpreter(worker, query):
    return {"interpreter": STATE["interpreter"]}


async def burn(worker, query):
    until = time.perf_counter() + float(query["seconds"])
    while time.perf_counter() < until:
        pass
    return {}


async def work_on(worker, query):
    """Never ends: writes rows, calls a server, and would write once more in a finally."""
    STATE["interpreter"] = "was working"
    asyncio.create_task(_call_on(query["server"]))  # noqa: RUF006
    try:
        while True:
            await _note(worker, "working", query["mark"])
            await asyncio.sleep(0.02)
    finally:
        await _note(worker, "finally", query["mark"])


async def call_with(worker, query):
    await fetch(query["server"], headers={"x-mark": query["mark"]})
    await _note(worker, "answered", query["mark"])
    return {}


def abort(worker, query):
    STATE["interpreter"] = "has aborted"
    os.abort()


def explode(worker, query):
    raise LookupError("front went wrong")


def not_a_response(worker, query):
    return "text"


async def speak(worker, query):
    import logging

    print("printed", query["mark"])  # noqa: T201
    logging.warning("warned %s", query["mark"])
    logging.info("informed %s", query["mark"])
    return {}


async def _call_on(server):
    while True:
        await fetch(server)
        await asyncio.sleep(0.02)


async def _feed(writer):
    for number in range(3):
        await asyncio.sleep(0.01)
        await writer.write(js.TextEncoder.new().encode(f"{number};"))
    await writer.close()


async def _note(worker, kind, text):
    sql = "INSERT INTO notes (kind, text) VALUES (?1, ?2)"
    await worker.env.DB.prepare(sql).bind(kind, text).run()


async def _note_later(worker, seconds, kind, text):
    await asyncio.sleep(seconds)
    await _note(worker, kind, text)


def _attempt(work):
    try:
        work()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "allowed"


async def _attempt_later(awaitable):
    try:
        await awaitable
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "allowed"


PROBES = {
    name: value for name, value in globals().items() if callable(value) and not name.startswith("_")
}


class Default(WorkerEntrypoint):
    def __init__(self, ctx, env):
        super().__init__(ctx, env)
        STATE["instances"] += 1

    async def fetch(self, request):
        asked = urlparse(request.url)
        query = {name: values[-1] for name, values in parse_qs(asked.query).items()}
        found = PROBES[asked.path.strip("/")](self, query)
        if asyncio.iscoroutine(found):
            found = await found
        if isinstance(found, dict):
            return Response.json(found)
        return found
