"""Where a piece of work stands in a trace, as W3C Trace Context writes it.

A request, an attempt and a call of a model are a span each, one begotten by the other. An attempt's
is reckoned, not drawn: whoever tells of it (its holder, or the sweep after its death) names the
same one, and no row has to keep it.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import Final, Self

# Later versions may add fields behind a dash; version ff is none.
_TRACEPARENT: Final = re.compile(
    r"(?!ff)(?P<version>[0-9a-f]{2})-(?!0{32})(?P<trace>[0-9a-f]{32})"
    r"-(?!0{16})(?P<parent>[0-9a-f]{16})-(?P<flags>[0-9a-f]{2})(?P<more>-.*)?"
)
TRACE_BYTES: Final = 16
SPAN_BYTES: Final = 8
# Not sampled: nothing of ours records spans, and nobody asked for it.
_NOT_SAMPLED: Final = "00"


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """One span of a trace. ``parent_id`` None: it is the first, or the one above is not known."""

    trace_id: str
    span_id: str
    parent_id: str | None
    flags: str

    @classmethod
    def first(cls, trace_entropy: bytes, span_entropy: bytes) -> Self:
        """Begin a trace."""
        return cls(
            trace_id=trace_entropy.hex(),
            span_id=span_entropy.hex(),
            parent_id=None,
            flags=_NOT_SAMPLED,
        )

    def child(self, span_entropy: bytes) -> Span:
        """Return a span within this one."""
        return Span(
            trace_id=self.trace_id,
            span_id=span_entropy.hex(),
            parent_id=self.span_id,
            flags=self.flags,
        )

    @property
    def traceparent(self) -> str:
        """The span as it is handed on, as version 00 writes it."""
        return f"00-{self.trace_id}-{self.span_id}-{self.flags}"


def read_traceparent(text: str | None) -> Span | None:
    """Read the span that handed the work on; None for what is not valid, as the standard asks."""
    found = _TRACEPARENT.fullmatch((text or "").strip())
    if found is None or (found["version"] == "00" and found["more"]):
        return None
    return Span(
        trace_id=found["trace"], span_id=found["parent"], parent_id=None, flags=found["flags"]
    )


def attempt_span(traceparent: str | None, *, job_id: str, attempt: int) -> Span | None:
    """Return the span of a job's attempt, within that of the request which the row has kept."""
    asked = read_traceparent(traceparent)
    if asked is None:
        return None
    named = hashlib.sha256(f"{job_id}-{attempt}".encode()).digest()
    return asked.child(named[:SPAN_BYTES])
