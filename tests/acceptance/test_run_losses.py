"""Runs that lose their isolate, their instance or their time, on a stack that may be hurt.

Its lease is long enough that an instance notices by itself only after four seconds what was done
to its row: until then it is as live and as ignorant as one that a bad network cut off.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import replace

import pytest

from tests.acceptance.runs import FINE, STEPS, SUCCEEDED, Desk, End, slow
from tests.support.running import Stack, until
from uketsuke.adapters.sql.terms import NOW

_CRASHED = replace(
    SUCCEEDED, attempts=2, history=(("failed", "crashed"), ("succeeded", None)), instances=()
)
_STALE = End(
    state="failed",
    attempts=1,
    error="stale",
    history=(("failed", "stale"),),
    letters=(("stale", "run_outlived_its_limit"),),
    instances=("terminated",),
)


@pytest.fixture(scope="module")
def stack(other_stack: Stack) -> Stack:
    return other_stack


@pytest.fixture(scope="module")
def lost(stack: Stack) -> Iterator[tuple[Desk, Mapping[str, str]]]:
    """Runs that lose all at once, so that one lease's time is waited for all of them."""
    with Desk.open(stack) as desk:
        runs = {
            "terminated": desk.start(FINE, slow(60)),
            "killed": desk.start(FINE, slow(60)),
            "last": desk.start(FINE, slow(60), max_attempts=1),
            "unwanted": desk.start(FINE, slow(60)),
        }
        for job in runs.values():
            desk.sees_call(job, "piece-2.0")
        desk.terminate(runs["terminated"])
        runs["young"] = desk.start()
        stack.post("/kill", {"worker": "uketsuke-consumer"})
        wished = desk.api.post(f"/v1/jobs/{runs['unwanted']}/cancel")
        assert (wished.status_code, wished.json()["state"]) == (200, "running")
        yield desk, runs


def test_a_run_whose_isolate_died_goes_on_in_its_next_attempt(
    lost: tuple[Desk, Mapping[str, str]],
) -> None:
    desk, runs = lost

    end = desk.end(runs["killed"], within=60, sweeping=True)

    assert end == replace(_CRASHED, instances=("errored", "complete"))
    # What was under way is asked for again under its old name; what was done is not.
    steps = ["piece-1.0", "piece-2.0", "piece-2.0", "piece-3.0", "join.0"]
    assert desk.steps(runs["killed"]) == steps


def test_a_run_whose_instance_was_terminated_goes_on_in_its_next_attempt(
    lost: tuple[Desk, Mapping[str, str]],
) -> None:
    desk, runs = lost

    end = desk.end(runs["terminated"], within=60, sweeping=True)

    assert end == replace(_CRASHED, instances=("terminated", "complete"))
    steps = ["piece-1.0", "piece-2.0", "piece-2.0", "piece-3.0", "join.0"]
    assert desk.steps(runs["terminated"]) == steps


def test_a_run_whose_isolate_died_at_its_last_attempt_fails_as_crashed(
    lost: tuple[Desk, Mapping[str, str]],
) -> None:
    desk, runs = lost

    end = desk.end(runs["last"], within=60, sweeping=True)

    assert end == End(
        state="failed",
        attempts=1,
        error="crashed",
        history=(("failed", "crashed"),),
        letters=(("crashed", "worker_crashed"),),
        instances=("errored",),
    )
    assert desk.steps(runs["last"]) == ["piece-1.0", "piece-2.0"]


def test_a_run_that_died_and_was_then_canceled_does_not_go_on(
    lost: tuple[Desk, Mapping[str, str]],
) -> None:
    desk, runs = lost

    end = desk.end(runs["unwanted"], within=60, sweeping=True)

    assert end == End(
        state="canceled",
        attempts=1,
        error="crashed",
        history=(("canceled", "crashed"),),
        instances=("errored",),
    )
    assert desk.steps(runs["unwanted"]) == ["piece-1.0", "piece-2.0"]


def test_a_run_whose_isolate_died_at_its_start_ends_well(
    lost: tuple[Desk, Mapping[str, str]],
) -> None:
    desk, runs = lost

    end = desk.end(runs["young"], within=60, sweeping=True)

    # Whether its instance had begun when the isolate died is the engine's to know.
    *crashes, last = end.history
    assert crashes in ([], [("failed", "crashed")])
    assert (end.state, end.error, last) == ("succeeded", None, ("succeeded", None))
    assert end.attempts == len(end.history)


def test_a_new_start_ends_a_run_that_has_outlived_its_limit(desk: Desk) -> None:
    old = desk.start(FINE, slow(60), run_key="nightly")
    desk.sees_call(old, "piece-2.0")
    assert desk.post(run_key="nightly").status_code == 409
    outlive(desk, old)

    new = desk.start(run_key="nightly")
    ended_at_once = desk.shown(old)["state"]
    desk.stack.sweep()

    assert ended_at_once == "failed"
    assert desk.end(old) == _STALE
    assert desk.end(new) == SUCCEEDED
    assert doomed(desk, old) == []


def test_a_late_write_of_a_run_that_has_outlived_its_limit_is_refused_and_counted(
    desk: Desk,
) -> None:
    old = desk.start(FINE, FINE, FINE, slow(2), run_key="nightly")
    desk.sees_call(old, "join.0")
    before = late_writes(desk)
    with nobody_ends_instances(desk):
        outlive(desk, old)
        new = desk.start(run_key="nightly")

        until(lambda: late_writes(desk) == before + 1)

        end = desk.end(old)
    assert end == replace(_STALE, instances=("complete",))
    assert desk.instance(old)["output"] == {"outcome": "lost"}
    assert desk.steps(old) == [f"{step}.0" for step in STEPS]
    assert desk.api.get(f"/v1/jobs/{old}/result").json()["code"] == "job_failed"
    assert desk.end(new) == SUCCEEDED
    desk.stack.sweep()
    assert doomed(desk, old) == []


def test_the_sweep_alone_ends_a_run_that_has_outlived_its_limit(desk: Desk) -> None:
    job = desk.start(FINE, slow(60), run_key="nightly")
    desk.sees_call(job, "piece-2.0")
    outlive(desk, job, silent=True)

    desk.stack.sweep()

    assert desk.end(job) == _STALE
    assert desk.end(desk.start(run_key="nightly")) == SUCCEEDED
    assert doomed(desk, job) == []


def outlive(desk: Desk, job: str, *, silent: bool = False) -> None:
    """Let the run's limit and the lease of grace pass for its row; and its lease, if ``silent``."""
    columns = ("leased_at", "leased_until", "wake_at") if silent else ("leased_at",)
    back = ", ".join(f"{column} = {column} - run_limit_ms - 9000" for column in columns)
    desk.stack.d1(f"UPDATE jobs SET {back} WHERE id = ?1", job)  # noqa: S608


def doomed(desk: Desk, job: str) -> object:
    """Return the instances of a job that are still to be terminated."""
    return desk.stack.d1("SELECT id FROM doomed_instances WHERE id LIKE ?1 || '%'", job)


def late_writes(desk: Desk) -> int:
    rows = desk.stack.d1("SELECT value FROM counters WHERE name = 'late_writes'")
    return int(rows[0]["value"]) if rows else 0


@contextlib.contextmanager
def nobody_ends_instances(desk: Desk) -> Iterator[None]:
    """Keep the cron's own sweep from that duty, as another sweep would that hangs in it."""
    d1 = desk.stack.d1
    d1("DELETE FROM duties WHERE name = 'end_doomed'")
    sql = f"INSERT INTO duties (name, leased_until) VALUES ('end_doomed', {NOW} + 600000)"  # noqa: S608
    d1(sql)
    try:
        yield
    finally:
        d1("DELETE FROM duties WHERE name = 'end_doomed'")
