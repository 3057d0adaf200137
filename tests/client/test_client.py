"""Reading answers, good and strange, and what the client refuses to send at all."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.client.scripted import JOB_ID, KEY, Answer, ScriptedServer, ToldClock, job, problem
from uketsuke_client import ApiError, Client, Job, UnexpectedAnswer, Unsendable
from uketsuke_client.retry_after import retry_after

PATH = f"/v1/jobs/{JOB_ID}"


def test_a_job_is_read_with_its_times_and_its_cost(server: ScriptedServer) -> None:
    usage = {"provider": "local", "model": "m", "input_tokens": 8, "cost_usd": "0.000213"}
    body = job("succeeded", usage=usage, metadata={"ticket": "42"}, run_key="daily")
    server.answers("GET", PATH, Answer(body=body))

    with Client(server.url, KEY) as client:
        found = client.job(JOB_ID)

    assert found.created_at == datetime(2026, 11, 29, 10, tzinfo=UTC)
    assert found.usage is not None
    assert (found.usage.model, found.usage.cost_usd, found.usage.output_tokens) == (
        "m",
        "0.000213",
        None,
    )
    assert (found.metadata, found.run_key) == ({"ticket": "42"}, "daily")


def test_events_are_read_oldest_first_with_what_is_new_kept(server: ScriptedServer) -> None:
    items = [
        {"id": "1", "type": "accepted", "at": "2026-11-29T10:00:00.000Z", "attempt": None},
        {"id": "2", "type": "brand_new", "at": None, "attempt": 1, "class": "timeout", "x": 1},
    ]
    server.answers("GET", f"{PATH}/events", Answer(body={"items": items}))

    with Client(server.url, KEY) as client:
        first, second = client.events(JOB_ID)

    assert (first.type, first.attempt) == ("accepted", None)
    assert (second.type, second.failure_class, second.raw["x"]) == ("brand_new", "timeout", 1)


def test_cancel_returns_the_job_as_it_now_is(server: ScriptedServer) -> None:
    wished = job("running", cancel_requested_at="2026-11-29T10:00:02.000Z")
    server.answers("POST", f"{PATH}/cancel", Answer(body=wished))

    with Client(server.url, KEY) as client:
        found = client.cancel(JOB_ID)

    assert found.state == "running"
    assert found.cancel_requested_at is not None


def test_a_conflict_names_the_job_it_is_about(server: ScriptedServer) -> None:
    server.answers("POST", "/v1/jobs", problem(409, "run_in_progress", id="job_live"))

    with Client(server.url, KEY) as client, pytest.raises(ApiError) as caught:
        client.submit("summarize", input={"text": "x"}, run_key="daily")

    assert (caught.value.code, caught.value.job_id) == ("run_in_progress", "job_live")


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"<html>Blocked</html>", id="html"),
        pytest.param(b'{"code": 7, "detail": [], "errors": [1, {"pointer": 2}]}', id="odd members"),
        pytest.param(b"[]", id="not an object"),
        pytest.param(b"{", id="cut short"),
    ],
)
def test_a_refusal_that_is_no_problem_document_is_still_an_api_error(
    server: ScriptedServer, body: bytes
) -> None:
    server.answers("GET", PATH, Answer(status=403, body=body))

    with Client(server.url, KEY) as client, pytest.raises(ApiError) as caught:
        client.job(JOB_ID)

    assert (caught.value.status, caught.value.code) == (403, "unexpected_answer")


@pytest.mark.parametrize("body", [b"<html>hello</html>", b"[]", b'{"id": "job_1"}', b"\xff\xfe"])
def test_an_answer_that_is_no_job_is_not_taken_for_one(server: ScriptedServer, body: bytes) -> None:
    server.answers("GET", PATH, Answer(body=body))

    with Client(server.url, KEY) as client, pytest.raises(UnexpectedAnswer):
        client.job(JOB_ID)


def test_a_broken_encoding_of_an_answer_is_told_as_that(server: ScriptedServer) -> None:
    broken = Answer(body=b"no gzip", headers={"content-encoding": "gzip"})
    server.answers("GET", PATH, broken)

    with Client(server.url, KEY) as client, pytest.raises(UnexpectedAnswer):
        client.job(JOB_ID)


def test_a_redirect_is_not_followed_with_the_key(server: ScriptedServer) -> None:
    server.answers("GET", PATH, Answer(status=302, headers={"location": f"{server.url}/other"}))

    with Client(server.url, KEY) as client, pytest.raises(UnexpectedAnswer, match="redirects"):
        client.job(JOB_ID)

    assert len(server.received) == 1


@pytest.mark.parametrize("url", ["", "uketsuke.example.com", "ftp://x", "http://", "http://[::"])
def test_what_is_no_url_is_refused_at_once(url: str) -> None:
    with pytest.raises(Unsendable):
        Client(url, KEY)


@pytest.mark.parametrize("key", ["uk_1\nx-evil: 1", "鍵"])
def test_a_key_that_would_break_its_header_is_refused_at_once(key: str) -> None:
    with pytest.raises(Unsendable):
        Client("http://127.0.0.1:1", key)


@pytest.mark.parametrize(("job_id", "path"), [("a/b?c", "a%2Fb%3Fc"), ("../keys", "..%2Fkeys")])
def test_an_id_cannot_reach_another_route(server: ScriptedServer, job_id: str, path: str) -> None:
    server.answers("GET", f"/v1/jobs/{path}", Answer(body=job(id=job_id)))

    with Client(server.url, KEY) as client:
        assert client.job(job_id).id == job_id


@pytest.mark.parametrize("job_id", ["", ".", ".."])
def test_an_id_that_is_a_path_of_its_own_is_not_sent(server: ScriptedServer, job_id: str) -> None:
    with Client(server.url, KEY) as client, pytest.raises(Unsendable):
        client.job(job_id)

    assert server.received == []


def test_a_url_with_a_path_and_a_slash_keeps_its_path(server: ScriptedServer) -> None:
    server.answers("GET", f"/jobs-api{PATH}", Answer(body=job()))

    with Client(f"{server.url}/jobs-api/", KEY) as client:
        assert client.job(JOB_ID).id == JOB_ID


def test_a_date_without_the_answers_own_date_is_measured_by_this_clock() -> None:
    headers = {"retry-after": "Thu, 01 Jan 1970 00:01:40 GMT"}

    assert retry_after(headers, now=40.0) == 60.0
    assert retry_after(headers, now=400.0) == 0.0


@given(value=st.text(max_size=40), date=st.text(max_size=40))
def test_no_retry_after_breaks_the_reader(value: str, date: str) -> None:
    found = retry_after({"retry-after": value, "date": date}, now=0.0)

    assert found is None or found >= 0.0


@given(
    raw=st.dictionaries(
        st.sampled_from(["id", "kind", "state", "attempts", "error", "usage", "links", "progress"]),
        st.one_of(
            st.none(),
            st.booleans(),
            st.integers(),
            st.text(),
            st.lists(st.integers()),
            st.dictionaries(st.sampled_from(["class", "code", "done", "total"]), st.integers()),
        ),
    )
)
def test_any_object_is_a_job_or_is_refused_as_none(raw: dict[str, object]) -> None:
    try:
        found = Job.from_json(raw)
    except ValueError:
        assert not all(
            isinstance(raw.get(name), str) and raw[name] for name in ("id", "kind", "state")
        )
    else:
        assert found.id == raw["id"]


def test_each_retry_and_each_answer_can_be_watched(
    server: ScriptedServer, clock: ToldClock
) -> None:
    server.answers("GET", PATH, problem(503, "unavailable"), Answer(body=job()))
    retries: list[str] = []
    answers: list[int] = []

    with Client(
        server.url,
        KEY,
        clock=clock.as_clock(),
        on_retry=lambda retry: retries.append(retry.reason),
        on_response=lambda response: answers.append(response.status_code),
    ) as client:
        client.job(JOB_ID)

    assert retries == ["503 unavailable"]
    assert answers == [503, 200]
