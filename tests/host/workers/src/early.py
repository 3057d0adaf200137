"""What happens while the Worker starts, written down at import and shown later."""

import asyncio
import datetime
import hashlib
import os
import queue
import random
import secrets
import sys
import time
import uuid

import js
import msgspec
from workers import env, fetch


def _attempt(work):
    try:
        return f"allowed: {work()!r}"
    except BaseException as error:
        return f"{type(error).__name__}: {error}"


def _run(coroutine):
    return asyncio.run(coroutine)


async def _fetch():
    await fetch("http://127.0.0.1:9/")


ATTEMPTS = {
    "random": lambda: random.random(),
    "random_choice": lambda: random.choice([1, 2]),
    "new_generator": lambda: random.Random(),
    "seeded_generator": lambda: random.Random(7).randint(1, 100),
    "uuid4": lambda: uuid.uuid4(),
    "uuid5": lambda: uuid.uuid5(uuid.NAMESPACE_DNS, "example.org"),
    "secrets": lambda: secrets.token_hex(4),
    "urandom": lambda: os.urandom(4),
    "web_crypto": lambda: js.crypto.randomUUID(),
    "sha256": lambda: hashlib.sha256(b"x").hexdigest()[:8],
    "sleep": lambda: time.sleep(0.01),
    "asyncio_sleep": lambda: _run(asyncio.sleep(0.01)),
    "asyncio_sleep_zero": lambda: _run(asyncio.sleep(0)),
    "fetch": lambda: _run(_fetch()),
    "lock": lambda: type(asyncio.Lock()).__name__,
    "env": lambda: env.GREETING,
}

SEEN = {name: _attempt(work) for name, work in ATTEMPTS.items()}
CLOCK = {
    "now": datetime.datetime.now(tz=datetime.UTC).isoformat(),
    "monotonic": time.monotonic(),
}
PLACES = {
    "path": list(sys.path),
    "main": sys.modules["front"].__file__,
    "queue": queue.__file__,
    "msgspec": msgspec.__file__,
    "working_folder": os.getcwd(),
    "pth_files_are_processed": "_workers_sdk_patch_loader" in sys.modules,
}
