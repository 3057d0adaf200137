"""Runs that a schedule starts, with every end that a run may come to, and the power cut among them.

Two stories of one stack: what ends before the cut, and what goes on after it.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.runs import BRIEF, STEPS, SUCCEEDED, Desk, End, slow
from tests.support.running import Stack, until
from uketsuke.domain.schedule import ScheduleKey
from uketsuke.services.occurrences import job_id_of

NEVER = "0 0 1 1 *"  # none of its own accord: each test says itself when it is due


@dataclass(frozen=True, kw_only=True)
class Clock:
    """A tenant's schedules, made due by hand."""

    desk: Desk
    tenant: str
    names: dict[str, str] = field(default_factory=dict)  # of the schedule that started a job

    def due(self, faults: Mapping[str, dict[str, Any]] | None = None, **members: Any) -> str:
        """Put a schedule that is due, order faults for its job's steps, and return the job's id."""
        name = f"s-{secrets.token_hex(4)}"
        asked = {"cron": NEVER, "kind": "summarize", "input": {"text": BRIEF}, **members}
        answer = self.desk.api.put(f"/v1/schedules/{name}", json=asked)
        assert answer.status_code == 201, answer.text
        return self.due_again(name, faults)

    def due_again(self, name: str, faults: Mapping[str, dict[str, Any]] | None = None) -> str:
        at = datetime.fromtimestamp(int(time.time()) - 1, UTC)
        d1 = self.desk.stack.d1
        (row,) = d1("SELECT generation FROM schedules WHERE name = ?1", name)
        job = job_id_of(ScheduleKey(self.tenant, name), generation=row["generation"], at=at)
        self.names[job] = name
        for step, fault in (faults or {}).items():
            match = {"match": {"idempotency-key": f"{job}.{step}"}}
            self.desk.stack.order(**{"count": 1, "route": "chat", **match, **fault})
        # Last: the cron's own minute may come at any time.
        at_ms = int(at.timestamp() * 1000)
        d1("UPDATE schedules SET next_at = ?2 WHERE name = ?1", name, at_ms)
        return job

    def occurrence(self, job: str) -> tuple[str, str | None]:
        sql = "SELECT state, reason FROM occurrences WHERE job_id = ?1"
        (row,) = self.desk.stack.d1(sql, job)
        return row["state"], row["reason"]


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
            name: clock.due({"piece-2.0": slow(60)})
            for name in ("watched", "held", "terminated", "outlived")
        },
    }
    clock.desk.stack.sweep()
    # The first test's end clears the orders: until then the last of them must have been met.
    clock.desk.sees_call(jobs["lasting"], "piece-2.0.2")
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


def test_a_power_cut_loses_no_scheduled_run_and_starts_none_twice(tmp_path: Path) -> None:
    """One is cut in the middle, one was recorded and never begun, one falls due meanwhile."""
    own = Stack(state=tmp_path).start()
    try:
        with Desk.open(own) as before:
            clock = Clock(desk=before, tenant=own.tenant_of(before.key))
            midway = clock.due({"piece-2.0": slow(60)})
            own.sweep()
            before.sees_call(midway, "piece-2.0")
            missed = clock.due()
            recorded = clock.due()
            record(clock, recorded)
        own.kill()
        own.start()
        with Desk.open(own, key=before.key) as after:
            for job in (midway, missed, recorded):
                until(partial(_is_there, after, job), within=60, every=0.5)
                assert after.end(job, within=60, sweeping=True) == SUCCEEDED
            assert after.steps(midway) == ["piece-2.0", "piece-3.0", "join.0"]
    finally:
        own.stop()


def record(clock: Clock, job: str) -> None:
    """Leave things as a cron does that dies right after it has recorded an occurrence."""
    sql = """
    INSERT INTO occurrences (tenant_id, schedule, generation, due_at, job_id, state, recorded_at)
    SELECT tenant_id, name, generation, next_at, ?2, 'recorded', next_at
      FROM schedules WHERE tenant_id = ?1 AND name = ?3
    """
    clock.desk.stack.d1(sql, clock.tenant, job, clock.names[job])
    clock.desk.stack.d1("UPDATE schedules SET next_at = NULL WHERE name = ?1", clock.names[job])


def _is_there(desk: Desk, job: str) -> bool:
    desk.stack.sweep()
    return desk.api.get(f"/v1/jobs/{job}").status_code == 200
