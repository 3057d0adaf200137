"""Waits between tries, and what another side asks for."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uketsuke.domain.backoff import (
    LONGEST_REQUEST,
    RetryPolicy,
    parse_retry_after,
    retry_delay,
)

POLICY = RetryPolicy(base=timedelta(seconds=5), cap=timedelta(minutes=10))
NOW = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)
draws = st.floats(min_value=0, max_value=1, exclude_max=True)


@given(attempt=st.integers(0, 10_000), draw=draws)
def test_a_wait_lies_between_nothing_and_the_cap(attempt: int, draw: float) -> None:
    assert timedelta() <= retry_delay(POLICY, attempt=attempt, draw=draw) <= POLICY.cap


@given(attempt=st.integers(1, 50), draw=draws)
def test_the_ceiling_never_falls_with_more_attempts(attempt: int, draw: float) -> None:
    earlier = retry_delay(POLICY, attempt=attempt, draw=draw)

    assert retry_delay(POLICY, attempt=attempt + 1, draw=draw) >= earlier


@given(attempt=st.integers(1, 50), draw=draws, asked=st.integers(0, 10_000))
def test_a_requested_wait_is_a_floor(attempt: int, draw: float, asked: int) -> None:
    requested = timedelta(seconds=asked)

    wait = retry_delay(POLICY, attempt=attempt, draw=draw, requested=requested)

    assert requested <= wait <= requested + POLICY.cap


def test_those_who_were_told_the_same_do_not_come_back_together() -> None:
    requested = timedelta(seconds=30)

    waits = {
        retry_delay(POLICY, attempt=3, draw=draw / 10, requested=requested) for draw in range(10)
    }

    assert len(waits) == 10


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("7", timedelta(seconds=7)),
        (" 7 ", timedelta(seconds=7)),
        (format_datetime(NOW + timedelta(seconds=90), usegmt=True), timedelta(seconds=90)),
        ("Sun, 29 Nov 2026 12:01:30 -0000", timedelta(seconds=90)),
        ("999999999999999999999", LONGEST_REQUEST),
        (format_datetime(NOW + timedelta(days=400), usegmt=True), LONGEST_REQUEST),
        ("0", None),
        ("-5", None),
        ("1.5", None),
        ("²", None),
        ("soon", None),
        ("", None),
        (None, None),
        ("Sun, 99 Foo 2026 99:99:99 GMT", None),
        (format_datetime(NOW - timedelta(seconds=1), usegmt=True), None),
    ],
)
def test_retry_after_is_read_in_both_forms_and_garbage_is_nothing(
    value: str | None, expected: timedelta | None
) -> None:
    assert parse_retry_after(value, now=NOW) == expected


@given(st.text())
def test_no_retry_after_can_do_harm(value: str) -> None:
    wait = parse_retry_after(value, now=NOW)

    assert wait is None or timedelta() < wait <= LONGEST_REQUEST
