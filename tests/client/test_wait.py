"""Following one job: when it is looked at, what is fetched, and how following ends."""

from __future__ import annotations

import pytest

from tests.client.scripted import (
    JOB_ID,
    KEY,
    Answer,
    ScriptedServer,
    ToldClock,
    failed_job,
    job,
    problem,
)
from uketsuke_client import ApiError, Client, Job, NotFinished, UnexpectedAnswer

PATH = f"/v1/jobs/{JOB_ID}"
UNCHANGED = Answer(status=304, headers={"etag": '"1"', "retry-after": "3"})


def running(etag: str, *, after: str = "2", **members: object) -> Answer:
    return Answer(body=job("running", **members), headers={"etag": etag, "retry-after": after})


SUCCEEDED = Answer(body=job("succeeded"), headers={"etag": '"9"'})


def followed(
    server: ScriptedServer,
    clock: ToldClock,
    *,
    timeout: float | None = None,
    every: float | None = None,
) -> tuple[Job, list[Job]]:
    seen: list[Job] = []
    with Client(server.url, KEY, clock=clock.as_clock()) as client:
        last = client.wait(JOB_ID, timeout=timeout, on_change=seen.append, every=every)
    return last, seen


def test_each_look_comes_when_the_server_said(server: ScriptedServer, clock: ToldClock) -> None:
    server.answers("GET", PATH, running('"1"', after="2"), UNCHANGED, SUCCEEDED)

    last, _ = followed(server, clock)

    assert last.succeeded
    assert clock.pauses == [2.0, 3.0]


def test_an_unchanged_job_is_asked_for_by_its_etag_and_told_once(
    server: ScriptedServer, clock: ToldClock
) -> None:
    server.answers("GET", PATH, running('"1"'), UNCHANGED, UNCHANGED, running('"2"'), SUCCEEDED)

    _, seen = followed(server, clock)

    assert [request.headers.get("if-none-match") for request in server.received] == [
        None,
        '"1"',
        '"1"',
        '"1"',
        '"2"',
    ]
    assert [told.state for told in seen] == ["running", "running", "succeeded"]


def test_progress_is_told_as_it_changes(server: ScriptedServer, clock: ToldClock) -> None:
    first = running('"1"', progress={"done": 1, "total": 3})
    second = running('"2"', progress={"done": 2, "total": 3})
    server.answers("GET", PATH, first, second, SUCCEEDED)

    _, seen = followed(server, clock)

    assert [told.progress.done if told.progress else None for told in seen] == [1, 2, None]


def test_a_failed_job_is_returned_and_not_raised(server: ScriptedServer, clock: ToldClock) -> None:
    server.answers("GET", PATH, running('"1"'), Answer(body=failed_job()))

    last, _ = followed(server, clock)

    assert last.terminal
    assert not last.succeeded
    assert last.error is not None
    assert (last.error.failure_class, last.error.code) == ("refused", "provider_refused")


def test_following_stops_at_its_time_after_a_last_look(
    server: ScriptedServer, clock: ToldClock
) -> None:
    server.answers("GET", PATH, running('"1"', after="60"))

    with pytest.raises(NotFinished) as caught:
        followed(server, clock, timeout=5.0)

    assert caught.value.job.state == "running"
    assert clock.pauses == [5.0]
    assert len(server.received) == 2


def test_a_job_that_ended_in_time_is_found_by_the_last_look(
    server: ScriptedServer, clock: ToldClock
) -> None:
    server.answers("GET", PATH, running('"1"', after="60"), SUCCEEDED)

    last, _ = followed(server, clock, timeout=5.0)

    assert last.succeeded


def test_no_time_at_all_is_still_one_look(server: ScriptedServer, clock: ToldClock) -> None:
    server.answers("GET", PATH, running('"1"'))

    with pytest.raises(NotFinished):
        followed(server, clock, timeout=0.0)

    assert len(server.received) == 1


def test_an_outage_while_following_is_survived(server: ScriptedServer, clock: ToldClock) -> None:
    server.answers(
        "GET",
        PATH,
        running('"1"'),
        Answer(dropped=True),
        problem(503, "unavailable", headers={"retry-after": "4"}),
        SUCCEEDED,
    )

    last, _ = followed(server, clock)

    assert last.succeeded
    assert clock.pauses == [2.0, 0.0, 4.0]


def test_a_pace_of_ones_own_beats_the_servers(server: ScriptedServer, clock: ToldClock) -> None:
    server.answers("GET", PATH, running('"1"', after="30"), SUCCEEDED)

    followed(server, clock, every=0.1)

    assert clock.pauses == [0.1]


def test_a_server_without_advice_is_asked_each_second(
    server: ScriptedServer, clock: ToldClock
) -> None:
    server.answers("GET", PATH, Answer(body=job()), SUCCEEDED)

    followed(server, clock)

    assert clock.pauses == [1.0]


def test_another_job_is_never_taken_for_the_one_asked_for(
    server: ScriptedServer, clock: ToldClock
) -> None:
    server.answers("GET", PATH, Answer(body=job("succeeded", id="job_2")))

    with pytest.raises(UnexpectedAnswer, match="job_2"):
        followed(server, clock)


def test_a_job_that_is_not_there_ends_the_following(
    server: ScriptedServer, clock: ToldClock
) -> None:
    server.answers("GET", PATH, running('"1"'), problem(404, "not_found"))

    with pytest.raises(ApiError) as caught:
        followed(server, clock)

    assert caught.value.code == "not_found"
