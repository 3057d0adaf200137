"""After power cuts, dying isolates and a failing provider under load: every promise was kept.

One storm a run, judged by many tests. ``CHAOS_ROUNDS`` makes it longer (each round ends with a
power cut), ``CHAOS_SEED`` another one.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from itertools import pairwise
from typing import Final

import pytest

from tests.chaos.load import CANARY
from tests.chaos.storm import SETTINGS, Aftermath, Row, storm_over
from uketsuke.domain.failure import DEFINITE
from uketsuke.telemetry import EVENTS, Fields

ROUNDS: Final = int(os.environ.get("CHAOS_ROUNDS", "5"))
SEED: Final = int(os.environ.get("CHAOS_SEED", "1"))
TERMINAL: Final = ("succeeded", "failed", "canceled")

_CALL_KEY: Final = re.compile(r"(job_[0-9a-z]{26})\.(piece-[1-9]\d*|join|texts-\d+)\.(\d+)")
# A call that was sent in time and let go of may reach a busy provider a little later.
_UNDER_WAY_MS: Final = 1000
# Failures after which the provider may have done its work all the same.
_IN_DOUBT: Final = ("provider_connection_lost", "storage_unavailable")
# What the host itself says when it is told to destroy an isolate.
_HOSTS_WORDS: Final = re.compile(r"(Uncaught in \w+: )?The isolate was destroyed by order\.")


@pytest.fixture(scope="module")
def after(tmp_path_factory: pytest.TempPathFactory) -> Aftermath:
    return storm_over(tmp_path_factory.mktemp("storm"), seed=SEED, rounds=ROUNDS)


def test_it_was_a_storm(after: Aftermath) -> None:
    attempts = [attempt for each in after.attempts.values() for attempt in each]

    assert after.power_cuts == ROUNDS >= 5
    assert after.isolates_destroyed >= 2
    assert after.echoed > ROUNDS
    assert len(after.crowd.accepted) > 30 * ROUNDS
    assert {job["state"] for job in after.jobs.values()} == set(TERMINAL)
    assert {"crashed", "unavailable", "throttled"} <= {each["error_class"] for each in attempts}
    assert any("object_key" in json.loads(job["input"]) for job in after.jobs.values())
    assert any(json.loads(job["result"] or "{}").get("object_key") for job in after.jobs.values())
    assert any(job["attempts"] > 1 and job["state"] == "succeeded" for job in after.jobs.values())


def test_callers_got_only_answers_that_they_may_get(after: Aftermath) -> None:
    assert after.crowd.surprises == []


def test_every_job_that_got_a_202_has_ended(after: Aftermath) -> None:
    for job in after.crowd.accepted:
        assert after.jobs[job]["state"] in TERMINAL
        view = after.views[job]
        assert (view.job["state"], view.job["terminal"]) == (after.jobs[job]["state"], True)


def test_a_job_whose_202_was_lost_on_the_way_has_ended_too(after: Aftermath) -> None:
    assert {job["state"] for job in after.jobs.values()} <= set(TERMINAL)


def test_a_job_has_a_result_if_and_only_if_it_succeeded(after: Aftermath) -> None:
    for job, view in after.views.items():
        state = after.jobs[job]["state"]
        told = (view.result_status, view.result.get("code"))
        if state == "succeeded":
            assert told == (200, None), job
            assert view.result.get("summary") or view.result.get("vectors"), job
        else:
            assert told == (409, f"job_{state}"), job


def test_a_result_comes_from_the_one_attempt_that_succeeded_and_it_was_the_last(
    after: Aftermath,
) -> None:
    for job, attempts in after.attempts.items():
        row = after.jobs[job]
        won = [each["number"] for each in attempts if each["outcome"] == "succeeded"]
        if row["state"] == "succeeded":
            assert won == [row["attempt_no"]] == [json.loads(row["result"])["attempt"]], job
        else:
            assert won == [], job


def test_a_job_has_one_dead_letter_if_and_only_if_it_failed(after: Aftermath) -> None:
    letters = Counter(letter["job_id"] for letter in after.letters)
    failed = {job for job, row in after.jobs.items() if row["state"] == "failed"}

    assert letters == dict.fromkeys(failed, 1)
    for letter in after.letters:
        row = after.jobs[letter["job_id"]]
        assert (letter["class"], letter["tenant_id"]) == (row["error_class"], row["tenant_id"])


def test_attempts_are_numbered_without_gaps_and_never_exceed_the_maximum(after: Aftermath) -> None:
    for job, row in after.jobs.items():
        attempts = after.attempts.get(job, [])
        assert [each["number"] for each in attempts] == list(range(1, row["attempt_no"] + 1)), job
        spent = [each for each in attempts if each["outcome"] != "deferred"]
        assert len(spent) == row["attempts"] <= row["max_attempts"], job


def test_no_two_attempts_of_a_job_overlap(after: Aftermath) -> None:
    for job, attempts in after.attempts.items():
        for earlier, later in pairwise(attempts):
            assert earlier["ended_at"] <= later["started_at"], job


def test_an_attempt_only_crashed_if_something_died_in_its_course(after: Aftermath) -> None:
    # So nobody takes away a lease that lives. On a machine that stands still for longer than a
    # lease one may expire all the same: a few may be unexplained.
    crashed = [
        attempt
        for attempts in after.attempts.values()
        for attempt in attempts
        if attempt["error_class"] == "crashed"
    ]
    unexplained = [
        attempt
        for attempt in crashed
        if not any(attempt["started_at"] <= at <= attempt["ended_at"] for at in after.deaths)
    ]
    assert len(unexplained) <= 3 + len(crashed) // 10, unexplained


def test_a_job_tells_its_life_with_one_end(after: Aftermath) -> None:
    for job, view in after.views.items():
        types = [event["type"] for event in view.events]
        assert types[0] == "accepted", job
        assert [each for each in types if each in TERMINAL] == [types[-1]], job
        assert types[-1] == after.jobs[job]["state"], job
        assert types.count("leased") == after.jobs[job]["attempt_no"], job


def test_nothing_that_had_ended_changed_afterwards(after: Aftermath) -> None:
    assert after.earlier_ends
    for job, row in after.earlier_ends.items():
        assert after.jobs[job] == row


def test_a_job_that_was_called_canceled_stayed_so(after: Aftermath) -> None:
    assert after.crowd.canceled
    assert {after.jobs[job]["state"] for job in after.crowd.canceled} == {"canceled"}


def test_no_job_succeeds_after_its_deadline(after: Aftermath) -> None:
    grace_ms = float(SETTINGS["LEASE_SECONDS"]) * 1000
    for job, row in after.jobs.items():
        if row["state"] == "succeeded":
            assert row["finished_at"] <= row["deadline_at"] + grace_ms, job


def test_an_idempotency_key_still_gives_its_job(after: Aftermath) -> None:
    assert len(after.replays) > 10
    for order, answer in after.replays.items():
        assert answer.status_code == 202, answer.text
        assert {answer.json()["id"]} == after.crowd.by_key[order]
        assert answer.headers["idempotency-replayed"] == "true"


def test_under_one_run_key_one_job_lived_at_a_time(after: Aftermath) -> None:
    runs: dict[tuple[str, str], list[Row]] = {}
    for row in after.jobs.values():
        if row["run_key"] is not None:
            runs.setdefault((row["tenant_id"], row["run_key"]), []).append(row)
    assert max(map(len, runs.values())) > 1
    for jobs in runs.values():
        jobs.sort(key=lambda row: row["created_at"])
        for earlier, later in pairwise(jobs):
            assert earlier["finished_at"] <= later["created_at"]


def calls(after: Aftermath) -> Iterator[tuple[str, int, int]]:
    """Give the job, the epoch and the time in milliseconds of each call that the provider got."""
    for call in after.calls:
        key = _CALL_KEY.fullmatch(call["idempotency_key"])
        assert key, call
        at = datetime.fromisoformat(call["at"]).timestamp() * 1000
        yield key[1], int(key[3]), int(at)


def test_the_provider_is_only_asked_in_the_course_of_an_attempt(after: Aftermath) -> None:
    # So never for a job that has ended, and never by a holder whose lease is gone.
    for job, _, at in calls(after):
        assert any(
            attempt["started_at"] - 1 <= at <= attempt["ended_at"] + _UNDER_WAY_MS
            for attempt in after.attempts[job]
        ), (job, at, after.attempts[job])


def is_definite(attempt: Row) -> bool:
    return attempt["error_class"] in DEFINITE and attempt["error_code"] not in _IN_DOUBT


def test_the_epoch_of_a_call_counts_the_definite_failures_before_it(after: Aftermath) -> None:
    # It never falls then, and a call of which nobody knows the end is repeated under its own key.
    for job, epoch, at in calls(after):
        begun = [each for each in after.attempts[job] if each["started_at"] - 1 <= at]
        assert epoch == sum(map(is_definite, begun[:-1])), (job, at, after.attempts[job])


def test_every_succeeded_job_was_paid_for(after: Aftermath) -> None:
    # The journal of the moment between the last look at it and a power cut is lost, but no more.
    asked = {job for job, _, _ in calls(after)}
    unseen = [
        job for job, row in after.jobs.items() if row["state"] == "succeeded" and job not in asked
    ]
    assert len(unseen) <= 6 * after.power_cuts


def lines_of(after: Aftermath) -> Iterator[Row]:
    """Give what the Workers have logged, line by line; each is JSON or the host's own words."""
    for line in after.log.splitlines():
        worker, _, said = line.partition("] ")
        assert worker in ("[uketsuke-api", "[uketsuke-consumer"), line
        if not _HOSTS_WORDS.fullmatch(said):
            yield json.loads(said)


def test_every_log_line_is_json_and_tells_of_no_fault_of_ours(after: Aftermath) -> None:
    events: Counter[str] = Counter()
    for line in lines_of(after):
        assert line["level"] == EVENTS[line["event"]].level
        assert line.keys() <= {"event", "level", *Fields.__annotations__}
        events[line["event"]] += 1

    assert events["job_leased"]
    assert not events.keys() & {"unexpected_error", "duty_failed", "paid_result_lost"}


def test_the_log_tells_an_attempt_and_an_end_once_and_as_the_row_has_it(after: Aftermath) -> None:
    # A Worker that dies before it could tell leaves a line out; nothing makes up another one.
    lines = list(lines_of(after))
    leased = Counter((line["job_id"], line["attempt"]) for line in lines if _begins(line))
    ends = [(line["job_id"], line["state"]) for line in lines if line["event"] in _ENDS]

    assert set(leased.values()) == {1}
    assert {attempt <= after.jobs[job]["attempt_no"] for job, attempt in leased} == {True}
    assert len({job for job, _ in ends}) == len(ends)
    assert {after.jobs[job]["state"] == state for job, state in ends} == {True}
    assert len(ends) > 0.8 * len(after.jobs)


def _begins(line: Row) -> bool:
    return bool(line["event"] == "job_leased")


_ENDS: Final = ("job_succeeded", "job_failed", "job_canceled")


def test_the_log_has_nothing_of_what_callers_and_the_provider_sent(after: Aftermath) -> None:
    assert CANARY not in after.log.lower()
    for secret in after.secrets:
        assert secret not in after.log
