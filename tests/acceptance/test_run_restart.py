"""A power cut in the middle of runs on Workflows: everything dies at once, the queue forgets.

The engine wakes nothing by itself afterwards. Its instances are where they were, told to be live,
and nobody lives there: the sweep finds them once their leases have expired.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tests.acceptance.runs import FINE, STEPS, SUCCEEDED, Desk, End, slow
from tests.support.running import Stack, until


@dataclass(frozen=True, kw_only=True)
class PowerCut:
    """Runs of before the cut, and the desk of after. The model's journal began anew with it."""

    desk: Desk
    midway: str
    unborn: str
    outlasted: str
    retrying: str


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    own = Stack(state=Path(tmp_path_factory.mktemp("cut"))).start()
    try:
        yield own
    finally:
        own.stop()


@pytest.fixture(scope="module")
def cut(stack: Stack) -> Iterator[PowerCut]:
    with Desk.open(stack) as before:
        midway = before.start(FINE, slow(60))
        outlasted = before.start(FINE, slow(60))
        for job in (midway, outlasted):
            before.sees_call(job, "piece-2.0")
        stack.d1("UPDATE jobs SET leased_at = leased_at - run_limit_ms WHERE id = ?1", outlasted)
        retrying = before.start(FINE, {"status": 503, "retry_after": 4})
        until(lambda: before.shown(retrying)["state"] == "retrying")
        unborn = before.start(slow(60))
    stack.kill()
    lose_instance(stack, unborn)
    stack.start()
    with Desk.open(stack, key=before.key) as after:
        yield PowerCut(
            desk=after, midway=midway, unborn=unborn, outlasted=outlasted, retrying=retrying
        )


def lose_instance(stack: Stack, job: str) -> None:
    """Make it so that the platform never heard of a run's instance: its row was all there was."""
    files = list((stack.state / "resources" / "workflows").rglob("*.sqlite*"))
    (name,) = {file.name.partition(".")[0] for file in files if job.encode() in file.read_bytes()}
    for file in files:
        if file.name.startswith(name):
            file.unlink()


def test_a_run_goes_on_in_the_same_attempt_and_pays_only_for_what_is_missing(
    cut: PowerCut,
) -> None:
    assert cut.desk.end(cut.midway, within=60, sweeping=True) == SUCCEEDED

    assert cut.desk.steps(cut.midway) == ["piece-2.0", "piece-3.0", "join.0"]
    assert cut.desk.shown(cut.midway)["progress"] == {"done": 4, "total": 4}


def test_a_run_that_waited_for_its_next_attempt_gets_it_without_its_message(
    cut: PowerCut,
) -> None:
    end = cut.desk.end(cut.retrying, within=60, sweeping=True)

    assert end == replace(
        SUCCEEDED,
        attempts=2,
        history=(("failed", "unavailable"), ("succeeded", None)),
        instances=("complete", "complete"),
    )
    assert cut.desk.steps(cut.retrying) == ["piece-2.1", "piece-3.1", "join.1"]


def test_a_run_whose_instance_was_never_made_is_given_one(cut: PowerCut) -> None:
    assert cut.desk.end(cut.unborn, within=60, sweeping=True) == SUCCEEDED

    assert cut.desk.steps(cut.unborn) == [f"{step}.0" for step in STEPS]


def test_a_run_that_the_cut_outlasted_fails_as_stale_and_its_instance_is_ended(
    cut: PowerCut,
) -> None:
    assert cut.desk.end(cut.outlasted, within=60, sweeping=True) == End(
        state="failed",
        attempts=1,
        error="stale",
        history=(("failed", "stale"),),
        letters=(("stale", "run_outlived_its_limit"),),
        instances=("terminated",),
    )
    assert cut.desk.steps(cut.outlasted) == []
