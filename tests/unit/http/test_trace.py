"""The names of a request: taken over when they are fit, minted when not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.http.factories import KINDS, PATIENT
from tests.unit.http.world import World
from uketsuke.http.trace import request_id, trace_id, traceparent

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
def test_a_valid_traceparent_is_taken_over(world: World, sent: str, taken: str) -> None:
    assert traceparent({"traceparent": sent}, ports=world.ports) == taken
    assert trace_id(taken) == TRACE


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
    minted = traceparent({"traceparent": sent}, ports=world.ports)

    assert TRACE not in minted
    assert traceparent({"traceparent": minted}, ports=world.ports) == minted


@PATIENT
@given(sent=st.text())
def test_whatever_is_sent_the_trace_is_valid(sent: str) -> None:
    ports = World(kinds=KINDS).ports
    once = traceparent({"traceparent": sent}, ports=ports)

    assert traceparent({"traceparent": once}, ports=ports) == once
