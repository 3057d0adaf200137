"""What the consumer says to one message about one job, on the real stack, past the broker."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tests.integration.verdicts import (
    ACK,
    CANCELED,
    FAILED,
    JOBS,
    SUCCEEDED,
    Desk,
    FromNow,
    leased,
    new_job_id,
    spent,
)
from tests.support.jobs import ended, submit
from tests.support.running import until


@pytest.mark.parametrize("state", ["accepted", "retrying"])
def test_a_message_of_a_waiting_job_gets_it_worked_and_is_done_with(desk: Desk, state: str) -> None:
    job = desk.job(state=state)

    assert desk.deliver(desk.message(job)) == [ACK]

    assert desk.row(job)["state"] == "succeeded"
    assert [call["idempotency_key"] for call in desk.calls(job)] == [f"{job}.piece-1.0"]
    (attempt,) = desk.attempts(job)
    assert (attempt["number"], attempt["outcome"]) == (1, "succeeded")


@pytest.mark.parametrize("columns", [SUCCEEDED, FAILED, CANCELED], ids=lambda c: str(c["state"]))
def test_a_message_of_an_ended_job_is_done_with_and_nobody_is_asked(
    desk: Desk, columns: Mapping[str, object]
) -> None:
    job = desk.job(**columns)
    before = desk.unchanging(job)

    assert desk.deliver(desk.message(job)) == [ACK]

    assert desk.unchanging(job) == before
    assert desk.calls(job) == []
    assert desk.attempts(job) == []
    assert desk.letters(job) == []


def test_under_a_live_lease_the_message_comes_again_after_it_and_the_work_goes_on(
    desk: Desk,
) -> None:
    job = desk.job(**leased(ends_in=30))
    before = desk.unchanging(job)

    (seconds,) = desk.deliver(desk.message(job))

    assert desk.unchanging(job) == before
    assert desk.calls(job) == []
    left = before["leased_until"] - desk.row(job)["now"]
    assert isinstance(seconds, int)
    assert left < seconds * 1000 < left + 10_000


def test_a_duplicate_of_a_job_that_is_being_worked_changes_nothing(desk: Desk) -> None:
    desk.stack.order(count=1, route="chat", seconds=3)
    with desk.stack.api(desk.key) as api:
        job = submit(api)
        until(lambda: api.get(f"/v1/jobs/{job['id']}").json()["state"] == "running")

        (seconds,) = desk.deliver(desk.message(job["id"]))

        done = ended(api, job)
    assert isinstance(seconds, int)
    assert (done["state"], done["attempts"]) == ("succeeded", 1)
    assert len(desk.calls(job["id"])) == 1


def test_a_job_that_is_not_due_is_knocked_for_when_it_is(desk: Desk) -> None:
    job = desk.job(state="retrying", due_at=FromNow(90))
    before = desk.unchanging(job)

    (seconds,) = desk.deliver(desk.message(job))

    assert desk.unchanging(job) == before
    assert desk.calls(job) == []
    left = before["due_at"] - desk.row(job)["now"]
    assert isinstance(seconds, int)
    assert left < seconds * 1000 < left + 10_000


def test_a_job_that_waits_long_needs_no_message_because_the_sweep_sends_one(desk: Desk) -> None:
    job = desk.job(state="retrying", due_at=FromNow(1000), wake_at=FromNow(1000))
    before = desk.unchanging(job)

    assert desk.deliver(desk.message(job)) == [ACK]
    assert desk.unchanging(job) == before

    desk.d1("UPDATE jobs SET due_at = 1, wake_at = 1 WHERE id = ?1", job)
    desk.stack.sweep()
    until(lambda: desk.row(job)["state"] == "succeeded")
    assert len(desk.calls(job)) == 1


def test_a_failure_that_may_pass_brings_the_message_again_when_the_job_is_due(desk: Desk) -> None:
    job = desk.job()
    desk.order(job, status=500)

    (seconds,) = desk.deliver(desk.message(job))

    row, (attempt,) = desk.row(job), desk.attempts(job)
    assert (row["state"], row["attempts"]) == ("retrying", 1)
    assert (attempt["outcome"], attempt["error_class"]) == ("failed", "unavailable")
    assert isinstance(seconds, int)
    # Whole seconds, rounded up; the two times come from two statements of one transaction.
    waits = row["due_at"] - attempt["ended_at"]
    assert waits - 100 <= seconds * 1000 < waits + 1100


def test_a_throttled_job_waits_as_asked_and_gets_its_attempt_back(desk: Desk) -> None:
    job = desk.job()
    desk.order(job, status=429, retry_after=7)

    assert desk.deliver(desk.message(job))[0] in (7, 8)  # up to 0.5 s of jitter on top

    row, (attempt,) = desk.row(job), desk.attempts(job)
    assert (row["state"], row["attempts"], row["attempt_no"]) == ("retrying", 0, 1)
    assert (attempt["outcome"], attempt["error_class"]) == ("deferred", "throttled")
    assert row["due_at"] - attempt["ended_at"] >= 6_900


def test_a_provider_that_asks_for_an_hour_is_left_to_the_sweep(desk: Desk) -> None:
    job = desk.job()
    desk.order(job, status=429, retry_after=3600)

    assert desk.deliver(desk.message(job)) == [ACK]

    row = desk.row(job)
    assert row["state"] == "retrying"
    assert row["due_at"] - row["now"] > 3_500_000
    assert abs(row["wake_at"] - row["due_at"]) < 1000  # the sweep's time: nobody else knocks


def test_a_refusal_ends_the_job_and_the_message(desk: Desk) -> None:
    job = desk.job()
    desk.order(job, body="refusal")

    assert desk.deliver(desk.message(job)) == [ACK]

    assert desk.row(job)["state"] == "failed"
    (letter,) = desk.letters(job)
    assert (letter["road"], letter["class"]) == ("permanent", "refused")


def test_the_last_attempt_ends_the_job_and_the_message(desk: Desk) -> None:
    job = desk.job(state="retrying", attempts=4, attempt_no=4)
    desk.order(job, drop="before")

    assert desk.deliver(desk.message(job)) == [ACK]

    row = desk.row(job)
    assert (row["state"], row["attempts"]) == ("failed", 5)
    (letter,) = desk.letters(job)
    assert (letter["road"], letter["attempts"]) == ("exhausted", 5)


def test_the_fiftieth_delivery_is_the_last_though_the_job_lives(desk: Desk) -> None:
    job = desk.job(**leased(ends_in=30))
    before = desk.unchanging(job)

    assert desk.deliver(desk.message(job), attempts=49) != [ACK]
    assert desk.deliver(desk.message(job), attempts=50) == [ACK]
    assert desk.deliver(desk.message(job), attempts=51) == [ACK]

    assert desk.unchanging(job) == before


def test_a_failure_at_the_fiftieth_delivery_leaves_the_job_to_the_sweep(desk: Desk) -> None:
    job = desk.job()
    desk.order(job, status=503)

    assert desk.deliver(desk.message(job), attempts=50) == [ACK]
    assert desk.row(job)["state"] == "retrying"

    desk.d1("UPDATE jobs SET due_at = 1, wake_at = 1 WHERE id = ?1", job)
    desk.stack.sweep()
    until(lambda: desk.row(job)["state"] == "succeeded")


def test_a_message_of_no_job_leaves_one_dead_letter_however_often_it_comes(desk: Desk) -> None:
    job = new_job_id()

    verdicts = [desk.deliver(desk.message(job), attempts=number) for number in (1, 2, 3)]

    assert verdicts == [[ACK]] * 3
    (letter,) = desk.letters(job)
    assert (letter["code"], letter["class"]) == ("job_unknown", "not_found")
    assert (letter["tenant_id"], letter["queue"], letter["attempts"]) == (desk.tenant, JOBS, 3)


def test_a_message_with_another_tenants_name_does_not_touch_the_job_or_its_dead_letter(
    desk: Desk,
) -> None:
    job = desk.job()
    before = desk.unchanging(job)

    assert desk.deliver(desk.message(job, tenant="t-somebody-else")) == [ACK]
    assert desk.unchanging(job) == before

    desk.order(job, body="refusal")
    desk.deliver(desk.message(job))
    own = [letter for letter in desk.letters(job) if letter["tenant_id"] == desk.tenant]
    assert [letter["code"] for letter in own] == ["provider_refused"]


def test_a_job_past_its_deadline_ends_without_being_tried(desk: Desk) -> None:
    job = desk.job(deadline_at=FromNow(-1))

    assert desk.deliver(desk.message(job)) == [ACK]

    row = desk.row(job)
    assert (row["state"], row["error_code"]) == ("failed", "deadline_passed")
    assert [letter["road"] for letter in desk.letters(job)] == ["deadline"]
    assert desk.calls(job) == []


def test_a_job_whose_lease_expired_at_its_last_attempt_has_crashed(desk: Desk) -> None:
    job = desk.job(**spent())

    assert desk.deliver(desk.message(job)) == [ACK]

    row = desk.row(job)
    assert (row["state"], row["error_class"], row["attempts"]) == ("failed", "crashed", 5)
    assert [attempt["number"] for attempt in desk.attempts(job)] == [5]
    assert [letter["road"] for letter in desk.letters(job)] == ["crashed"]
    assert desk.calls(job) == []


def test_a_job_that_crashed_twice_alone_is_not_tried_a_third_time(desk: Desk) -> None:
    job = desk.job(**leased(ends_in=-1), leased_alone=1, crashes=1, lone_crashes=1)

    assert desk.deliver(desk.message(job)) == [ACK]

    assert desk.row(job)["state"] == "failed"
    assert [letter["road"] for letter in desk.letters(job)] == ["crashed"]
    assert desk.calls(job) == []


def test_an_expired_lease_is_taken_over_and_the_crash_is_on_record(desk: Desk) -> None:
    job = desk.job(**leased(ends_in=-1))

    assert desk.deliver(desk.message(job)) == [ACK]

    row = desk.row(job)
    assert (row["state"], row["attempts"], row["attempt_no"]) == ("succeeded", 2, 2)
    told = [(a["number"], a["outcome"], a["error_class"]) for a in desk.attempts(job)]
    assert told == [(1, "failed", "crashed"), (2, "succeeded", None)]
    # A crash is no definite failure: the provider may still know the first call.
    assert [call["idempotency_key"] for call in desk.calls(job)] == [f"{job}.piece-1.0"]


def test_a_wish_to_cancel_that_nobody_noticed_is_granted_when_the_lease_ends(desk: Desk) -> None:
    job = desk.job(**leased(ends_in=-1), cancel_requested_at=FromNow(-5))

    assert desk.deliver(desk.message(job)) == [ACK]

    assert desk.row(job)["state"] == "canceled"
    assert desk.letters(job) == []
    assert desk.calls(job) == []
