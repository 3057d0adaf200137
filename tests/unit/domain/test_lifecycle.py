"""The lifecycle's table, by example and over any history."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uketsuke.domain.lifecycle import (
    TERMINAL,
    TRANSITIONS,
    WAITING,
    IllegalTransition,
    JobEvent,
    JobState,
    advance,
)


def test_a_job_that_waits_may_run_and_a_job_that_runs_may_succeed() -> None:
    assert advance(JobState.ACCEPTED, JobEvent.LEASED) is JobState.RUNNING
    assert advance(JobState.RUNNING, JobEvent.COMPLETED) is JobState.SUCCEEDED


def test_a_job_cannot_succeed_without_running() -> None:
    with pytest.raises(IllegalTransition, match="completed cannot happen to a accepted job"):
        advance(JobState.ACCEPTED, JobEvent.COMPLETED)


@given(events=st.lists(st.sampled_from(JobEvent)))
def test_nothing_leaves_a_terminal_state(events: list[JobEvent]) -> None:
    state = JobState.ACCEPTED
    for event in events:
        try:
            following = advance(state, event)
        except IllegalTransition:
            continue
        assert state not in TERMINAL
        state = following


def test_every_live_state_has_a_way_to_each_end() -> None:
    for state in JobState:
        ends = {after for (before, _), after in TRANSITIONS.items() if before is state} & TERMINAL
        assert (state in TERMINAL) != bool(ends)


def test_a_state_is_waiting_running_or_terminal() -> None:
    assert WAITING | TERMINAL | {JobState.RUNNING} == set(JobState)
    assert not WAITING & TERMINAL
