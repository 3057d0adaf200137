"""The consumer's handlers where their deployment is set up wrongly.

No stack starts with such settings, so the handlers themselves are run here, outside the runtime:
what it gives them (``js``, ``pyodide``, a batch) is played by plain objects, all else is ours.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
HOUR = 3600

_RUNTIME = """
import asyncio, json, sys, types

class JsException(Exception): ...
class JsProxy: ...

js, pyodide, ffi = (types.ModuleType(name) for name in ("js", "pyodide", "pyodide.ffi"))
js.Object = types.SimpleNamespace(
    keys=lambda raw: list(vars(raw)),
    hasOwn=lambda raw, name: hasattr(raw, name),
    fromEntries=dict,
)
js.JSON = types.SimpleNamespace(stringify=json.dumps, parse=json.loads)
ffi.JsException, ffi.JsProxy = JsException, JsProxy
ffi.__getattr__ = lambda name: None  # the rest is not come by
sys.modules |= {"js": js, "pyodide": pyodide, "pyodide.ffi": ffi}

class Message:
    def __init__(self, number, body):
        self.id, self.attempts = f"m-{number}", number
        self._binding = types.SimpleNamespace(body=body)
        self.verdicts = []

    def ack(self):
        self.verdicts.append("ack")

    def retry(self, *, delaySeconds):
        self.verdicts.append(delaySeconds)

from uketsuke.handlers.dead_letter_queue import handle_dead_batch
from uketsuke.handlers.queue import handle_batch
from uketsuke.handlers.scheduled import handle_tick
from uketsuke.handlers.workflow import handle_instance
from uketsuke.settings import BadSettings

asked = json.load(sys.stdin)
messages = [Message(number, body) for number, body in enumerate(asked["bodies"], 1)]
batch = types.SimpleNamespace(queue="uketsuke-jobs-dlq", messages=messages)
env = types.SimpleNamespace(_env=types.SimpleNamespace(**asked["env"]))
came_in = {
    "dead": lambda: handle_dead_batch(batch, env),
    "batch": lambda: handle_batch(batch, env),
    "tick": lambda: handle_tick(env),
    "instance": lambda: handle_instance({"payload": {}}, None, env),
}
try:
    asyncio.run(came_in[asked["handler"]]())
except BadSettings:
    assert asked["handler"] == "instance"
print(json.dumps([message.verdicts for message in messages]))
"""


def handled(
    bodies: list[object], handler: str = "dead", **env: str
) -> tuple[list[Any], dict[str, Any]]:
    """Let something come in and return the verdicts on each message, and the one log line."""
    done = subprocess.run(
        [sys.executable, "-c", _RUNTIME],
        input=json.dumps({"bodies": bodies, "handler": handler, "env": env}),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        cwd=ROOT / "src/worker",
    )
    assert done.returncode == 0, done.stderr
    line, verdicts = map(json.loads, done.stdout.splitlines())
    return verdicts, line


@pytest.mark.parametrize(
    ("env", "told"),
    [
        ({"LEASE_SECONDS": "soon"}, "bad_settings"),
        ({}, "bad_settings"),
        ({"MODEL_BASE_URL": "http://127.0.0.1:1/v1", "MODEL_API_KEY": "k"}, "unexpected_error"),
    ],
    ids=["a setting makes no sense", "what work needs is not set", "a binding is missing"],
)
def test_where_the_deployment_is_wrong_each_message_comes_again_in_an_hour(
    env: dict[str, str], told: str
) -> None:
    verdicts, line = handled(["garbage", {"v": 1}, None], **env)

    assert verdicts == [[HOUR]] * 3
    assert (line["event"], line["level"]) == (told, "error")


@pytest.mark.parametrize("handler", ["batch", "tick", "instance"])
def test_whatever_comes_in_a_wrong_deployment_is_told_in_one_line_and_no_message_is_lost(
    handler: str,
) -> None:
    verdicts, line = handled(["garbage"] * (handler == "batch"), handler, LEASE_SECONDS="soon")

    assert verdicts == [[60]] * (handler == "batch")
    assert line["event"] == "bad_settings"
    assert "LEASE_SECONDS" in line["error_code"]
    assert "soon" not in line["error_code"]
