"""Submitting: what is sent, what is sent again, and that it is then the same submission."""

from __future__ import annotations

from email.utils import formatdate

import pytest

from tests.client.scripted import JOB_ID, KEY, Answer, ScriptedServer, ToldClock, job, problem
from uketsuke_client import Accepted, ApiError, Client, InputRef, Job, Unreachable, Unsendable

A_TEXT = {"text": "The desk opens at six."}
ACCEPTED = Answer(status=202, body=job("accepted"), headers={"location": f"/v1/jobs/{JOB_ID}"})


def submitted(server: ScriptedServer, clock: ToldClock) -> Accepted:
    with Client(server.url, KEY, clock=clock.as_clock()) as client:
        return client.submit("summarize", input=A_TEXT)


def test_a_submission_sends_only_what_was_given(server: ScriptedServer, clock: ToldClock) -> None:
    server.answers("POST", "/v1/jobs", ACCEPTED)

    submitted(server, clock)

    (request,) = server.received
    assert request.json == {"kind": "summarize", "input": A_TEXT}
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.headers["content-type"] == "application/json"


def test_every_member_that_is_given_is_sent(server: ScriptedServer) -> None:
    server.answers("POST", "/v1/jobs", ACCEPTED)

    with Client(server.url, KEY) as client:
        client.submit(
            "summarize",
            input=InputRef.from_json({"ref": "in_1"}),
            params={"max_words": 80},
            run_key="daily",
            on_conflict="return",
            max_attempts=2,
            deadline_seconds=60,
            max_cost_usd="0.01",
            metadata={"ticket": "42"},
        )

    assert server.received[0].json == {
        "kind": "summarize",
        "input": {"ref": "in_1"},
        "params": {"max_words": 80},
        "run_key": "daily",
        "on_conflict": "return",
        "max_attempts": 2,
        "deadline_seconds": 60,
        "max_cost_usd": "0.01",
        "metadata": {"ticket": "42"},
    }


def test_uploads_and_jobs_together_are_sent_as_refs(server: ScriptedServer) -> None:
    server.answers("POST", "/v1/jobs", ACCEPTED)
    upload, source = InputRef.from_json({"ref": "in_1"}), Job.from_json(job("succeeded"))

    with Client(server.url, KEY) as client:
        client.submit("report", input=[upload, source])

    assert server.received[0].json == {"kind": "report", "input": {"refs": ["in_1", JOB_ID]}}


def test_the_202_is_told_with_the_job(server: ScriptedServer, clock: ToldClock) -> None:
    replayed = {"idempotency-replayed": "true", "x-request-id": "req_7", **ACCEPTED.headers}
    server.answers("POST", "/v1/jobs", Answer(status=202, body=job(), headers=replayed))

    accepted = submitted(server, clock)

    assert accepted.id == JOB_ID
    assert accepted.location == f"/v1/jobs/{JOB_ID}"
    assert accepted.replayed
    assert accepted.request_id == "req_7"
    assert server.received[0].headers["idempotency-key"] == f'"{accepted.idempotency_key}"'


def test_two_submissions_have_two_keys(server: ScriptedServer, clock: ToldClock) -> None:
    server.answers("POST", "/v1/jobs", ACCEPTED)

    first, second = submitted(server, clock), submitted(server, clock)

    assert first.idempotency_key != second.idempotency_key


@pytest.mark.parametrize(
    "setback",
    [
        pytest.param(Answer(dropped=True), id="the connection is lost"),
        pytest.param(problem(503, "unavailable"), id="503"),
        pytest.param(problem(429, "rate_limited"), id="429"),
        pytest.param(Answer(status=502, body=b"<html>"), id="502"),
        pytest.param(Answer(status=504, body=b"<html>"), id="504"),
    ],
)
def test_a_submission_is_sent_again_as_the_very_same(
    server: ScriptedServer, clock: ToldClock, setback: Answer
) -> None:
    server.answers("POST", "/v1/jobs", setback, setback, ACCEPTED)

    accepted = submitted(server, clock)

    assert accepted.id == JOB_ID
    assert len(server.received) == 3
    assert len({request.headers["idempotency-key"] for request in server.received}) == 1
    assert len({request.body for request in server.received}) == 1


# The server's clock is nowhere near the client's: its own Date tells what its date means.
SERVER_TIME = 1_900_000_000.0
IN_SECONDS = {"retry-after": "7"}
AS_A_DATE = {
    "retry-after": formatdate(SERVER_TIME + 7, usegmt=True),
    "date": formatdate(SERVER_TIME, usegmt=True),
}


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize("headers", [IN_SECONDS, AS_A_DATE], ids=["seconds", "date"])
def test_the_wait_that_the_server_asks_for_is_kept(
    server: ScriptedServer, clock: ToldClock, headers: dict[str, str], status: int
) -> None:
    server.answers("POST", "/v1/jobs", problem(status, "unavailable", headers=headers), ACCEPTED)

    submitted(server, clock)

    assert clock.pauses == [7.0]


def test_waits_without_advice_grow_and_are_jittered(
    server: ScriptedServer, clock: ToldClock
) -> None:
    server.answers("POST", "/v1/jobs", *[problem(503, "unavailable")] * 3, ACCEPTED)

    with Client(server.url, KEY, clock=clock.as_clock(draw=0.5)) as client:
        client.submit("summarize", input=A_TEXT)

    assert clock.pauses == [0.125, 0.25, 0.5]


def test_a_wait_longer_than_the_patience_is_told_and_not_waited(
    server: ScriptedServer, clock: ToldClock
) -> None:
    server.answers(
        "POST", "/v1/jobs", problem(429, "quota_exceeded", headers={"retry-after": "3600"})
    )

    with pytest.raises(ApiError) as caught:
        submitted(server, clock)

    assert caught.value.retry_after == 3600.0
    assert caught.value.code == "quota_exceeded"
    assert clock.pauses == []


def test_a_refused_submission_is_not_sent_again(server: ScriptedServer, clock: ToldClock) -> None:
    faults = [
        {"pointer": "/input/text", "code": "empty", "detail": "must not be empty"},
        {"pointer": "/params/max_words", "code": "out_of_range", "detail": "must be 10 to 1000"},
    ]
    server.answers("POST", "/v1/jobs", problem(400, "invalid_request", errors=faults))

    with pytest.raises(ApiError) as caught:
        submitted(server, clock)

    assert len(server.received) == 1
    assert (caught.value.status, caught.value.code) == (400, "invalid_request")
    assert [fault.pointer for fault in caught.value.errors] == [
        "/input/text",
        "/params/max_words",
    ]
    assert caught.value.request_id == "req_1"


def test_an_unanswered_submission_tells_the_key_to_repeat_it_with(clock: ToldClock) -> None:
    with ScriptedServer() as gone:
        url = gone.url

    with (
        Client(url, KEY, clock=clock.as_clock(draw=0.9)) as client,
        pytest.raises(Unreachable) as caught,
    ):
        client.submit("summarize", input=A_TEXT, idempotency_key="mine")

    assert caught.value.idempotency_key == "mine"
    assert sum(clock.pauses) <= 30.0
    assert len(clock.pauses) > 3


def test_a_key_with_quotes_arrives_as_a_structured_field_string(server: ScriptedServer) -> None:
    server.answers("POST", "/v1/jobs", ACCEPTED)

    with Client(server.url, KEY) as client:
        client.submit("summarize", input=A_TEXT, idempotency_key='a "b" \\ c')

    assert server.received[0].headers["idempotency-key"] == '"a \\"b\\" \\\\ c"'


@pytest.mark.parametrize("key", ["受付", "a\nb", "x" * 201])
def test_a_key_that_no_header_can_carry_is_not_sent(server: ScriptedServer, key: str) -> None:
    with Client(server.url, KEY) as client, pytest.raises(Unsendable):
        client.submit("summarize", input=A_TEXT, idempotency_key=key)

    assert server.received == []


def test_text_that_has_no_utf8_arrives_for_the_server_to_judge(server: ScriptedServer) -> None:
    server.answers("POST", "/v1/jobs", ACCEPTED)

    with Client(server.url, KEY) as client:
        client.submit("summarize", input={"text": "a\ud800b\x00c"})

    assert server.received[0].json["input"]["text"] == "a\ud800b\x00c"


def test_japanese_is_sent_as_utf8_and_not_doubled_by_escapes(server: ScriptedServer) -> None:
    server.answers("POST", "/v1/jobs", ACCEPTED)

    with Client(server.url, KEY) as client:
        client.submit("summarize", input={"text": "受付"})

    assert "受付".encode() in server.received[0].body


def test_what_has_no_json_is_not_sent(server: ScriptedServer) -> None:
    with Client(server.url, KEY) as client, pytest.raises(Unsendable):
        client.submit("summarize", input=A_TEXT, params={"max_words": float("nan")})

    assert server.received == []


def test_members_that_this_client_does_not_know_are_kept_and_harmless(
    server: ScriptedServer, clock: ToldClock
) -> None:
    body = job("accepted", priority="high", progress="soon", usage=[], created_at="yesterday")
    server.answers("POST", "/v1/jobs", Answer(status=202, body=body))

    accepted = submitted(server, clock)

    assert accepted.raw["priority"] == "high"
    assert (accepted.progress, accepted.usage, accepted.created_at) == (None, None, None)
