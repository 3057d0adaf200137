"""Every road to a dead letter on the real stack, and each member of the record that it leaves."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

import pytest

from tests.acceptance.runs import FINE, Desk, slow
from tests.acceptance.test_run_losses import outlive
from tests.support.jobs import TEXT, ended, submit
from tests.support.running import Stack, until
from uketsuke.domain.redact import digest_of

CONSUMER: Final = "uketsuke-consumer"
JOBS: Final = "uketsuke-jobs"
DEAD: Final = "uketsuke-jobs-dlq"
MODEL: Final = "extractive-e5"
DOWN: Final = {"status": 500}

REDRIVE: Final = "Nothing is wrong with the input: redrive it once the cause is over."
FIX_INPUT: Final = "The same input would fail again: redrive it with a patch."
FIX_CONFIGURATION: Final = "Mend the deployment first (key, model, budget), then redrive."
NO_JOB: Final = "No job belongs to it: there is nothing to redrive."
_REPLAY: Final = {
    "redrive": REDRIVE,
    "fix_input": FIX_INPUT,
    "fix_configuration": FIX_CONFIGURATION,
}

# What nobody has done about it yet.
_UNTOUCHED: Final[Mapping[str, object]] = {
    "status": "open",
    "redrive_count": 0,
    **dict.fromkeys(("redriven_to", "redrive_id", "resolved_by", "resolved_at", "reason")),
}


def post(desk: Desk, *faults: Mapping[str, Any], **document: Any) -> str:
    """Ask for one call's work; return the job's id."""
    answer = desk.post(*(dict(fault) for fault in faults), text=TEXT, **document)
    assert answer.status_code == 202, answer.text
    assert answer.json()["engine"] == "queue"
    return str(answer.json()["id"])


def failed(desk: Desk, job: str, *, within: float = 30) -> dict[str, Any]:
    found = ended(desk.api, {"id": job}, within=within)
    assert found["state"] == "failed"
    return found


def deaths(stack: Stack) -> int:
    """Return how often the consumer's isolate has died."""
    return int(stack.get("/heap")[CONSUMER]["deaths"])


def let_lease_pass(desk: Desk, job: str) -> None:
    """Let time pass for the row of a job that nobody works any more, and wake it."""
    sql = "UPDATE jobs SET leased_until = 1, wake_at = 1 WHERE id = ?1 AND state = 'running'"
    desk.stack.d1(sql, job)


def letter_at(stack: Stack, letter_id: str) -> dict[str, Any]:
    """Return a dead letter as an operator reads it, alone and in the list."""
    with stack.api("operator_key") as operator:
        answer = operator.get(f"/v1/dead-letters/{letter_id}")
        listed = operator.get("/v1/dead-letters", params={"limit": 200}).json()["items"]
    assert answer.status_code == 200, answer.text
    letter: dict[str, Any] = answer.json()
    shown = {name: value for name, value in letter.items() if name != "attempts_history"}
    assert shown in listed
    return letter


def take_times(letter: dict[str, Any], *, due_after: str = "last_failed_at") -> tuple[str, str]:
    """Take a letter's times out of it, held against each other; return the first and the last."""
    due = datetime.fromisoformat(letter.pop("triage_due_at"))
    assert due - datetime.fromisoformat(letter[due_after]) == timedelta(hours=72)
    first, last = letter.pop("first_failed_at"), letter.pop("last_failed_at")
    assert first <= last
    return first, last


def check(
    desk: Desk,
    job: Mapping[str, Any],
    *,
    road: str,
    error: tuple[str, str],
    model: str | None,
    verdict: str,
    history: Sequence[tuple[str, str | None]],
    **changes: object,
) -> None:
    """Hold the letter of a job that has ended to all that its record should say."""
    name = f"dl_{job['id'].removeprefix('job_')}"
    letter = letter_at(desk.stack, name)
    told = letter.pop("attempts_history")
    assert [(each["outcome"], each["class"]) for each in told] == list(history)
    first, last = take_times(letter)
    assert first == (told[0]["ended_at"] if told else last)
    assert job["created_at"] <= first
    error_class, code = error
    assert letter == {
        **_UNTOUCHED,
        "id": name,
        "job_id": job["id"],
        "tenant_id": desk.stack.tenant_of(desk.key),
        "kind": job["kind"],
        "road": road,
        "class": error_class,
        "code": code,
        "message": job["error"]["message"],
        "model": model,
        "fingerprint": f"{job['kind']}:{error_class}:{code}:{model or ''}",
        "verdict": verdict,
        "attempts": job["attempts"],
        "queue": None,
        "message_id": None,
        "schema_version": 1,
        "body": None,
        "replayable": verdict != "fix_input",
        "replayable_reason": _REPLAY[verdict],
        "replayable_until": job["expires_at"],
        "links": {
            "self": f"/v1/dead-letters/{name}",
            "job": f"/v1/jobs/{job['id']}",
            "redriven_to": None,
            "redrive": f"/v1/dead-letters/{name}/redrive",
            "discard": f"/v1/dead-letters/{name}/discard",
        },
        **changes,
    }


def test_what_the_provider_does_not_accept_fails_for_good(desk: Desk) -> None:
    job = failed(desk, post(desk, {"status": 422}))

    check(
        desk,
        job,
        road="permanent",
        error=("invalid_input", "provider_rejected_input"),
        model=MODEL,
        verdict="fix_input",
        history=[("failed", "invalid_input")],
    )


def test_what_fails_at_every_attempt_is_exhausted(desk: Desk) -> None:
    job = failed(desk, post(desk, DOWN, DOWN, max_attempts=2))

    check(
        desk,
        job,
        road="exhausted",
        error=("unavailable", "provider_unavailable"),
        model=MODEL,
        verdict="redrive",
        history=[("failed", "unavailable")] * 2,
    )


def test_a_job_that_kills_whoever_works_it_is_ended_as_crashed(desk: Desk) -> None:
    trace = f"00-{secrets.token_hex(16)}-{secrets.token_hex(8)}-01"
    fatal = {"match": {"traceparent": trace}, "count": 2}
    desk.stack.post("/kill", {"worker": CONSUMER, "at": fatal})
    before = deaths(desk.stack)
    asked = {"kind": "summarize", "input": {"text": TEXT}}
    posted = desk.api.post("/v1/jobs", json=asked, headers={"traceparent": trace}).json()

    until(lambda: deaths(desk.stack) == before + 1)
    let_lease_pass(desk, posted["id"])
    desk.stack.sweep()
    until(lambda: deaths(desk.stack) == before + 2)
    let_lease_pass(desk, posted["id"])
    desk.stack.sweep()

    job = failed(desk, posted["id"])
    check(
        desk,
        job,
        road="crashed",
        error=("crashed", "worker_crashed"),
        model=None,  # nobody is left to tell who was asked
        verdict="redrive",
        history=[("failed", "crashed")] * 2,
    )
    assert desk.calls(job["id"]) == []


def test_a_run_that_outlives_its_limit_is_stale(desk: Desk) -> None:
    run = desk.start(FINE, slow(60))
    desk.sees_call(run, "piece-2.0")
    outlive(desk, run, silent=True)

    desk.stack.sweep()

    check(
        desk,
        failed(desk, run),
        road="stale",
        error=("stale", "run_outlived_its_limit"),
        model=MODEL,
        verdict="redrive",
        history=[("failed", "stale")],
    )


def test_a_job_whose_time_is_over_fails_at_its_deadline(desk: Desk) -> None:
    job = failed(desk, post(desk, slow(60), deadline_seconds=2))

    check(
        desk,
        job,
        road="deadline",
        error=("deadline", "deadline_cut"),
        model=MODEL,
        verdict="redrive",
        history=[("failed", "deadline")],
    )


def test_a_job_that_its_budget_can_never_allow_fails(other_stack: Stack) -> None:
    """There a model has a price."""
    with Desk.open(other_stack) as desk:
        work = {"kind": "embed", "input": {"texts": ["a cat"]}, "max_cost_usd": "0.000001"}
        job = failed(desk, submit(desk.api, **work)["id"])

        check(
            desk,
            job,
            road="budget",
            error=("budget", "budget_exceeded"),
            model=None,
            verdict="fix_configuration",
            history=[],
        )


def test_a_job_whose_message_the_queue_gave_up_on_after_its_time_is_buried(desk: Desk) -> None:
    waiting = post(desk, {"status": 503, "retry_after": 30})
    until(lambda: desk.shown(waiting)["state"] == "retrying")
    sql = "UPDATE jobs SET deadline_at = created_at WHERE id = ?1"
    desk.stack.d1(sql, waiting)
    body = {"v": 1, "job": waiting, "tenant": desk.stack.tenant_of(desk.key), "kind": "summarize"}

    (message,), answer = desk.stack.deliver(DEAD, [body])

    assert answer["explicitAcks"] == [message]
    check(
        desk,
        failed(desk, waiting),
        road="queue_dlq",
        error=("deadline", "deadline_passed"),
        model=MODEL,
        verdict="redrive",
        history=[("failed", "unavailable")],
        queue=DEAD,
        message_id=message,
    )


@pytest.mark.parametrize("queue", [JOBS, DEAD])
def test_a_message_that_nobody_can_read_leaves_its_shape_and_its_hash(
    stack: Stack, queue: str
) -> None:
    secret = secrets.token_hex(8)
    body = {"v": "1", "job": secret, secret: secret, "kind": [secret]}
    stack.deliver(queue, [body])
    (message,), _ = stack.deliver(queue, [body], attempts=3)
    sha256 = digest_of(body)

    letter = letter_at(stack, f"dl_{sha256[:26]}")

    first, last = take_times(letter, due_after="first_failed_at")
    assert first < last
    path = f"/v1/dead-letters/dl_{sha256[:26]}"
    shape = {
        "v": "string(1)",
        "job": "string(16)",
        "kind": {"list": 1, "first": ["string(16)"]},
        "others": 1,
    }
    assert letter == {
        **_UNTOUCHED,
        **dict.fromkeys(("job_id", "tenant_id", "kind", "model", "schema_version")),
        "id": f"dl_{sha256[:26]}",
        "road": "undecodable",
        "class": "invalid_input",
        "code": "body_undecodable",
        "message": "The message could not be read.",
        "fingerprint": ":invalid_input:body_undecodable:",
        "verdict": "fix_configuration",
        "attempts": 3,
        "queue": queue,
        "message_id": message,
        "body": {"sha256": sha256, "shape": shape},
        "replayable": False,
        "replayable_reason": NO_JOB,
        "replayable_until": None,
        "attempts_history": [],
        "links": {
            "self": path,
            "job": None,
            "redriven_to": None,
            "redrive": f"{path}/redrive",
            "discard": f"{path}/discard",
        },
    }
