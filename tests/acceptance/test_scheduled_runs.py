"""Runs that a schedule starts, with every end that a run may come to but a power cut."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from tests.acceptance.clockwork import Clock
from tests.acceptance.runs import STEPS, SUCCEEDED, Desk, End, slow
from tests.support.running import Stack, until


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    own = Stack(state=Path(tmp_path_factory.mktemp("clockwork"))).start()
    try:
        yield own
    finally:
        own.stop()


@pytest.fixture(autouse=True)
def no_faults_left() -> None:
    """Clear nothing: the runs, and what they shall meet, outlive the first of the tests."""


@pytest.fixture(scope="module")
def clock(stack: Stack) -> Iterator[Clock]:
    with Desk.open(stack) as desk:
        yield Clock(desk=desk, tenant=stack.tenant_of(desk.key))


@pytest.fixture(scope="module")
def runs(clock: Clock) -> Mapping[str, str]:
    """All of them are started by one tick, and left to their fates."""
    jobs = {
        "fine": clock.due(),
        "passing": clock.due({"piece-2.0": {"status": 500}}),
        "lasting": clock.due({f"piece-2.0{n}": {"status": 500} for n in ("", ".1", ".2")}),
        "permanent": clock.due({"piece-1.0": {"status": 422}}),
        **{
            # Slow at each try: who looks may come late.
            name: clock.due({"piece-2.0": {**slow(60), "count": 9}})
            for name in ("watched", "held")
        },
        **{name: clock.due({"piece-2.0": slow(60)}) for name in ("terminated", "outlived")},
    }
    clock.desk.stack.sweep()
    return jobs


def test_the_row_is_there_running_and_the_schedule_knows_its_job(
    clock: Clock, runs: Mapping[str, str]
) -> None:
    desk, job = clock.desk, runs["watched"]
    desk.sees_call(job, "piece-2.0")

    shown = desk.shown(job)
    name = clock.names[job]
    schedule = desk.api.get(f"/v1/schedules/{name}").json()
    listed = desk.api.get("/v1/jobs", params={"run_key": f"schedule:{name}"}).json()["items"]

    assert (shown["state"], shown["origin"], shown["attempts"]) == ("running", "schedule", 1)
    assert [one["id"] for one in listed] == [job]
    assert (schedule["last"]["job_id"], schedule["last"]["outcome"]) == (job, "started")
    assert clock.occurrence(job) == ("started", None)


def test_nothing_else_starts_while_it_runs_neither_by_hand_nor_by_the_clock(
    clock: Clock, runs: Mapping[str, str]
) -> None:
    desk, job = clock.desk, runs["held"]
    desk.sees_call(job, "piece-2.0")
    name = clock.names[job]

    by_hand = desk.api.post(f"/v1/schedules/{name}/trigger")
    submitted = desk.post(run_key=f"schedule:{name}")
    again = clock.due_again(name)
    desk.stack.sweep()

    for refused in (by_hand, submitted):
        assert refused.status_code == 409
        assert refused.json()["id"] == job
    until(lambda: clock.occurrence(again) == ("skipped", "run_in_progress"))
    assert desk.api.get(f"/v1/jobs/{again}").status_code == 404
    last = desk.api.get(f"/v1/schedules/{name}").json()["last"]
    assert (last["outcome"], last["job_id"]) == ("skipped", None)


def test_a_scheduled_run_comes_to_the_ends_that_any_run_comes_to(
    clock: Clock, runs: Mapping[str, str]
) -> None:
    desk = clock.desk
    twice = replace(SUCCEEDED, attempts=2, instances=("complete", "complete"))

    assert desk.end(runs["fine"]) == SUCCEEDED
    assert desk.end(runs["passing"]) == SUCCEEDED
    assert desk.end(runs["lasting"]) == replace(
        twice, history=(("failed", "unavailable"), ("succeeded", None))
    )
    assert desk.end(runs["permanent"]) == End(
        state="failed",
        attempts=1,
        error="invalid_input",
        history=(("failed", "invalid_input"),),
        letters=(("permanent", "provider_rejected_input"),),
        instances=("errored",),
    )
    assert desk.steps(runs["fine"]) == [f"{step}.0" for step in STEPS]


def test_a_scheduled_run_that_lost_its_instance_goes_on_in_its_next_attempt(
    clock: Clock, runs: Mapping[str, str]
) -> None:
    desk, job = clock.desk, runs["terminated"]
    desk.sees_call(job, "piece-2.0")
    desk.terminate(job)

    assert desk.end(job, within=60, sweeping=True) == replace(
        SUCCEEDED,
        attempts=2,
        history=(("failed", "crashed"), ("succeeded", None)),
        instances=("terminated", "complete"),
    )


def test_an_occurrence_ends_the_run_before_it_that_has_outlived_its_limit(
    clock: Clock, runs: Mapping[str, str]
) -> None:
    desk, job = clock.desk, runs["outlived"]
    desk.sees_call(job, "piece-2.0")
    name = clock.names[job]
    sql = "UPDATE jobs SET leased_at = leased_at - run_limit_ms - 60000 WHERE id = ?1"
    desk.stack.d1(sql, job)

    after = clock.due_again(name)
    desk.stack.sweep()

    assert desk.end(after, within=60, sweeping=True) == SUCCEEDED
    assert desk.end(job, within=60, sweeping=True) == End(
        state="failed",
        attempts=1,
        error="stale",
        history=(("failed", "stale"),),
        letters=(("stale", "run_outlived_its_limit"),),
        instances=("terminated",),
    )


def test_a_tick_that_comes_many_times_starts_an_occurrence_once(clock: Clock) -> None:
    job = clock.due()
    for _ in range(4):
        clock.desk.stack.sweep()

    assert clock.desk.end(job) == SUCCEEDED
    assert clock.desk.steps(job) == [f"{step}.0" for step in STEPS]
