"""One job over HTTP: its state, result, events and cancellation, and who may ask for them."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from tests.unit.http.factories import CREATED, a_job
from tests.unit.http.world import Answer, World
from uketsuke.domain.failure import ErrorClass
from uketsuke.domain.job import Attempt, Job, ResultPlace, Usage
from uketsuke.domain.lifecycle import JobState, Outcome
from uketsuke.http.message import Stream

INLINE = ResultPlace(bytes=13, content_type="application/json", attempt=1)
IN_STORAGE = ResultPlace(
    bytes=9, content_type="application/json", attempt=1, object_key="t_alpha/job/result"
)
MALFORMED = ["x", "job_", "job_" + "0" * 25, "JOB_" + "0" * 26, "job_" + "u" * 26, "%00", "in_x"]


def keep(world: World, **given: Any) -> Job:
    job = a_job(**given)
    world.jobs.jobs[job.id] = job
    return job


def get(world: World, key: str, job: Job, part: str = "", **headers: str) -> Answer:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return world.send("GET", f"/v1/jobs/{job.id}{part}", key=key, headers=named)


def cancel(world: World, key: str, job: Job, content: bytes = b"") -> Answer:
    return world.send("POST", f"/v1/jobs/{job.id}/cancel", key=key, content=content)


# The job


def test_a_job_is_shown_with_what_polling_needs(world: World, tenant_key: str) -> None:
    job = keep(world)

    answer = get(world, tenant_key, job)

    assert (answer.status, answer.document["id"]) == (200, job.id)
    assert answer.headers["cache-control"] == "private, no-cache"
    assert answer.headers["vary"] == "Authorization"
    assert answer.headers["retry-after"] == "1"
    assert answer.headers["etag"].startswith('"')


@pytest.mark.parametrize("state", [JobState.SUCCEEDED, JobState.FAILED, JobState.CANCELED])
def test_an_ended_job_is_200_and_asks_for_no_more_polling(
    world: World, tenant_key: str, state: JobState
) -> None:
    answer = get(world, tenant_key, keep(world, state=state))

    assert (answer.status, answer.document["state"]) == (200, state)
    assert "retry-after" not in answer.headers


def test_an_unchanged_job_is_304_until_it_changes(world: World, tenant_key: str) -> None:
    job = keep(world)
    tag = get(world, tenant_key, job).headers["etag"]

    same = get(world, tenant_key, job, if_none_match=tag)
    world.jobs.jobs[job.id] = replace(job, state=JobState.RUNNING)
    changed = get(world, tenant_key, job, if_none_match=tag)

    assert (same.status, same.body, same.headers["etag"]) == (304, b"", tag)
    assert same.headers["retry-after"] == "1"
    assert (changed.status, changed.document["state"]) == (200, "running")


def test_another_tenants_job_does_not_exist(world: World, other_tenant_key: str) -> None:
    job = keep(world)
    for part in ("", "/result", "/events"):
        assert get(world, other_tenant_key, job, part).code == "not_found"
    assert cancel(world, other_tenant_key, job).code == "not_found"
    assert not world.jobs.jobs[job.id].terminal


@pytest.mark.parametrize("job_id", MALFORMED)
def test_a_malformed_id_is_not_found_and_costs_no_look(
    world: World, tenant_key: str, job_id: str
) -> None:
    world.jobs.broken = AssertionError("nobody should have looked")

    answer = world.send("GET", f"/v1/jobs/{job_id}", key=tenant_key)

    assert (answer.status, answer.code) == (404, "not_found")


@pytest.mark.parametrize("key", ["operator_key", "admin_key"])
def test_those_of_no_tenant_see_every_job_but_no_content(
    world: World, key: str, request: pytest.FixtureRequest
) -> None:
    asker = request.getfixturevalue(key)
    job = keep(world, metadata={"ticket": "42"}, state=JobState.SUCCEEDED, result=INLINE)
    world.jobs.results[job.key, 1] = '{"summary":1}'

    shown = get(world, asker, job)
    denied = get(world, asker, job, "/result")

    assert shown.document["tenant_id"] == job.tenant_id
    assert shown.document["metadata"] == {"ticket": None}
    assert get(world, asker, job, "/events").status == 200
    assert (denied.status, denied.code) == (403, "content_denied")


def test_an_operator_cannot_cancel(world: World, operator_key: str) -> None:
    answer = cancel(world, operator_key, keep(world))

    assert (answer.status, answer.code) == (403, "forbidden")


# The result


def test_a_small_result_is_sent_from_its_row(world: World, tenant_key: str) -> None:
    job = keep(world, state=JobState.SUCCEEDED, result=INLINE)
    world.jobs.results[job.key, 1] = '{"summary":1}'

    answer = get(world, tenant_key, job, "/result")

    assert (answer.status, answer.document) == (200, {"summary": 1})
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["cache-control"] == "no-store"


def test_a_large_result_is_streamed(world: World, tenant_key: str) -> None:
    job = keep(world, state=JobState.SUCCEEDED, result=IN_STORAGE)
    world.blobs.streams["t_alpha/job/result"] = stream = object()

    answer = get(world, tenant_key, job, "/result")

    assert answer.status == 200
    assert answer.raw.body == Stream(content=stream, bytes=9)


@pytest.mark.parametrize("place", [INLINE, IN_STORAGE, None])
def test_a_result_that_is_not_kept_any_more_is_gone(
    world: World, tenant_key: str, place: ResultPlace | None
) -> None:
    job = keep(world, state=JobState.SUCCEEDED, result=place)

    answer = get(world, tenant_key, job, "/result")

    assert (answer.status, answer.code) == (410, "expired")


def test_an_erased_result_is_told_apart(world: World, tenant_key: str) -> None:
    job = keep(world, state=JobState.SUCCEEDED, erased_at=CREATED)

    answer = get(world, tenant_key, job, "/result")

    assert (answer.status, answer.code) == (410, "erased")


@pytest.mark.parametrize(
    ("state", "code"),
    [
        (JobState.ACCEPTED, "not_finished"),
        (JobState.RUNNING, "not_finished"),
        (JobState.RETRYING, "not_finished"),
        (JobState.FAILED, "job_failed"),
        (JobState.CANCELED, "job_canceled"),
    ],
)
def test_without_success_there_is_no_result(
    world: World, tenant_key: str, state: JobState, code: str
) -> None:
    answer = get(world, tenant_key, keep(world, state=state), "/result")

    assert (answer.status, answer.code) == (409, code)
    assert ("retry-after" in answer.headers) == (code == "not_finished")


# The events


def test_the_events_tell_a_jobs_life(world: World, tenant_key: str) -> None:
    job = keep(world, state=JobState.RETRYING, attempts=1, attempt_no=1)
    world.jobs.attempts = [
        Attempt(
            number=1,
            started_at=CREATED + timedelta(seconds=1),
            ended_at=CREATED + timedelta(seconds=2),
            outcome=Outcome.FAILED,
            state=JobState.RETRYING,
            error_class=ErrorClass.TIMEOUT,
            error_code="provider_timed_out",
            usage=Usage(provider="p", model="m", provider_request_id="req_1", cost_micros=213),
            provider_ms=900,
        )
    ]

    answer = get(world, tenant_key, job, "/events")

    items = answer.document["items"]
    assert answer.document["next"] is None
    assert [(item["type"], item["attempt"]) for item in items] == [
        ("accepted", None), ("leased", 1), ("retrying", 1),
    ]  # fmt: skip
    assert items[-1] == {
        "id": items[-1]["id"],
        "type": "retrying",
        "at": "2026-11-29T12:00:02.000Z",
        "attempt": 1,
        "class": "timeout",
        "duration_ms": 1000,
        "provider_ms": 900,
        "code": "provider_timed_out",
        "message": "The AI provider did not answer in time.",
        "provider": "p",
        "model": "m",
        "provider_request_id": "req_1",
        "cost_usd": "0.000213",
    }


# Canceling


def test_a_waiting_job_is_canceled_at_once_and_again(world: World, tenant_key: str) -> None:
    job = keep(world)

    first, again = cancel(world, tenant_key, job), cancel(world, tenant_key, job, b"{}")

    assert [(one.status, one.document["state"]) for one in (first, again)] == [
        (200, "canceled")
    ] * 2


def test_a_running_job_notes_the_wish(world: World, tenant_key: str) -> None:
    answer = cancel(world, tenant_key, keep(world, state=JobState.RUNNING))

    assert (answer.status, answer.document["state"]) == (200, "running")
    assert answer.document["cancel_requested_at"] == "2026-11-29T12:00:00.000Z"
    assert answer.headers["retry-after"] == "1"


@pytest.mark.parametrize("state", [JobState.SUCCEEDED, JobState.FAILED])
def test_what_has_ended_cannot_be_canceled(world: World, tenant_key: str, state: JobState) -> None:
    job = keep(world, state=state)

    answer = cancel(world, tenant_key, job)

    assert (answer.status, answer.code) == (409, "already_finished")
    assert (answer.document["id"], answer.document["state"]) == (job.id, state)


def test_a_cancellation_with_a_wish_that_nobody_reads_is_refused(
    world: World, tenant_key: str
) -> None:
    job = keep(world)

    answer = cancel(world, tenant_key, job, b'{"reason": "too slow"}')

    assert answer.status == 400
    assert not world.jobs.jobs[job.id].terminal
