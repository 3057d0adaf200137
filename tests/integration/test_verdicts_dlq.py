"""What becomes of what the jobs queue gave up on: the row decides, and a live job lives on."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest

from tests.integration.verdicts import (
    ACK,
    CANCELED,
    DEAD,
    FAILED,
    JOBS,
    SUCCEEDED,
    Desk,
    FromNow,
    leased,
    new_job_id,
    spent,
)
from tests.support.running import until


def sent(desk: Desk, job: str) -> list[dict[str, object]]:
    """Return the messages about a job that came to the jobs queue's consumer."""
    deliveries = desk.stack.get(f"/deliveries?queue={JOBS}")
    return [json.loads(each["body"]) for each in deliveries if job in each["body"]]


def counter(desk: Desk, name: str) -> int:
    rows = desk.d1("SELECT value FROM counters WHERE name = ?1", name)
    return int(rows[0]["value"]) if rows else 0


@pytest.mark.parametrize("columns", [SUCCEEDED, FAILED, CANCELED], ids=lambda c: str(c["state"]))
def test_of_an_ended_job_nothing_is_left_to_do(desk: Desk, columns: Mapping[str, object]) -> None:
    job = desk.job(**columns)
    before, counted = desk.unchanging(job), counter(desk, "dlq_duplicates")

    assert desk.deliver(desk.message(job), queue=DEAD) == [ACK]

    assert desk.unchanging(job) == before
    assert counter(desk, "dlq_duplicates") == counted + 1


def test_a_job_that_failed_keeps_its_one_dead_letter(desk: Desk) -> None:
    job = desk.job()
    desk.order(job, body="refusal")
    desk.deliver(desk.message(job))
    before = desk.letters(job)

    assert desk.deliver(desk.message(job), queue=DEAD) == [ACK]

    assert desk.letters(job) == before
    assert len(before) == 1


def test_under_a_live_lease_it_is_looked_at_again_when_that_is_over(desk: Desk) -> None:
    job = desk.job(**leased(ends_in=600))
    before = desk.unchanging(job)

    (seconds,) = desk.deliver(desk.message(job), queue=DEAD)

    assert isinstance(seconds, int)
    assert 300 < seconds <= 602  # what is left of this lease: the deployment's own are short
    assert desk.unchanging(job) == before
    assert desk.letters(job) == []


@pytest.mark.parametrize("state", ["accepted", "retrying"])
def test_a_waiting_job_is_sent_again_and_worked(desk: Desk, state: str) -> None:
    job = desk.job(state=state)
    counted = counter(desk, "dlq_revived")

    assert desk.deliver(desk.message(job), queue=DEAD) == [ACK]
    assert counter(desk, "dlq_revived") == counted + 1

    until(lambda: desk.row(job)["state"] == "succeeded")
    assert sent(desk, job) == [desk.message(job)]
    assert len(desk.calls(job)) == 1
    assert desk.letters(job) == []


def test_a_crashed_job_with_attempts_left_is_taken_back_and_sent_again(desk: Desk) -> None:
    job = desk.job(**leased(ends_in=-1))

    assert desk.deliver(desk.message(job), queue=DEAD) == [ACK]

    until(lambda: desk.row(job)["state"] == "succeeded")
    assert len(sent(desk, job)) == 1
    told = [(a["number"], a["error_class"]) for a in desk.attempts(job)]
    assert told == [(1, "crashed"), (2, None)]


def test_a_spent_job_is_buried(desk: Desk) -> None:
    job = desk.job(**spent())

    assert desk.deliver(desk.message(job), queue=DEAD) == [ACK]
    assert desk.deliver(desk.message(job), queue=DEAD) == [ACK]

    assert (desk.row(job)["state"], desk.row(job)["error_class"]) == ("failed", "crashed")
    assert [letter["road"] for letter in desk.letters(job)] == ["queue_dlq"]
    assert sent(desk, job) == []


@pytest.mark.parametrize(
    "columns",
    [{}, {"state": "retrying"}, leased(ends_in=-1)],
    ids=["accepted", "retrying", "running"],
)
def test_a_job_past_its_deadline_is_buried(desk: Desk, columns: Mapping[str, object]) -> None:
    job = desk.job(**{**columns, "deadline_at": FromNow(-1)})

    assert desk.deliver(desk.message(job), queue=DEAD) == [ACK]

    assert (desk.row(job)["state"], desk.row(job)["error_class"]) == ("failed", "deadline")
    assert [letter["road"] for letter in desk.letters(job)] == ["queue_dlq"]
    assert sent(desk, job) == []


def test_a_crashed_job_that_somebody_wished_canceled_is_canceled(desk: Desk) -> None:
    job = desk.job(**leased(ends_in=-1), cancel_requested_at=FromNow(-5))

    assert desk.deliver(desk.message(job), queue=DEAD) == [ACK]

    assert desk.row(job)["state"] == "canceled"
    assert desk.letters(job) == []
    assert sent(desk, job) == []


def test_a_message_of_no_job_is_buried_once(desk: Desk) -> None:
    job = new_job_id()

    assert desk.deliver(desk.message(job), queue=DEAD) == [ACK]
    assert desk.deliver(desk.message(job), queue=DEAD, attempts=2) == [ACK]

    (letter,) = desk.letters(job)
    assert (letter["code"], letter["queue"]) == ("job_unknown", DEAD)


def test_a_silent_run_is_left_to_the_sweep(desk: Desk) -> None:
    job = desk.job(**leased(ends_in=-1), engine="workflow")
    before = desk.unchanging(job)

    assert desk.deliver(desk.message(job), queue=DEAD) == [ACK]

    assert desk.unchanging(job) == before
    assert sent(desk, job) == []


def test_every_message_of_a_batch_is_decided_about_by_itself(desk: Desk) -> None:
    buried = desk.job(**spent())
    held, over = desk.job(**leased(ends_in=60)), desk.job(**SUCCEEDED)
    waiting = desk.job()

    batch = [None, desk.message(buried), [7], desk.message(held), desk.message(waiting)]
    verdicts = desk.deliver(*batch, desk.message(over), queue=DEAD)

    assert verdicts[:3] == [ACK] * 3
    assert isinstance(verdicts[3], int)
    assert verdicts[4:] == [ACK] * 2
    assert desk.row(buried)["state"] == "failed"
    until(lambda: desk.row(waiting)["state"] == "succeeded")
