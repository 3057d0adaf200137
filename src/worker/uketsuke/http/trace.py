"""The names of a request: its id, and its place in a trace (W3C Trace Context)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from uketsuke.domain.ids import RANDOM_BYTES, time_sorted_id
from uketsuke.domain.trace import SPAN_BYTES, TRACE_BYTES, Span, read_traceparent
from uketsuke.services.ports import Ports

_REQUEST_ID: Final = re.compile(r"[A-Za-z0-9._:-]{1,128}")


def request_id(headers: Mapping[str, str], *, ports: Ports) -> str:
    """Return the id that the caller gave the request, if it is fit for a log, or a new one."""
    given = headers.get("x-request-id", "")
    if _REQUEST_ID.fullmatch(given):
        return given
    now_ms = int(ports.clock.now().timestamp() * 1000)
    return time_sorted_id("req", now_ms=now_ms, entropy=ports.dice.entropy(RANDOM_BYTES))


def request_span(headers: Mapping[str, str], *, ports: Ports) -> Span:
    """Return the request's own span, within the caller's if it names one, else in a new trace.

    What is not valid is ignored, as the standard asks. A ``tracestate`` goes no further: it is any
    text of the caller's, and would end up in rows and at the provider.
    """
    above = read_traceparent(headers.get("traceparent"))
    own = ports.dice.entropy(SPAN_BYTES)
    return above.child(own) if above else Span.first(ports.dice.entropy(TRACE_BYTES), own)
