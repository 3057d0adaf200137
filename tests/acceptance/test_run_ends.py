"""Every end that a run on a Workflow comes to by itself, with all that it leaves behind.

What others do to a run is in ``test_run_losses`` and ``test_run_cancel``.
"""

from __future__ import annotations

import json
from dataclasses import replace

from tests.acceptance.runs import BRIEF, FINE, STEPS, SUCCEEDED, Desk, End, slow
from tests.support.running import until

DOWN = {"status": 500}


def test_a_run_that_meets_nothing_succeeds_and_asks_once_for_each_step(desk: Desk) -> None:
    job = desk.start()

    assert desk.end(job) == SUCCEEDED

    assert desk.calls(job) == [(f"{step}.0", 200) for step in STEPS]
    assert desk.shown(job)["progress"] == {"done": 4, "total": 4}
    assert desk.api.get(f"/v1/jobs/{job}/result").json()["chunks"] == 3
    assert desk.instance(job)["output"] == {"outcome": "succeeded"}


def test_what_passes_is_tried_again_within_its_step(desk: Desk) -> None:
    job = desk.start(FINE, DOWN)

    assert desk.end(job) == SUCCEEDED

    # The provider said no, so the same step asks under a new name.
    assert desk.steps(job) == ["piece-1.0", "piece-2.0", "piece-2.0.1", "piece-3.0", "join.0"]


def test_what_lasts_spends_an_attempt_and_the_next_pays_only_for_what_is_missing(
    desk: Desk,
) -> None:
    # A wait of its own length, in which the state is seen.
    job = desk.start(FINE, DOWN, DOWN, {"status": 503, "retry_after": 1})

    until(lambda: desk.shown(job)["state"] == "retrying")
    waiting = desk.shown(job)
    end = desk.end(job)

    assert (waiting["attempts"], waiting["terminal"]) == (1, False)
    assert waiting["next_attempt_at"]
    assert waiting["error"]["class"] == "unavailable"
    assert end == replace(
        SUCCEEDED,
        attempts=2,
        history=(("failed", "unavailable"), ("succeeded", None)),
        instances=("complete", "complete"),
    )
    assert desk.steps(job) == [
        *("piece-1.0", "piece-2.0", "piece-2.0.1", "piece-2.0.2"),
        *("piece-2.1", "piece-3.1", "join.1"),
    ]


def test_what_lasts_for_all_attempts_fails_as_exhausted(desk: Desk) -> None:
    job = desk.start(DOWN, DOWN, DOWN, max_attempts=1)

    end = desk.end(job)

    assert end.letters == (("exhausted", "provider_unavailable"),)
    assert end.history == (("failed", "unavailable"),)
    assert (end.state, end.attempts, end.instances) == ("failed", 1, ("errored",))


def test_a_throttled_run_waits_as_told_and_gets_its_attempt_back(desk: Desk) -> None:
    job = desk.start(FINE, {"status": 429, "retry_after": 1})

    until(lambda: desk.shown(job)["state"] == "retrying")
    waiting = desk.shown(job)
    end = desk.end(job)

    assert (waiting["attempts"], waiting["error"]["class"]) == (0, "throttled")
    assert end == replace(
        SUCCEEDED,
        history=(("deferred", "throttled"), ("succeeded", None)),
        instances=("complete", "complete"),
    )
    # Told to slow down, a step does not try again by itself.
    assert desk.steps(job) == ["piece-1.0", "piece-2.0", "piece-2.1", "piece-3.1", "join.1"]


def test_what_will_not_pass_fails_at_once_and_tells_nothing_but_our_code(desk: Desk) -> None:
    job = desk.start(FINE, {"status": 401})

    end = desk.end(job)

    assert end.letters == (("permanent", "provider_denied"),)
    assert (end.state, end.attempts, end.error) == ("failed", 1, "denied")
    assert (end.history, end.instances) == ((("failed", "denied"),), ("errored",))
    assert desk.calls(job) == [("piece-1.0", 200), ("piece-2.0", 401)]
    told = desk.instance(job)
    assert "provider_denied" in told["error"]["message"]
    assert 'File "' not in told["error"]["message"]
    assert BRIEF[:8] not in json.dumps(told, ensure_ascii=False)
    refused = desk.api.get(f"/v1/jobs/{job}/result")
    assert (refused.status_code, refused.json()["code"]) == (409, "job_failed")


def test_a_run_whose_time_is_over_ends_in_the_middle_of_a_step(desk: Desk) -> None:
    job = desk.start(FINE, slow(60), deadline_seconds=1)

    assert desk.end(job) == End(
        state="failed",
        attempts=1,
        error="deadline",
        history=(("failed", "deadline"),),
        letters=(("deadline", "deadline_cut"),),
        instances=("errored",),
    )
    until(lambda: desk.calls(job) == [("piece-1.0", 200), ("piece-2.0", 499)])
