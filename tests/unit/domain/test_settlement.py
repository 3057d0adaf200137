"""What a failure does to its job."""

from __future__ import annotations

from datetime import timedelta

import pytest

from uketsuke.domain.backoff import RetryPolicy
from uketsuke.domain.failure import (
    MESSAGES,
    AttemptFailed,
    ErrorClass,
    Failure,
    Road,
    classify,
    message_of,
)
from uketsuke.domain.settlement import GiveUp, TryAgain, decide

POLICY = RetryPolicy(base=timedelta(seconds=5), cap=timedelta(minutes=10))


def after(
    error_class: ErrorClass,
    *,
    attempts: int = 1,
    attempt: int = 0,
    time_left: timedelta = timedelta(hours=1),
    asked: timedelta | None = None,
) -> TryAgain | GiveUp:
    return decide(
        Failure(error_class=error_class, code="unexpected", retry_after=asked),
        attempt=attempt or attempts,
        attempts=attempts,
        max_attempts=3,
        time_left=time_left,
        policy=POLICY,
        draw=0.5,
    )


@pytest.mark.parametrize(
    "error_class",
    [
        ErrorClass.INVALID_INPUT,
        ErrorClass.TOO_LARGE,
        ErrorClass.REFUSED,
        ErrorClass.DENIED,
        ErrorClass.NOT_FOUND,
    ],
)
def test_what_cannot_get_better_fails_at_once(error_class: ErrorClass) -> None:
    assert after(error_class) == GiveUp(road=Road.PERMANENT)


def test_a_job_over_budget_or_out_of_time_goes_its_own_road() -> None:
    assert after(ErrorClass.BUDGET) == GiveUp(road=Road.BUDGET)
    assert after(ErrorClass.DEADLINE) == GiveUp(road=Road.DEADLINE)


@pytest.mark.parametrize(
    "error_class",
    [ErrorClass.TIMEOUT, ErrorClass.UNAVAILABLE, ErrorClass.UNKNOWN, ErrorClass.CRASHED],
)
def test_what_may_get_better_is_tried_until_the_attempts_are_spent(error_class: ErrorClass) -> None:
    assert after(error_class) == TryAgain(wait=timedelta(seconds=2.5), gives_back=False)
    assert after(error_class, attempts=3) == GiveUp(road=Road.EXHAUSTED)


@pytest.mark.parametrize("error_class", [ErrorClass.THROTTLED, ErrorClass.QUOTA])
def test_a_wait_that_is_not_the_jobs_fault_is_given_back(error_class: ErrorClass) -> None:
    then = after(error_class, attempts=3, asked=timedelta(minutes=5))

    assert isinstance(then, TryAgain)
    assert then.gives_back
    assert then.wait >= timedelta(minutes=5)


def test_a_next_try_past_the_deadline_is_no_try() -> None:
    then = after(ErrorClass.THROTTLED, time_left=timedelta(minutes=4), asked=timedelta(minutes=5))

    assert then == GiveUp(road=Road.DEADLINE)


def test_a_known_failure_keeps_its_class_and_its_wait() -> None:
    error = AttemptFailed(
        ErrorClass.THROTTLED, "provider_throttled", retry_after=timedelta(seconds=9)
    )

    failure = classify(error)

    assert failure.error_class is ErrorClass.THROTTLED
    assert failure.retry_after == timedelta(seconds=9)
    assert failure.message == MESSAGES["provider_throttled"]


@pytest.mark.parametrize("error", [ValueError("secret words"), KeyError("x"), RecursionError()])
def test_the_unforeseen_is_unknown_and_says_nothing_of_itself(error: Exception) -> None:
    failure = classify(error)

    assert failure.error_class is ErrorClass.UNKNOWN
    assert failure.message == MESSAGES["unexpected"]


def test_a_timeout_is_a_timeout() -> None:
    assert classify(TimeoutError()).error_class is ErrorClass.TIMEOUT


def test_a_code_of_another_version_gets_the_general_message() -> None:
    assert message_of("a_code_from_the_future") == MESSAGES["unexpected"]


def test_waits_grow_also_over_attempts_that_are_given_back() -> None:
    waits = [after(ErrorClass.THROTTLED, attempts=1, attempt=number) for number in range(1, 5)]

    seconds = [then.wait.total_seconds() for then in waits if isinstance(then, TryAgain)]
    assert seconds == [2.5, 5, 10, 20]
