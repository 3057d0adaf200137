"""The longest path: a run of half a minute, looked at all the while from every side.

A record that was written only at the end once showed the run before as this one, and let the same
work start twice. Nobody saw it, for the trial runs ended between two looks. So here the running
state itself is what is looked at, and an earlier run under the same run key lies ready to be
mistaken for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import httpx
import pytest

from tests.acceptance.runs import SUCCEEDED, Desk, slow
from tests.support.jobs import TEXT
from tests.support.running import Stack, until

LONG: Final = (TEXT + "\n\n") * 240
CALLS: Final = 32  # 27 pieces, four groups of their summaries, and one that joins those
KEY: Final = "nightly"


@dataclass(frozen=True, kw_only=True)
class Look:
    """What all sides answered at about one time; ``asked`` and ``answered`` are the model's."""

    asked: int  # calls that it had received before the job was looked at
    job: dict[str, Any]
    answered: int  # calls that it had answered after
    listed: tuple[str, ...]
    result: httpx.Response
    earlier: dict[str, Any]
    earlier_result: dict[str, Any]
    refused_long: httpx.Response
    refused_short: httpx.Response
    returned: httpx.Response


@dataclass(frozen=True, kw_only=True)
class Night:
    """One long run, its looks while it ran, and the run before it."""

    desk: Desk
    job: str
    looks: tuple[Look, ...]
    earlier: dict[str, Any]
    earlier_result: dict[str, Any]


@pytest.fixture(scope="module")
def night(stack: Stack) -> Iterator[Night]:
    with Desk.open(stack) as desk:
        before = desk.start(run_key=KEY)
        assert desk.end(before) == SUCCEEDED
        earlier, earlier_result = desk.shown(before), result_of(desk, before).json()
        job = desk.start({**slow(0.9), "count": CALLS}, text=LONG, run_key=KEY)
        looks = looks_at(desk, job, before)
        until(lambda: desk.shown(job)["terminal"])
        yield Night(desk=desk, job=job, looks=looks, earlier=earlier, earlier_result=earlier_result)


def looks_at(desk: Desk, job: str, before: str) -> tuple[Look, ...]:
    """Look until the last step is under way: what is asked for after the end starts something."""
    looks: list[Look] = []

    def last_step() -> bool:
        looks.append(look_at(desk, job, before))
        progress = looks[-1].job["progress"] or {"done": 0}
        return bool(progress["done"] >= CALLS - 1)

    until(last_step, within=120, every=0.3)
    return tuple(looks)


def look_at(desk: Desk, job: str, before: str) -> Look:
    asked = len(desk.calls(job))
    shown = desk.shown(job)
    answered = sum(1 for _, answer in desk.calls(job) if answer == 200)
    listed = desk.api.get("/v1/jobs", params={"run_key": KEY}).json()["items"]
    return Look(
        asked=asked,
        job=shown,
        answered=answered,
        listed=tuple(each["id"] for each in listed),
        refused_long=desk.post(text=LONG, run_key=KEY),
        refused_short=desk.post(text=TEXT, run_key=KEY),
        returned=desk.post(text=TEXT, run_key=KEY, on_conflict="return"),
        earlier=desk.shown(before),
        earlier_result=result_of(desk, before).json(),
        result=result_of(desk, job),
    )


def result_of(desk: Desk, job: str) -> httpx.Response:
    return desk.api.get(f"/v1/jobs/{job}/result")


def test_every_look_sees_it_running_at_its_first_attempt(night: Night) -> None:
    seen = {(look.job["id"], look.job["state"], look.job["attempts"]) for look in night.looks}

    assert seen == {(night.job, "running", 1)}
    assert len(night.looks) >= 20


def test_its_progress_grows_and_says_exactly_what_is_done(night: Night) -> None:
    shown = [look for look in night.looks if look.job["progress"]]
    done = [look.job["progress"]["done"] for look in shown]

    assert {look.job["progress"]["total"] for look in shown} == {CALLS}
    assert done == sorted(done)
    assert len(set(done)) >= 15
    # A step's number is written before the next one asks, and never before its own is answered.
    assert [d for d, look in zip(done, shown, strict=True) if d < look.asked - 1] == []
    assert [d for d, look in zip(done, shown, strict=True) if d > look.answered] == []
    # Before anything is known, nothing was asked.
    assert [look for look in night.looks if not look.job["progress"] and look.asked] == []


def test_the_list_under_its_run_key_shows_it_before_the_earlier_run(night: Night) -> None:
    assert {look.listed for look in night.looks} == {(night.job, night.earlier["id"])}


def test_no_second_start_is_let_in_whatever_engine_it_is_for(night: Night) -> None:
    refused = [look.refused_long for look in night.looks]
    refused += [look.refused_short for look in night.looks]

    assert {answer.status_code for answer in refused} == {409}
    assert {answer.json()["code"] for answer in refused} == {"run_in_progress"}
    assert {answer.json()["id"] for answer in refused} == {night.job}
    assert {answer.headers["location"] for answer in refused} == {f"/v1/jobs/{night.job}"}


def test_who_asks_for_the_run_that_lives_is_given_it(night: Night) -> None:
    answers = [look.returned for look in night.looks]

    assert {answer.status_code for answer in answers} == {202}
    assert {answer.json()["id"] for answer in answers} == {night.job}
    assert {answer.headers["location"] for answer in answers} == {f"/v1/jobs/{night.job}"}


def test_it_has_no_result_while_it_runs(night: Night) -> None:
    answers = [look.result for look in night.looks]

    assert {answer.status_code for answer in answers} == {409}
    assert {answer.json()["code"] for answer in answers} == {"not_finished"}
    assert all(int(answer.headers["retry-after"]) >= 1 for answer in answers)


def test_the_earlier_run_stays_what_it_was_and_is_never_shown_as_this_one(night: Night) -> None:
    now = night.desk.shown(night.earlier["id"])
    own_result = result_of(night.desk, night.job).json()

    assert all(look.earlier == night.earlier for look in night.looks)
    assert all(look.earlier_result == night.earlier_result for look in night.looks)
    assert now == night.earlier
    assert own_result != night.earlier_result
    assert (own_result["chunks"], night.earlier_result["chunks"]) == (27, 3)


def test_it_succeeds_at_its_first_attempt_and_pays_for_each_step_once(night: Night) -> None:
    assert night.desk.end(night.job) == SUCCEEDED

    calls = night.desk.calls(night.job)
    assert {answer for _, answer in calls} == {200}
    assert len(calls) == len({step for step, _ in calls}) == CALLS
    shown = night.desk.shown(night.job)
    assert shown["progress"] == {"done": CALLS, "total": CALLS}
    assert shown["usage"]["input_tokens"] > 0


def test_its_end_frees_the_run_key(night: Night) -> None:
    started = night.desk.start(run_key=KEY)

    assert night.desk.end(started) == SUCCEEDED
    listed = night.desk.api.get("/v1/jobs", params={"run_key": KEY}).json()["items"]
    ids = [each["id"] for each in listed]
    assert ids == [started, night.job, night.earlier["id"]]
