"""A parked lane, reckoned: who waits how long, and whose failure concerns all who ask there."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uketsuke.domain.failure import LANE_PARKED, AttemptFailed, ErrorClass, Failure, Road
from uketsuke.domain.lane import Park, wait_for_lane
from uketsuke.domain.settlement import GiveUp, TryAgain, decide_parked

SPREAD = timedelta(seconds=60)
HOUR = timedelta(hours=1)
durations = st.timedeltas(min_value=timedelta(seconds=-100), max_value=timedelta(days=2))


def failure(error_class: ErrorClass, code: str = "unexpected", *, lane: bool = True) -> Failure:
    return Failure(error_class=error_class, code=code, lane="p/m" if lane else None)


@given(opens_in=durations, time_left=durations, draw=st.floats(0, 1, exclude_max=True))
def test_nobody_comes_before_the_lane_opens_or_long_after(
    opens_in: timedelta, time_left: timedelta, draw: float
) -> None:
    wait = wait_for_lane(Park(opens_in=opens_in), time_left=time_left, spread=SPREAD, draw=draw)

    start = max(opens_in, timedelta())
    assert start <= wait <= start + SPREAD
    # What could be worked before its deadline does not wait until that is past.
    assert wait < time_left or start >= time_left


def test_whoever_leads_comes_when_the_lane_opens() -> None:
    park = Park(opens_in=timedelta(seconds=5), leads=True)

    wait = wait_for_lane(park, time_left=HOUR, spread=SPREAD, draw=0.9)

    assert wait == timedelta(seconds=5)


@pytest.mark.parametrize(
    ("error_class", "code", "parks"),
    [
        (ErrorClass.THROTTLED, "provider_throttled", True),
        (ErrorClass.QUOTA, "provider_quota_used_up", True),
        (ErrorClass.DENIED, "provider_denied", True),
        (ErrorClass.NOT_FOUND, "model_not_found", True),
        (ErrorClass.NOT_FOUND, "input_gone", False),
        (ErrorClass.UNAVAILABLE, "provider_unavailable", False),
        (ErrorClass.INVALID_INPUT, "provider_rejected_input", False),
    ],
)
def test_only_what_meets_all_who_ask_parks_a_lane(
    error_class: ErrorClass, code: str, parks: bool
) -> None:
    assert failure(error_class, code).parks is parks
    assert not failure(error_class, code, lane=False).parks


def test_being_turned_away_by_a_parked_lane_is_no_word_of_the_providers() -> None:
    assert not failure(ErrorClass.THROTTLED, LANE_PARKED).definite


def test_an_exception_carries_its_failure_whole() -> None:
    denied = failure(ErrorClass.DENIED, "provider_denied")

    assert AttemptFailed.of(denied).failure == denied


@pytest.mark.parametrize(
    ("error_class", "opened", "then"),
    [
        (ErrorClass.DENIED, True, GiveUp(road=Road.PERMANENT)),
        (ErrorClass.NOT_FOUND, True, GiveUp(road=Road.PERMANENT)),
        (ErrorClass.DENIED, False, TryAgain(wait=timedelta(seconds=40), gives_back=True)),
        (ErrorClass.THROTTLED, True, TryAgain(wait=timedelta(seconds=40), gives_back=True)),
    ],
)
def test_only_who_found_it_out_fails_for_our_own_mistake(
    error_class: ErrorClass, opened: bool, then: TryAgain | GiveUp
) -> None:
    park = Park(opens_in=timedelta(seconds=10), opened=opened)

    assert then == decide_parked(
        failure(error_class), park, time_left=HOUR, spread=SPREAD, draw=0.5
    )


def test_a_park_that_lasts_longer_than_the_job_may_ends_it() -> None:
    park = Park(opens_in=HOUR)

    then = decide_parked(
        failure(ErrorClass.THROTTLED), park, time_left=HOUR, spread=SPREAD, draw=0.5
    )

    assert then == GiveUp(road=Road.DEADLINE)
