"""The names of a request: taken over when they are fit, minted when not."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.http.factories import KINDS
from tests.unit.http.world import World
from uketsuke.domain.trace import read_traceparent
from uketsuke.http.trace import request_id, request_span

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
PARENT = f"00-{TRACE}-00f067aa0ba902b7-01"


@pytest.mark.parametrize("sane", ["a", "req-1", "A.b_c:9", "x" * 128])
def test_a_sane_request_id_is_taken_over(world: World, sane: str) -> None:
    assert request_id({"x-request-id": sane}, ports=world.ports) == sane


@pytest.mark.parametrize("odd", [None, "", "a b", "x" * 129, "é", "a\nb", '{"a"}'])
def test_another_one_is_replaced(world: World, odd: str | None) -> None:
    headers = {} if odd is None else {"x-request-id": odd}

    assert request_id(headers, ports=world.ports).startswith("req_")


def test_minted_request_ids_differ(world: World) -> None:
    assert request_id({}, ports=world.ports) != request_id({}, ports=world.ports)


@pytest.mark.parametrize(
    ("sent", "taken"),
    [
        (PARENT, PARENT),
        (f" {PARENT} ", PARENT),
        (f"00-{TRACE}-00f067aa0ba902b7-00", f"00-{TRACE}-00f067aa0ba902b7-00"),
        (f"01-{TRACE}-00f067aa0ba902b7-01", PARENT),  # a later version is read as far as we can
        (f"cc-{TRACE}-00f067aa0ba902b7-01-more", PARENT),
    ],
)
def test_a_request_is_a_span_within_the_one_that_a_valid_traceparent_names(
    world: World, sent: str, taken: str
) -> None:
    above = read_traceparent(taken)
    assert above is not None

    span = request_span({"traceparent": sent}, ports=world.ports)

    assert (span.trace_id, span.parent_id, span.flags) == (TRACE, above.span_id, above.flags)
    assert span.span_id != above.span_id
    assert read_traceparent(span.traceparent) == replace(span, parent_id=None)


@pytest.mark.parametrize(
    "sent",
    [
        "",
        "garbage",
        PARENT.upper(),
        f"ff-{TRACE}-00f067aa0ba902b7-01",
        f"00-{'0' * 32}-00f067aa0ba902b7-01",
        f"00-{TRACE}-{'0' * 16}-01",
        f"00-{TRACE}-00f067aa0ba902b7",
        f"{PARENT}-more",
        f"01-{TRACE}-00f067aa0ba902b7-01more",
        f"{PARENT}, {PARENT}",
    ],
)
def test_an_invalid_traceparent_is_ignored_and_a_trace_begun(world: World, sent: str) -> None:
    minted = request_span({"traceparent": sent}, ports=world.ports)

    assert minted.trace_id != TRACE
    assert (minted.parent_id, minted.flags) == (None, "00")
    assert read_traceparent(minted.traceparent) == minted


@given(sent=st.text())
def test_whatever_is_sent_the_trace_is_valid(sent: str) -> None:
    ports = World(kinds=KINDS).ports
    span = request_span({"traceparent": sent}, ports=ports)

    assert read_traceparent(span.traceparent) == replace(span, parent_id=None)


def test_what_the_caller_keeps_in_a_tracestate_goes_no_further(world: World) -> None:
    span = request_span({"traceparent": PARENT, "tracestate": "rojo=secret"}, ports=world.ports)

    assert "secret" not in repr(span) + span.traceparent
