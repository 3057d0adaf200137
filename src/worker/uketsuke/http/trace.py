"""The names of a request: its id, and its place in a trace (W3C Trace Context)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from uketsuke.domain.ids import RANDOM_BYTES, time_sorted_id
from uketsuke.services.ports import Ports

_REQUEST_ID: Final = re.compile(r"[A-Za-z0-9._:-]{1,128}")
# Later versions may add fields behind a dash; version ff is none.
_TRACEPARENT: Final = re.compile(
    r"(?!ff)(?P<version>[0-9a-f]{2})-(?!0{32})(?P<trace>[0-9a-f]{32})"
    r"-(?!0{16})(?P<parent>[0-9a-f]{16})-(?P<flags>[0-9a-f]{2})(?P<more>-.*)?"
)


def request_id(headers: Mapping[str, str], *, ports: Ports) -> str:
    """Return the id that the caller gave the request, if it is fit for a log, or a new one."""
    given = headers.get("x-request-id", "")
    if _REQUEST_ID.fullmatch(given):
        return given
    now_ms = int(ports.clock.now().timestamp() * 1000)
    return time_sorted_id("req", now_ms=now_ms, entropy=ports.dice.entropy(RANDOM_BYTES))


def traceparent(headers: Mapping[str, str], *, ports: Ports) -> str:
    """Return the caller's place in its trace, as version 00 writes it, or begin a trace.

    What is not valid is ignored, as the standard asks.
    """
    found = _TRACEPARENT.fullmatch(headers.get("traceparent", "").strip())
    if found is None or (found["version"] == "00" and found["more"]):
        # Not sampled: nothing of ours records spans, and nobody asked for it.
        return f"00-{ports.dice.entropy(16).hex()}-{ports.dice.entropy(8).hex()}-00"
    return f"00-{found['trace']}-{found['parent']}-{found['flags']}"


def trace_id(parent: str) -> str:
    """Return the trace's own name."""
    return parent.split("-")[1]
