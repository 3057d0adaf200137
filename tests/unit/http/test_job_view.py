"""The job as JSON: the contract's members, and who sees which of them."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta, timezone
from typing import Any

import pytest

from tests.unit.http.factories import CREATED, TENANT, a_job, an_id
from uketsuke.domain.api_key import Caller
from uketsuke.domain.failure import ErrorClass
from uketsuke.domain.job import Job, Progress, Usage
from uketsuke.domain.lifecycle import JobState
from uketsuke.http.job_view import poll_after, show_job

OWNER = Caller(key_id="k", tenant_id=TENANT, scopes=frozenset({"jobs:read"}))
OPERATOR = Caller(key_id="o", tenant_id=None, scopes=frozenset({"operate"}))


def shown(**given: Any) -> dict[str, Any]:
    return show_job(a_job(**given), caller=OWNER)


def after(**parts: float) -> Any:
    return CREATED + timedelta(**parts)


def test_a_new_job_shows_null_for_all_that_is_not_known_yet() -> None:
    path = f"/v1/jobs/{an_id('job', 1)}"

    assert shown() == {
        "id": an_id("job", 1),
        "tenant_id": TENANT,
        "kind": "summarize",
        "state": "accepted",
        "terminal": False,
        "engine": "queue",
        "origin": "api",
        "run_key": None,
        "attempts": 0,
        "max_attempts": 5,
        "progress": None,
        "created_at": "2026-11-29T12:00:00.000Z",
        "started_at": None,
        "finished_at": None,
        "next_attempt_at": None,
        "deadline_at": "2026-11-30T12:00:00.000Z",
        "expires_at": None,
        "cancel_requested_at": None,
        "erased_at": None,
        "error": None,
        "max_cost_usd": None,
        "usage": None,
        "redriven_from": None,
        "redriven_to": None,
        "trace_id": None,
        "metadata": {},
        "links": {
            "self": path,
            "result": f"{path}/result",
            "events": f"{path}/events",
            "cancel": f"{path}/cancel",
        },
    }


def test_times_are_utc_to_the_millisecond_wherever_they_come_from() -> None:
    tokyo = timezone(timedelta(hours=9))
    started = (CREATED + timedelta(microseconds=1999)).astimezone(tokyo)

    assert shown(started_at=started)["started_at"] == "2026-11-29T12:00:00.001Z"


def test_progress_and_usage_are_shown_once_known() -> None:
    usage = Usage(
        provider="local", model="m", provider_request_id="r", input_tokens=812, output_tokens=64,
        cost_micros=213,
    )  # fmt: skip

    view = shown(progress=Progress(done=3, total=10), usage=usage, attempts_cost_micros=1_000_213)

    assert view["progress"] == {"done": 3, "total": 10}
    assert view["usage"] == {
        "provider": "local",
        "model": "m",
        "provider_request_id": "r",
        "input_tokens": 812,
        "output_tokens": 64,
        "audio_seconds": None,
        "cost_usd": "0.000213",
        "attempts_cost_usd": "1.000213",
    }


def test_the_cost_of_failed_attempts_is_shown_without_a_last_usage() -> None:
    usage = shown(attempts_cost_micros=0)["usage"]

    assert usage["attempts_cost_usd"] == "0.000000"
    assert (usage["cost_usd"], usage["model"]) == (None, None)


def test_an_unknown_cost_is_null_and_not_zero() -> None:
    assert shown(usage=Usage(input_tokens=0))["usage"]["cost_usd"] is None


def test_a_cost_that_is_known_in_part_only_is_null_too() -> None:
    usage = Usage(cost_micros=5, unknown_calls=1)

    view = shown(usage=usage, attempts_cost_micros=5, unknown_costs=1, max_cost_micros=500_000)

    assert (view["usage"]["cost_usd"], view["usage"]["attempts_cost_usd"]) == (None, None)
    assert view["max_cost_usd"] == "0.500000"


@pytest.mark.parametrize("state", [JobState.RETRYING, JobState.RUNNING, JobState.FAILED])
def test_the_last_failure_is_shown_in_our_words(state: JobState) -> None:
    view = shown(state=state, error_class=ErrorClass.THROTTLED, error_code="provider_throttled")

    assert view["error"] == {
        "class": "throttled",
        "code": "provider_throttled",
        "message": "The AI provider asked us to slow down.",
        "retryable": True,
    }


def test_a_failure_without_a_code_is_told_all_the_same() -> None:
    error = shown(state=JobState.FAILED, error_class=ErrorClass.REFUSED)["error"]

    assert (error["code"], error["retryable"]) == ("unexpected", False)


def test_a_job_that_succeeded_in_the_end_has_no_error() -> None:
    view = shown(state=JobState.SUCCEEDED, error_class=ErrorClass.TIMEOUT, error_code="x")

    assert (view["error"], view["terminal"]) == (None, True)


def test_operators_see_the_names_of_metadata_and_not_the_values() -> None:
    job = a_job(metadata={"ticket": "42"})

    assert show_job(job, caller=OWNER)["metadata"] == {"ticket": "42"}
    assert show_job(job, caller=OPERATOR)["metadata"] == {"ticket": None}
    assert show_job(job, caller=OPERATOR)["tenant_id"] == TENANT


@pytest.mark.parametrize(
    ("state", "due", "shows"),
    [
        (JobState.RETRYING, after(seconds=30), "2026-11-29T12:00:30.000Z"),
        (JobState.ACCEPTED, after(seconds=30), "2026-11-29T12:00:30.000Z"),  # a parked lane
        (JobState.ACCEPTED, CREATED, None),
        (JobState.RUNNING, after(seconds=30), None),
        (JobState.FAILED, after(seconds=30), None),
    ],
)
def test_the_next_attempt_is_told_only_while_one_is_waited_for(
    state: JobState, due: Any, shows: str | None
) -> None:
    assert shown(state=state, due_at=due)["next_attempt_at"] == shows


@pytest.mark.parametrize(
    ("job", "age_seconds", "wait"),
    [
        (a_job(), 0, 1),
        (a_job(), -5, 1),  # this Worker's clock is behind the database's
        (a_job(), 10, 1),
        (a_job(), 45, 5),
        (a_job(), 100, 10),
        (a_job(), 80_000, 10),
        (a_job(state=JobState.RUNNING), 1, 1),
        (a_job(state=JobState.RETRYING, due_at=after(seconds=90.2)), 30, 61),
        (a_job(state=JobState.RETRYING, due_at=after(seconds=90)), 90, 9),  # due now: by age
        (a_job(state=JobState.RETRYING, due_at=after(days=3)), 0, 86_400),  # it ends before that
        (a_job(state=JobState.SUCCEEDED), 0, 0),
        (a_job(state=JobState.FAILED, due_at=after(seconds=90)), 5, 0),
        (a_job(state=JobState.CANCELED), 5, 0),
    ],
)
def test_how_soon_it_is_worth_asking_again(job: Job, age_seconds: float, wait: int) -> None:
    assert poll_after(job, now=after(seconds=age_seconds)) == wait


def test_the_wait_never_shrinks_as_a_job_grows_old() -> None:
    waits = [poll_after(a_job(), now=after(seconds=age)) for age in range(200)]

    assert waits == sorted(waits)
    assert (waits[0], waits[-1]) == (1, 10)


def test_a_changed_job_has_another_document() -> None:
    job = a_job()

    assert show_job(job, caller=OWNER) == show_job(replace(job), caller=OWNER)
    assert show_job(job, caller=OWNER) != show_job(replace(job, attempts=1), caller=OWNER)
