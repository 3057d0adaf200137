"""``uketsuke status``, ``result``, ``events``, ``cancel``, and how each of them ends."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.client.command_run import Command
from tests.client.scripted import JOB_ID, Answer, ScriptedServer, failed_job, job, problem

PATH = f"/v1/jobs/{JOB_ID}"
RESULT = f"{PATH}/result"
EVENTS = [
    {"id": "1", "type": "accepted", "at": "2026-11-29T10:00:00.000Z", "attempt": None},
    {"id": "2", "type": "leased", "at": "2026-11-29T10:00:01.000Z", "attempt": 1, "class": None},
]


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (job("accepted"), 0),
        (job("running"), 0),
        (job("succeeded"), 0),
        (failed_job(), 1),
        (job("canceled"), 1),
    ],
    ids=["accepted", "running", "succeeded", "failed", "canceled"],
)
def test_status_shows_the_job_and_exits_1_only_for_a_bad_end(
    server: ScriptedServer, command: Command, body: dict[str, object], code: int
) -> None:
    server.answers("GET", PATH, Answer(body=body))

    plain, with_json = command("status", JOB_ID), command("status", JOB_ID, "--json")

    assert (plain.code, with_json.code) == (code, code)
    assert plain.out.startswith(f"id: {JOB_ID}\nkind: summarize\nstate: {body['state']}")
    assert with_json.document == body


def test_status_says_why_a_job_failed(server: ScriptedServer, command: Command) -> None:
    server.answers("GET", PATH, Answer(body=failed_job()))

    ran = command("status", JOB_ID)

    assert "error: provider_refused (refused): The model refused the input." in ran.out


def test_following_stops_at_its_time_with_exit_5_and_the_job(
    server: ScriptedServer, command: Command
) -> None:
    server.answers("GET", PATH, Answer(body=job(), headers={"retry-after": "60"}))

    ran = command("status", JOB_ID, "--follow", "--timeout", "0", "--json")

    assert ran.code == 5
    assert ran.document == job()
    assert "it goes on" in ran.err


def test_following_with_json_prints_one_document_at_the_end(
    server: ScriptedServer, command: Command
) -> None:
    hurry = {"retry-after": "0"}
    server.answers("GET", PATH, Answer(body=job(), headers=hurry), Answer(body=job("succeeded")))

    ran = command("status", JOB_ID, "--follow", "--json")

    assert (ran.code, ran.document["state"]) == (0, "succeeded")


def test_a_setback_is_told_once_while_following(server: ScriptedServer, command: Command) -> None:
    error = {"class": "throttled", "code": "provider_throttled", "message": "Too fast."}
    hurry = {"retry-after": "0"}
    retrying = Answer(body=job("retrying", error=error), headers=hurry)
    again = Answer(body=job("retrying", error=error, metadata={"a": "b"}), headers=hurry)
    server.answers("GET", PATH, retrying, again, Answer(body=job("succeeded", attempts=2)))

    ran = command("status", JOB_ID, "--follow")

    assert ran.err.count("provider_throttled: Too fast; it is tried again") == 1


@pytest.mark.parametrize(
    ("result", "out"),
    [
        ({"summary": "Short.", "language": "en", "chunks": 1}, "Short.\n"),
        ({"text": "Spoken.", "segments": []}, "Spoken.\n"),
        ({"markdown": "# Report\n"}, "# Report\n\n"),
        ({"model": "m", "vectors": [[0.5]]}, '{"model": "m", "vectors": [[0.5]]}\n'),
    ],
)
def test_a_result_is_its_words_if_it_has_words(
    server: ScriptedServer, command: Command, result: dict[str, object], out: str
) -> None:
    server.answers("GET", RESULT, Answer(body=result))

    plain, with_json = command("result", JOB_ID), command("result", JOB_ID, "--json")

    assert plain.out == out
    assert with_json.document == result


@pytest.mark.parametrize(
    ("name", "content"),
    [("a.txt", "短い。\n"), ("a.json", '{"summary": "短い。", "language": "ja"}\n')],
)
def test_a_result_is_written_as_its_files_name_says(
    server: ScriptedServer, command: Command, tmp_path: Path, name: str, content: str
) -> None:
    server.answers("GET", RESULT, Answer(body={"summary": "短い。", "language": "ja"}))
    file = tmp_path / name
    file.write_text("what was here before")

    ran = command("result", JOB_ID, "-o", str(file), "--json")

    assert file.read_text(encoding="utf-8") == content
    assert ran.document == {"written": str(file), "bytes": len(content.encode())}
    assert list(tmp_path.iterdir()) == [file]


def test_a_result_that_cannot_be_written_is_said(server: ScriptedServer, command: Command) -> None:
    server.answers("GET", RESULT, Answer(body={"summary": "Short."}))

    ran = command("result", JOB_ID, "-o", "/nowhere/at/all.txt")

    assert (ran.code, ran.out) == (2, "")
    assert "/nowhere/at/all.txt cannot be written" in ran.err


def test_events_are_one_a_line(server: ScriptedServer, command: Command) -> None:
    server.answers("GET", f"{PATH}/events", Answer(body={"items": EVENTS}))

    plain, with_json = command("events", JOB_ID), command("events", JOB_ID, "--json")

    assert plain.out.splitlines() == [
        "2026-11-29 10:00:00.000 UTC\taccepted",
        "2026-11-29 10:00:01.000 UTC\tleased\t1",
    ]
    assert with_json.document == {"items": EVENTS}


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (job("canceled"), "canceled"),
        (job(cancel_requested_at="2026-11-29T10:00:02.000Z"), "cancel requested"),
    ],
)
def test_a_cancel_that_is_heard_is_fine(
    server: ScriptedServer, command: Command, body: dict[str, object], words: str
) -> None:
    server.answers("POST", f"{PATH}/cancel", Answer(body=body))

    ran = command("cancel", JOB_ID)

    assert ran.code == 0
    assert words in ran.out


def nothing_ours(status: int) -> Answer:
    return Answer(status=status, body=b"<html>", headers={"content-type": "text/html"})


@pytest.mark.parametrize(
    ("answer", "code", "words"),
    [
        (problem(409, "not_finished"), 5, f"uketsuke status {JOB_ID} --follow"),
        (problem(409, "job_failed"), 1, f"uketsuke status {JOB_ID}"),
        (problem(409, "job_canceled"), 1, "canceled"),
        (problem(410, "expired"), 2, "submit the work again"),
        (problem(404, "not_found"), 2, "Check the id"),
        (problem(401, "unauthenticated"), 4, "UKETSUKE_KEY"),
        (problem(403, "forbidden", detail="Use the scope jobs:read."), 4, "scope jobs:read"),
        (problem(403, "content_denied"), 4, "content_denied"),
        (problem(429, "rate_limited", headers={"retry-after": "30"}), 4, "again in 30 s"),
        (problem(503, "unavailable", headers={"retry-after": "9"}), 3, "again in 9 s"),
        (problem(500, "internal"), 3, "req_1"),
        (nothing_ours(404), 2, "UKETSUKE_URL"),
        (nothing_ours(403), 4, "UKETSUKE_URL"),
        (nothing_ours(200), 3, "UKETSUKE_URL"),
    ],
)
def test_each_refusal_has_its_exit_code_and_says_what_to_do(
    server: ScriptedServer, command: Command, answer: Answer, code: int, words: str
) -> None:
    server.answers("GET", RESULT, answer)

    plain, with_json = command("result", JOB_ID), command("result", JOB_ID, "--json")

    assert (plain.code, plain.out) == (code, "")
    assert words in plain.err
    assert "Traceback" not in plain.err
    assert (with_json.code, bool(with_json.document["code"])) == (code, True)


def test_a_refusal_as_json_is_the_problem_as_it_came(
    server: ScriptedServer, command: Command
) -> None:
    refusal = problem(404, "not_found")
    server.answers("GET", PATH, refusal)

    assert command("status", JOB_ID, "--json").document == refusal.body


def test_a_cancel_that_comes_too_late_is_said(server: ScriptedServer, command: Command) -> None:
    server.answers("POST", f"{PATH}/cancel", problem(409, "already_finished", detail="It is done."))

    ran = command("cancel", JOB_ID)

    assert ran.code == 2
    assert "It is done." in ran.err


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (("status",), "ID"),
        (("status", JOB_ID, "--foo"), "--foo"),
        (("status", JOB_ID, "--url", "nonsense"), "nonsense"),
        (("status", JOB_ID, "--key", "a\nb"), "key"),
        (("status", ""), "''"),
        (("nothing",), "nothing"),
    ],
)
def test_wrong_usage_exits_2_with_one_document(
    command: Command, argv: tuple[str, ...], words: str
) -> None:
    ran = command(*argv, "--json")

    assert ran.code == 2
    assert words in ran.err
    assert words in ran.document["detail"]


def test_control_characters_of_others_do_not_reach_the_terminals_ear(
    server: ScriptedServer, command: Command
) -> None:
    server.answers("GET", PATH, problem(404, "not_found", detail="\x1b]0;owned\x07\x1b[2J"))

    ran = command("status", JOB_ID)

    assert "\x1b" not in ran.err
    assert "owned" in ran.err


def test_the_help_tells_the_exit_codes_and_the_variables(command: Command) -> None:
    ran = command("--help")

    words = " ".join(ran.out.split())
    assert ran.code == 0
    for told in ("0 fine", "1 the job failed", "130 interrupted", "UKETSUKE_URL", "UKETSUKE_KEY"):
        assert told in words


def test_the_version_is_the_packages(command: Command) -> None:
    ran = command("--version")

    assert ran.code == 0
    assert ran.out.startswith("uketsuke ")


def test_a_patience_that_is_no_number_is_said(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UKETSUKE_PATIENCE", "long")

    ran = command("status", JOB_ID)

    assert ran.code == 2
    assert "UKETSUKE_PATIENCE" in ran.err


def test_an_integer_longer_than_python_reads_is_no_traceback(
    server: ScriptedServer, command: Command
) -> None:
    server.answers("GET", PATH, Answer(body=b'{"id": ' + b"9" * 5_000 + b"}"))

    ran = command("status", JOB_ID)

    assert ran.code == 3
    assert "Traceback" not in ran.err
    assert ran.out == ""
