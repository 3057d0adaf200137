"""A run that somebody no longer wants, also at the very moment of its end."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.acceptance.runs import FINE, SUCCEEDED, Desk, End, slow
from tests.support.running import until

_CANCELED = End(
    state="canceled", attempts=1, history=(("canceled", None),), instances=("terminated",)
)


def cancel(desk: Desk, job: str) -> httpx.Response:
    return desk.api.post(f"/v1/jobs/{job}/cancel")


def test_a_running_run_is_canceled_and_asks_for_no_further_step(desk: Desk) -> None:
    job = desk.start(FINE, slow(60), run_key="nightly")
    desk.sees_call(job, "piece-2.0")

    wished = cancel(desk, job)
    end = desk.end(job)
    again = cancel(desk, job)

    assert (wished.status_code, wished.json()["state"]) == (200, "running")
    assert wished.json()["cancel_requested_at"]
    assert end == _CANCELED
    assert (again.status_code, again.json()["state"]) == (200, "canceled")
    # The call under way is dropped, not waited for.
    until(lambda: desk.calls(job) == [("piece-1.0", 200), ("piece-2.0", 499)])
    result = desk.api.get(f"/v1/jobs/{job}/result")
    assert (result.status_code, result.json()["code"]) == (409, "job_canceled")
    assert desk.end(desk.start(run_key="nightly")) == SUCCEEDED


# Wished as the last call begins, and as it has been answered. A call of two seconds is answered
# at about the time at which its run renews the lease, and learns of the wish.
@pytest.mark.parametrize(
    ("seconds", "seen"),
    [(0, None), (2.1, None), (2.2, None), (0, 200), (0.05, 200), (0.1, 200)],
)
def test_of_a_cancel_and_a_completion_at_once_one_wins_and_all_agree(
    desk: Desk, seconds: float, seen: int | None
) -> None:
    job = desk.start(FINE, FINE, FINE, slow(seconds))
    until(
        lambda: [c for c in desk.calls(job) if c[0] == "join.0" and seen in (None, c[1])], every=0
    )

    answer = cancel(desk, job)
    end = desk.end(job)

    assert end in (SUCCEEDED, _CANCELED)
    shown = desk.shown(job)
    assert shown["state"] == end.state
    agrees(answer, shown)
    result = desk.api.get(f"/v1/jobs/{job}/result").status_code
    assert result == (200 if end == SUCCEEDED else 409)
    events = desk.api.get(f"/v1/jobs/{job}/events").json()["items"]
    assert [event["type"] for event in events] == ["accepted", "leased", end.state]


def agrees(answer: httpx.Response, shown: dict[str, Any]) -> None:
    """Check what the cancel was told against what became of the job."""
    told = answer.json()
    if answer.status_code == 409:
        assert told["code"] == "already_finished"
        assert (shown["state"], shown["cancel_requested_at"]) == ("succeeded", None)
    else:
        assert answer.status_code == 200
        assert told["cancel_requested_at"] == shown["cancel_requested_at"] is not None
        assert told["state"] in ("running", shown["state"])
