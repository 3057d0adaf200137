"""The border between Python and the runtime's JavaScript: the only place that knows raw objects.

The SDK's wrappers convert value by value, which halves the rate of an accept; here whatever
crosses does so once, as one object or one JSON text. ``_env`` and ``_binding`` are private in
workers-runtime-sdk 1.9.5: the version is pinned, and tests of the running stack fail if they go.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Mapping
from typing import Any

import js
from pyodide.ffi import JsException, JsProxy, jsnull, to_js

from uketsuke.services.ports import Unavailable

JsError = JsException

# What D1 says when the statement is wrong, not the weather: trying again would not help.
_OUR_FAULT = (
    "SQLITE_CONSTRAINT",
    "SQLITE_ERROR",
    "SQLITE_MISMATCH",
    "D1_TYPE_ERROR",
    "D1_EXEC_ERROR",
)


class StatementRefused(Exception):
    """The database refused a statement for what it says: a fault of ours."""


def raw_binding(env: Any, name: str) -> Any:
    """Return a binding without the SDK's wrapper."""
    return getattr(env._env, name)


def is_bound(env: Any, name: str) -> bool:
    return bool(js.Object.hasOwn(env._env, name))


def raw(wrapped: Any) -> Any:
    """Return the JavaScript object in a wrapper of the SDK's."""
    return wrapped._binding


def variables(env: Any) -> Mapping[str, object]:
    """Return the Worker's plain variables and secrets by name; bindings are left out."""
    raw = env._env
    found = {str(name): getattr(raw, str(name)) for name in js.Object.keys(raw)}
    return {name: value for name, value in found.items() if not isinstance(value, JsProxy)}


def to_object(value: object) -> Any:
    """Turn nested mappings and sequences into plain JavaScript objects and arrays."""
    return to_js(value, dict_converter=js.Object.fromEntries)


def to_json_object(value: object) -> Any:
    """Turn a JSON document into JavaScript, in one crossing; null stays null."""
    return js.JSON.parse(json.dumps(value))


def from_json(value: Any) -> Any:
    """Bring a JavaScript value over as JSON, in one crossing."""
    return json.loads(to_json(value))


def to_json(value: Any) -> str:
    """Write a JavaScript value as JSON; what JSON has no word for gives no JSON."""
    return str(js.JSON.stringify(value))


def or_null(value: object) -> object:
    return jsnull if value is None else value


def is_nothing(value: object) -> bool:
    return value is None or value is jsnull


def to_bytes(array_buffer: Any) -> bytes:
    return view_bytes(js.Uint8Array.new(array_buffer))


def view_bytes(array: Any) -> bytes:
    """Copy a typed array's bytes over."""
    return bytes(array.to_bytes())


def headers_of(message: Any) -> Mapping[str, str]:
    """Return the headers of a raw Request or Response; names in lower case."""
    pairs = from_json(js.Array.from_(message.headers))
    return {name.lower(): value for name, value in pairs}


def from_bytes(content: bytes) -> Any:
    return to_js(content)


async def patiently(answer: Awaitable[Any]) -> Any:
    """Wait for a binding's answer, but not for ever. Raises ``Unavailable``, and what it raises.

    A binding has been seen to stay silent for a minute and more; whoever waits for one longer than
    D1 lets a query run (30 s) would hold its whole event up until the platform ends it.
    """
    try:
        async with asyncio.timeout(_PATIENCE_SECONDS):
            return await answer
    except TimeoutError:
        raise Unavailable("a service of the platform did not answer") from None


_PATIENCE_SECONDS = 30


def translate(error: JsException) -> Exception:
    """Turn a binding's error into ours. Its text may quote what was bound: it is not kept."""
    text = str(error)
    if any(mark in text for mark in _OUR_FAULT):
        return StatementRefused("the database refused a statement")
    return Unavailable("a service of the platform failed")
