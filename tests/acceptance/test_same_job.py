"""Submitting again: idempotency keys, run keys, cancellation, under races."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx

from tests.support.jobs import TEXT, ended, submit
from tests.support.running import Stack

GOOD = {"kind": "summarize", "input": {"text": TEXT}}


def post_fifty(api: httpx.Client, headers: dict[str, str], **change: Any) -> list[httpx.Response]:
    with ThreadPoolExecutor(16) as pool:
        return list(
            pool.map(
                lambda _: api.post("/v1/jobs", json={**GOOD, **change}, headers=headers), range(50)
            )
        )


def test_fifty_parallel_submissions_with_one_key_are_one_job(stack: Stack) -> None:
    key = stack.tenant()
    with stack.api(key) as api:
        answers = post_fifty(api, {"idempotency-key": '"order-66"'})

        assert {answer.status_code for answer in answers} == {202}
        assert len({answer.json()["id"] for answer in answers}) == 1
        replayed = [answer.headers.get("idempotency-replayed") for answer in answers]
        assert sorted(replayed, key=str) == [None] + ["true"] * 49
        done = ended(api, answers[0].json())
    assert done["attempts"] == 1
    rows = stack.d1("SELECT id FROM jobs WHERE tenant_id = ?1", stack.tenant_of(key))
    assert len(rows) == 1


def test_the_same_key_answers_with_the_same_job_at_any_later_time(stack: Stack) -> None:
    headers = {"idempotency-key": "later"}
    with stack.api(stack.tenant()) as api:
        job = api.post("/v1/jobs", json=GOOD, headers=headers).json()
        ended(api, job)

        again = api.post("/v1/jobs", json=GOOD, headers=headers)

    assert again.status_code == 202
    assert again.headers["idempotency-replayed"] == "true"
    assert (again.json()["id"], again.json()["state"]) == (job["id"], "succeeded")


def test_another_request_under_the_same_key_is_told_what_differs(stack: Stack) -> None:
    headers = {"idempotency-key": '"k"'}
    with stack.api(stack.tenant()) as api:
        api.post("/v1/jobs", json=GOOD, headers=headers)

        other = api.post("/v1/jobs", json={**GOOD, "max_attempts": 2}, headers=headers)

    assert (other.status_code, other.json()["code"]) == (422, "idempotency_mismatch")
    assert other.json()["pointer"] == "/max_attempts"


def test_fifty_parallel_submissions_with_one_run_key_start_one_job(stack: Stack) -> None:
    key = stack.tenant()
    stack.order(count=1, route="chat", seconds=5)
    with stack.api(key) as api:
        answers = post_fifty(api, {}, run_key="nightly")

        statuses = [answer.status_code for answer in answers]
        assert (statuses.count(202), statuses.count(409)) == (1, 49)
        (started,) = [answer.json() for answer in answers if answer.status_code == 202]
        refused = [answer for answer in answers if answer.status_code == 409]
        assert {answer.json()["code"] for answer in refused} == {"run_in_progress"}
        assert {answer.json()["id"] for answer in refused} == {started["id"]}
        assert {a.headers["location"] for a in refused} == {f"/v1/jobs/{started['id']}"}
        joined = api.post("/v1/jobs", json={**GOOD, "run_key": "nightly", "on_conflict": "return"})
        assert (joined.status_code, joined.json()["id"]) == (202, started["id"])

        ended(api, started)
        assert submit(api, run_key="nightly")["id"] != started["id"]


def test_a_running_job_is_canceled_and_its_call_is_dropped(stack: Stack) -> None:
    stack.order(count=1, route="chat", seconds=30)
    with stack.api(stack.tenant()) as api:
        job = submit(api)
        while api.get(f"/v1/jobs/{job['id']}").json()["state"] != "running":
            pass

        wished = api.post(f"/v1/jobs/{job['id']}/cancel")
        done = ended(api, job, within=15)
        again = api.post(f"/v1/jobs/{job['id']}/cancel")
        result = api.get(f"/v1/jobs/{job['id']}/result")

    assert wished.status_code == 200
    assert wished.json()["cancel_requested_at"]
    assert done["state"] == "canceled"
    assert (again.status_code, again.json()["state"]) == (200, "canceled")
    assert (result.status_code, result.json()["code"]) == (409, "job_canceled")


def test_a_finished_job_is_not_canceled(stack: Stack) -> None:
    with stack.api(stack.tenant()) as api:
        job = submit(api)
        ended(api, job)

        answer = api.post(f"/v1/jobs/{job['id']}/cancel")

    assert (answer.status_code, answer.json()["code"]) == (409, "already_finished")


def test_a_job_whose_time_is_over_ends(stack: Stack) -> None:
    stack.order(count=1, route="chat", seconds=30)
    with stack.api(stack.tenant()) as api:
        job = submit(api, deadline_seconds=2)
        done = ended(api, job, within=20)

    assert done["state"] == "failed"
    assert done["error"]["class"] in ("deadline", "timeout")


def test_a_throttled_provider_is_given_its_time_and_the_attempt_back(stack: Stack) -> None:
    stack.order(count=1, route="chat", status=429, retry_after=2)
    with stack.api(stack.tenant()) as api:
        job = submit(api)
        done = ended(api, job)
        events = api.get(f"/v1/jobs/{job['id']}/events").json()["items"]

    assert (done["state"], done["attempts"]) == ("succeeded", 1)
    assert [event["type"] for event in events] == [
        "accepted",
        "leased",
        "deferred",
        "leased",
        "succeeded",
    ]


def test_a_status_that_has_not_changed_is_not_sent_again(stack: Stack) -> None:
    with stack.api(stack.tenant()) as api:
        job = submit(api)
        ended(api, job)
        first = api.get(f"/v1/jobs/{job['id']}")

        again = api.get(f"/v1/jobs/{job['id']}", headers={"if-none-match": first.headers["etag"]})

    assert (again.status_code, again.content) == (304, b"")
