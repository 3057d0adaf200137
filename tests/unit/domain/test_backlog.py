"""The backlog: which of all live jobs is the oldest, whatever its kind and state."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from uketsuke.domain.backlog import Backlog, LiveJobs
from uketsuke.domain.lifecycle import JobState

NOON = datetime(2026, 11, 29, 12, tzinfo=UTC)


def live(kind: str, state: JobState, *, seconds: int) -> LiveJobs:
    return LiveJobs(
        kind=kind,
        state=state,
        count=2,
        due=0,
        oldest=timedelta(seconds=seconds),
        oldest_id=f"{kind} {state}",
        oldest_due=None,
    )


def test_the_oldest_is_named_of_those_that_wait_and_of_those_that_run() -> None:
    backlog = Backlog(
        at=NOON,
        live=[
            live("embed", JobState.ACCEPTED, seconds=3),
            live("report", JobState.RETRYING, seconds=5),
            live("summarize", JobState.ACCEPTED, seconds=4),
            live("embed", JobState.RUNNING, seconds=8),
            live("report", JobState.RUNNING, seconds=9),
        ],
    )

    assert backlog.oldest_waiting_id == "report retrying"
    assert backlog.oldest_waiting == timedelta(seconds=5)
    assert backlog.oldest_running_id == "report running"


def test_where_nothing_lives_nothing_is_the_oldest() -> None:
    backlog = Backlog(at=NOON, live=[])

    assert (backlog.oldest_waiting_id, backlog.oldest_running_id) == (None, None)
