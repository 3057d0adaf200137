"""How fast a bulk redrive may go, when it stops by itself, and that its page tells its words."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uketsuke.domain.bulk_redrive import (
    BulkRedrive,
    LetterFilter,
    RedriveState,
    SkipReason,
    StoppedBecause,
    Stretch,
    allowance,
    judge_canaries,
    judge_latest,
)

T0 = datetime(2026, 11, 29, tzinfo=UTC)
TICK = timedelta(seconds=60)
PAGE = Path(__file__).parents[3] / "docs" / "redrives.md"


def bulk(**changes: Any) -> BulkRedrive:
    values: dict[str, Any] = {
        "id": "rd_1",
        "state": RedriveState.RUNNING,
        "wanted": LetterFilter(),
        "reason": "why",
        "rate_per_minute": 60,
        "canary": 3,
        "total": 9,
        "created_at": T0,
        "created_by": "k",
        "request_id": "r",
        "all_seen": False,
        "tries": 0,
        "paced_at": T0,
        "stopping": None,
        "stopped_by": None,
        "finished_at": None,
    }
    return BulkRedrive(**{**values, **changes})


@given(
    rate=st.integers(1, 600),
    waits=st.lists(st.integers(0, 600_000), min_size=1, max_size=30),
)
def test_no_more_is_started_than_the_rate_allows_and_nothing_of_the_time_is_lost(
    rate: int, waits: list[int]
) -> None:
    now, paced_at, started = T0, T0, 0
    for wait in waits:
        now += timedelta(milliseconds=wait)
        count, paced_at = allowance(
            bulk(rate_per_minute=rate, paced_at=paced_at), now=now, tick=TICK
        )
        started += count

        assert count <= 2 * rate
        assert paced_at <= now
    assert started <= (now - T0) / TICK * rate + 1e-6
    if max(waits) <= 60_000:
        assert started > (now - T0) / TICK * rate - 1.01


def test_a_sweep_that_was_away_does_not_make_up_for_all_of_it() -> None:
    now = T0 + timedelta(hours=1)

    assert allowance(bulk(), now=now, tick=TICK) == (120, now)


@pytest.mark.parametrize(("again", "of", "stops"), [(1, 3, False), (2, 3, True), (1, 2, False)])
def test_more_than_half_of_the_canaries_must_fail_as_before(
    again: int, of: int, stops: bool
) -> None:
    stopping = judge_canaries([True] * again + [False] * (of - again))

    assert (stopping is not None) == stops
    if stopping:
        assert stopping.because is StoppedBecause.CANARIES_FAILED
        assert stopping.detail == "2 of the first 3 failed again with the same fingerprint."


def test_canaries_of_which_none_was_left_tell_nothing() -> None:
    assert judge_canaries([]) is None


@pytest.mark.parametrize(
    ("again", "of", "stops"), [(10, 11, False), (11, 11, True), (10, 20, False), (11, 20, True)]
)
def test_more_than_half_of_twenty_started_one_after_another_must_fail_as_before(
    again: int, of: int, stops: bool
) -> None:
    stopping = judge_latest(Stretch(again=again, started=of))

    assert (stopping is not None) == stops
    if stopping:
        assert stopping.because is StoppedBecause.STILL_FAILING
        assert stopping.detail == (
            f"11 of {of} that were started one after another failed again "
            "with the same fingerprint."
        )


def test_a_bulk_redrive_goes_on_while_nothing_tells_against_it() -> None:
    assert judge_latest(None) is None


@pytest.mark.parametrize("words", [RedriveState, StoppedBecause, SkipReason])
def test_the_page_tells_what_each_word_means(words: type[StrEnum]) -> None:
    listed = re.findall(r"^\| `(\w+)` \|", PAGE.read_text(), re.MULTILINE)

    assert set(words) <= set(listed)
