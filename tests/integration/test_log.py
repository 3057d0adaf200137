"""One job followed by the log alone, from the caller's header to the provider's, on both."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pytest

from tests.acceptance.runs import BRIEF
from tests.support.jobs import TEXT, ended
from tests.support.running import Stack, until
from uketsuke.telemetry import EVENTS, Fields

Line = Mapping[str, Any]
FAILED: Final = {"status": 503}


@dataclass(frozen=True, kw_only=True)
class Caller:
    """Somebody with a trace, into which the job belongs."""

    trace_id: str
    span_id: str

    @property
    def traceparent(self) -> str:
        return f"00-{self.trace_id}-{self.span_id}-01"


@pytest.fixture
def caller() -> Caller:
    return Caller(trace_id=secrets.token_hex(16), span_id=secrets.token_hex(8))


def worked(stack: Stack, caller: Caller, text: str) -> dict[str, Any]:
    """Have a text summarized whose first call fails once."""
    stack.order(count=1, match={"traceparent": caller.traceparent}, **FAILED)
    with stack.api(stack.tenant()) as api:
        asked = {"kind": "summarize", "input": {"text": text}}
        answer = api.post("/v1/jobs", json=asked, headers={"traceparent": caller.traceparent})
        assert answer.status_code == 202, answer.text
        return ended(api, answer.json())


def trace_in(log: str, caller: Caller) -> Sequence[Line]:
    """Return the lines within the caller's trace, each held to what a line may be."""
    said = (line.partition("] ")[2] for line in log.splitlines() if caller.trace_id in line)
    lines: list[Line] = [json.loads(line) for line in said]
    for line in lines:
        assert line["level"] == EVENTS[line["event"]].level
        assert line.keys() <= {"event", "level", *Fields.__annotations__}
    return lines


def told(stack: Stack, caller: Caller) -> Sequence[Line]:
    """Return the lines of the caller's trace, once the job's end is among them."""

    def look() -> Sequence[Line]:
        lines = trace_in(stack.log, caller)
        return lines if any(line["event"] == "job_succeeded" for line in lines) else []

    return until(look)


def calls_of(stack: Stack, caller: Caller) -> Sequence[str]:
    """Return the spans that the provider was told of, in its own journal."""
    with stack.models() as models:
        found = [call["traceparent"] or "" for call in models.get("/requests").json()["items"]]
    return [parent.split("-")[2] for parent in found if caller.trace_id in parent]


def names(lines: Sequence[Line], *, without: Sequence[str] = ()) -> Sequence[str]:
    return [line["event"] for line in lines if line["event"] not in without]


def one(lines: Sequence[Line], event: str) -> Line:
    (found,) = [line for line in lines if line["event"] == event]
    return found


def test_a_job_of_the_queue_is_followed_from_the_callers_span_to_the_providers(
    stack: Stack, caller: Caller
) -> None:
    job = worked(stack, caller, TEXT)

    lines = told(stack, caller)
    asked, calls = one(lines, "request_answered"), calls_of(stack, caller)
    life = [line for line in lines if line is not asked]
    assert names(life) == [
        "job_accepted",
        "job_leased", "provider_called", "job_retrying",
        "job_leased", "provider_called", "job_succeeded",
    ]  # fmt: skip
    accepted, first, failed, retrying, second, _, done = life
    assert {line["job_id"] for line in life} == {job["id"]}
    assert job["trace_id"] == caller.trace_id
    assert asked["parent_id"] == caller.span_id
    assert accepted["span_id"] == first["parent_id"] == second["parent_id"] == asked["span_id"]
    assert (first["span_id"], second["span_id"]) == (retrying["span_id"], done["span_id"])
    assert [line["span_id"] for line in lines if line["event"] == "provider_called"] == calls
    assert failed["parent_id"] == first["span_id"]
    assert (failed["error.type"], retrying["error_code"]) == ("provider_unavailable",) * 2
    assert (first["delivery"], first["messaging.destination.name"]) == (1, "uketsuke-jobs")
    assert done["provider_ms"] <= done["duration_ms"]
    assert 1 <= asked["d1.calls"] <= 2  # the key may be known already
    assert asked["d1.rows_written"] >= 1
    assert asked["d1.rows_read"] >= 1


def test_a_run_on_a_workflow_is_followed_from_the_callers_span_to_the_providers(
    stack: Stack, caller: Caller
) -> None:
    job = worked(stack, caller, BRIEF)

    lines = told(stack, caller)
    asked, calls = one(lines, "request_answered"), calls_of(stack, caller)
    begun, done = one(lines, "job_leased"), one(lines, "job_succeeded")
    life = names(lines, without=["request_answered", "provider_called"])
    # The API's lines and the instance's come from two Workers, in whatever order.
    assert sorted(life) == ["job_accepted", "job_leased", "job_succeeded", "run_began"]
    assert {line["job_id"] for line in lines if line is not asked} == {job["id"]}
    assert begun["parent_id"] == one(lines, "job_accepted")["span_id"] == asked["span_id"]
    assert begun["span_id"] == one(lines, "run_began")["span_id"] == done["span_id"]
    made = [line for line in lines if line["event"] == "provider_called"]
    assert [line["span_id"] for line in made] == calls
    assert {line["parent_id"] for line in made} == {done["span_id"]}
    assert [line.get("error.type") for line in made] == ["provider_unavailable", *[None] * 4]
    assert len(lines) == 5 + len(made)  # as docs/logs.md reckons them
