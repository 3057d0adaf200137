"""What a batch of messages is to its members: company, and nothing that decides about them."""

from __future__ import annotations

import contextlib
import threading
from typing import Any

import httpx

from tests.integration.verdicts import ACK, JOBS, SUCCEEDED, Desk, FromNow, leased, new_job_id
from tests.support.running import until

JOBS_AT_ONCE = 6


def spans(desk: Desk, jobs: list[str]) -> list[tuple[int, int]]:
    """Return when the last attempt of each job began and ended, by the database's clock."""
    last = [desk.attempts(job)[-1] for job in jobs]
    return [(attempt["started_at"], attempt["ended_at"]) for attempt in last]


def most_at_once(within: list[tuple[int, int]]) -> int:
    """Return how many of the spans have a moment in common."""
    return max(sum(begun <= start < end for begun, end in within) for start, _ in within)


def test_the_same_message_twice_in_a_batch_is_one_attempt(desk: Desk) -> None:
    job = desk.job()

    assert desk.deliver(desk.message(job), desk.message(job)) == [ACK, ACK]

    assert desk.row(job)["state"] == "succeeded"
    assert [attempt["number"] for attempt in desk.attempts(job)] == [1]
    assert len(desk.calls(job)) == 1


def test_every_message_of_a_mixed_batch_gets_the_verdict_that_it_would_get_alone(
    desk: Desk,
) -> None:
    good, failing, refused, late = desk.job(), desk.job(), desk.job(), desk.job()
    over, held = desk.job(**SUCCEEDED), desk.job(**leased(ends_in=60))
    waiting, overdue = desk.job(due_at=FromNow(90)), desk.job(deadline_at=FromNow(-1))
    desk.order(failing, status=500)
    desk.order(refused, body="refusal")
    desk.order(late, status=429, retry_after=20)
    untouched = [desk.unchanging(job) for job in (over, held, waiting)]

    jobs = (good, failing, refused, late, over, held, waiting, overdue, new_job_id())
    others: list[object] = [None, desk.message(good, v=2), desk.message(good, kind="translate")]
    verdicts = desk.deliver(*[desk.message(job) for job in jobs], *others)

    told = dict(zip(("good", "failing", "refused", "late"), verdicts, strict=False))
    assert (told["good"], told["refused"]) == (ACK, ACK)
    assert told["failing"] in (0, 1)
    assert told["late"] in (20, 21)
    assert verdicts[4] == ACK
    assert [59 <= seconds <= 61 for seconds in verdicts[5:6] if isinstance(seconds, int)] == [True]
    assert isinstance(verdicts[6], int)
    assert verdicts[7:] == [ACK, ACK, ACK, 600, 600]
    states = [desk.row(job)["state"] for job in jobs[:4]]
    assert states == ["succeeded", "retrying", "failed", "retrying"]
    assert [desk.unchanging(job) for job in (over, held, waiting)] == untouched
    assert desk.row(overdue)["state"] == "failed"


def test_a_batch_of_slow_jobs_is_worked_at_once_up_to_the_bound(desk: Desk) -> None:
    jobs = [desk.job() for _ in range(JOBS_AT_ONCE + 2)]
    for job in jobs:
        desk.order(job, seconds=2)

    assert desk.deliver(*[desk.message(job) for job in jobs]) == [ACK] * len(jobs)

    assert most_at_once(spans(desk, jobs)) == JOBS_AT_ONCE
    # The provider saw it too: it was asked for all six before it had answered one of them.
    asked = sorted(calls_at(desk, job) for job in jobs)
    first_answer = min(attempt["ended_at"] for job in jobs for attempt in desk.attempts(job))
    assert sum(at < first_answer for at in asked) == JOBS_AT_ONCE


def calls_at(desk: Desk, job: str) -> float:
    """Return when the provider got its one call for a job, in the database's milliseconds."""
    (call,) = desk.calls(job)
    (found,) = desk.d1("SELECT (julianday(?1) - 2440587.5) * 86400000 AS at", call["at"])
    return float(found["at"])


def test_a_job_that_crashed_before_is_worked_alone_after_its_neighbours(desk: Desk) -> None:
    crashed = desk.job(state="retrying", crashes=1, attempts=1, attempt_no=1)
    good = [desk.job(), desk.job()]
    for job in good:
        desk.order(job, seconds=1)

    batch = [desk.message(job) for job in (crashed, *good)]
    assert desk.deliver(*batch) == [ACK] * 3

    (begun, _), *others = spans(desk, [crashed, *good])
    assert begun >= max(end for _, end in others)
    assert most_at_once(others) == 2
    assert [desk.row(job)["leased_alone"] for job in (crashed, *good)] == [1, 0, 0]
    assert [desk.row(job)["state"] for job in (crashed, *good)] == ["succeeded"] * 3


def test_jobs_that_crashed_before_are_not_even_worked_beside_each_other(desk: Desk) -> None:
    jobs = [
        desk.job(state="retrying", crashes=1, attempts=1, attempt_no=1),
        desk.job(**leased(ends_in=-1)),
        desk.job(state="retrying", crashes=2, attempts=2, attempt_no=2),
    ]
    for job in jobs:
        desk.order(job, seconds=0.5)

    assert desk.deliver(*[desk.message(job) for job in jobs]) == [ACK] * 3

    assert most_at_once(spans(desk, jobs)) == 1
    assert [desk.row(job)["state"] for job in jobs] == ["succeeded"] * 3


def test_a_quarantined_job_whose_time_has_not_come_is_only_knocked_for(desk: Desk) -> None:
    job = desk.job(state="retrying", crashes=1, attempts=1, attempt_no=1, due_at=FromNow(60))
    before = desk.unchanging(job)

    (seconds,) = desk.deliver(desk.message(job))

    assert isinstance(seconds, int)
    assert desk.unchanging(job) == before


def test_when_the_isolate_dies_its_jobs_are_worked_again_one_by_one(desk: Desk) -> None:
    jobs = [desk.job() for _ in range(3)]
    batch = [desk.message(job) for job in jobs]
    die_at_work(desk, jobs)

    until(lambda: all(expired(desk.row(job)) for job in jobs))
    assert desk.deliver(*batch) == [ACK] * 3
    assert most_at_once(spans(desk, jobs)) == 1
    for job in jobs:
        told = [(a["outcome"], a["error_class"]) for a in desk.attempts(job)]
        assert told == [("failed", "crashed"), ("succeeded", None)]


def test_a_dead_holders_job_is_taken_back_when_its_lease_ends_however_long_it_had_waited(
    desk: Desk,
) -> None:
    job = desk.job(wakes=9)  # and, as every row here, not to be woken before tomorrow
    die_at_work(desk, [job])

    until(lambda: expired(desk.row(job)))
    desk.stack.sweep()

    until(lambda: desk.row(job)["state"] == "succeeded")
    assert [attempt["error_class"] for attempt in desk.attempts(job)] == ["crashed", None]


def die_at_work(desk: Desk, jobs: list[str]) -> None:
    """Destroy the isolate while it works these jobs; the queue does not bring them again."""

    def deliver_in_vain() -> None:
        with contextlib.suppress(AssertionError, httpx.HTTPError):
            desk.deliver(*[desk.message(job) for job in jobs])

    for job in jobs:
        desk.order(job, hang=True)
    delivering = threading.Thread(target=deliver_in_vain)
    delivering.start()
    until(lambda: all(desk.calls(job) for job in jobs))
    desk.stack.post("/kill", {"worker": "uketsuke-consumer"})
    delivering.join(timeout=30)
    assert [desk.row(job)["state"] for job in jobs] == ["running"] * len(jobs)


def expired(row: dict[str, Any]) -> bool:
    return bool(row["leased_until"] < row["now"])


def test_a_last_attempt_that_died_in_company_is_tried_once_more_alone(desk: Desk) -> None:
    job = desk.job(**{**leased(ends_in=-1), "attempts": 5, "attempt_no": 5})

    (seconds,) = desk.deliver(desk.message(job))
    assert isinstance(seconds, int)
    assert (desk.row(job)["state"], desk.row(job)["attempts"]) == ("retrying", 4)

    assert desk.deliver(desk.message(job)) == [ACK]
    row = desk.row(job)
    assert (row["state"], row["attempts"], row["leased_alone"]) == ("succeeded", 5, 1)
    told = [(a["number"], a["outcome"], a["error_class"]) for a in desk.attempts(job)]
    assert told == [(5, "deferred", "crashed"), (6, "succeeded", None)]


def test_a_job_that_kills_its_worker_fails_and_its_neighbour_lives(desk: Desk) -> None:
    # As the crash of a common batch left them; the killer's second crash was a lone one.
    killer = desk.job(
        **{**leased(ends_in=-1), "attempts": 3, "attempt_no": 3, "leased_alone": 1},
        crashes=2,
        lone_crashes=1,
    )
    neighbour = desk.job(**leased(ends_in=-1))

    assert desk.deliver(desk.message(killer), desk.message(neighbour), queue=JOBS) == [ACK, ACK]

    assert (desk.row(killer)["state"], desk.row(neighbour)["state"]) == ("failed", "succeeded")
    assert [letter["road"] for letter in desk.letters(killer)] == ["crashed"]
    assert desk.calls(killer) == []
