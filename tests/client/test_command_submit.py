"""``uketsuke submit`` and ``upload``: from what the user points at to what the server gets."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from tests.client.command_run import Command
from tests.client.scripted import JOB_ID, Answer, ScriptedServer, failed_job, job, problem

PATH = f"/v1/jobs/{JOB_ID}"
ACCEPTED = Answer(status=202, body=job("accepted", attempts=0))
UPLOADED = Answer(
    status=201, body={"ref": "in_1", "bytes": 3, "sha256": "…", "content_type": "text/plain"}
)


@pytest.fixture(autouse=True)
def _accepting(server: ScriptedServer) -> None:
    server.answers("POST", "/v1/jobs", ACCEPTED)
    server.answers("PUT", "/v1/inputs", UPLOADED)


def sent(server: ScriptedServer) -> dict[str, object]:
    found = server.received[-1].json
    assert isinstance(found, dict)
    return found


def test_stdout_is_the_id_alone_and_stderr_says_how_to_go_on(
    server: ScriptedServer, command: Command
) -> None:
    ran = command("submit", "summarize", "--text", "The desk opens at six.")

    assert (ran.code, ran.out) == (0, f"{JOB_ID}\n")
    assert f"uketsuke status {JOB_ID} --follow" in ran.err
    assert sent(server) == {"kind": "summarize", "input": {"text": "The desk opens at six."}}


def test_every_option_arrives_as_its_member(server: ScriptedServer, command: Command) -> None:
    ran = command(
        *("submit", "summarize", "--text", "x", "--run-key", "daily", "--on-conflict", "return"),
        *("--param", "max_words=80", "--param", "language=ja", "--param", 'title="2024"'),
        *("--metadata", "ticket=42", "--max-attempts", "2", "--deadline-seconds", "60"),
        *("--max-cost-usd", "0.01", "--idempotency-key", "mine"),
    )

    assert ran.code == 0
    assert sent(server) == {
        "kind": "summarize",
        "input": {"text": "x"},
        "params": {"max_words": 80, "language": "ja", "title": "2024"},
        "run_key": "daily",
        "on_conflict": "return",
        "max_attempts": 2,
        "deadline_seconds": 60,
        "max_cost_usd": "0.01",
        "metadata": {"ticket": "42"},
    }
    assert server.received[-1].headers["idempotency-key"] == '"mine"'


def test_a_small_text_file_is_sent_as_text(
    server: ScriptedServer, command: Command, tmp_path: Path
) -> None:
    file = tmp_path / "忘れ物.txt"
    file.write_text("駅の忘れ物取扱所", encoding="utf-8")

    command("submit", "summarize", "--file", str(file))

    assert sent(server)["input"] == {"text": "駅の忘れ物取扱所"}


@pytest.mark.parametrize(
    "content", [b"\xff\xfb\x90 not text", b"x" * (512 * 1024 + 1), b"\n" * 512 * 1024]
)
def test_a_file_that_a_request_cannot_hold_is_uploaded_whole(
    server: ScriptedServer, command: Command, tmp_path: Path, content: bytes
) -> None:
    file = tmp_path / "talk.mp3"
    file.write_bytes(content)

    ran = command("submit", "transcribe", "--file", str(file))

    upload, submission = server.received
    assert (upload.path, upload.body) == ("/v1/inputs", content)
    assert submission.json["input"] == {"ref": "in_1"}
    assert "uploaded" in ran.err


@pytest.mark.parametrize(
    ("kind", "content"),
    [("transcribe", b"RIFF$\0\0\0WAVEfmt "), ("transcribe", b"words"), ("dub", b"RIFF\0\0\0\0")],
)
def test_a_recording_is_uploaded_even_if_its_bytes_spell_a_text(
    server: ScriptedServer, command: Command, tmp_path: Path, kind: str, content: bytes
) -> None:
    file = tmp_path / "beep.wav"
    file.write_bytes(content)

    command("submit", kind, "--file", str(file))

    assert [call.path for call in server.received] == ["/v1/inputs", "/v1/jobs"]
    assert sent(server)["input"] == {"ref": "in_1"}


def test_standard_input_is_a_file_too(
    server: ScriptedServer, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    piped = io.TextIOWrapper(io.BytesIO("受付".encode()), encoding="utf-8")
    monkeypatch.setattr(sys, "stdin", piped)

    command("submit", "summarize", "--file", "-")

    assert sent(server)["input"] == {"text": "受付"}


@pytest.mark.parametrize(
    ("name", "content", "texts"),
    [
        ("a.txt", 'one\r\ntwo "2"\n\n"three"\n', ["one", 'two "2"', '"three"']),
        ("a.jsonl", '"one"\n"two\\nlines"\n', ["one", "two\nlines"]),
        ("a.txt", '"one"\n"two"', ["one", "two"]),
        ("a.txt", '\ufeff"Open!" he said.\n"Closed!" she said.', None),
        ("a.txt", "one\u2028still one", ["one\u2028still one"]),
    ],
)
def test_a_file_of_texts_is_json_lines_or_one_a_line(
    server: ScriptedServer,
    command: Command,
    tmp_path: Path,
    name: str,
    content: str,
    texts: list[str] | None,
) -> None:
    file = tmp_path / name
    file.write_bytes(content.encode())

    command("submit", "embed", "--texts-file", str(file))

    expected = texts or ['"Open!" he said.', '"Closed!" she said.']
    assert sent(server)["input"] == {"texts": expected}


def test_more_texts_than_a_request_may_hold_are_uploaded_as_json_lines(
    server: ScriptedServer, command: Command, tmp_path: Path
) -> None:
    file = tmp_path / "many.txt"
    file.write_text("".join(f"text {n}\n" for n in range(2_049)))

    command("submit", "embed", "--texts-file", str(file))

    upload, submission = server.received
    lines = upload.body.decode().splitlines()
    assert [json.loads(lines[0]), json.loads(lines[-1])] == ["text 0", "text 2048"]
    assert submission.json["input"] == {"ref": "in_1"}


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (("embed", "--text", "a"), {"texts": ["a"]}),
        (("embed", "--text", "a", "--text", "b"), {"texts": ["a", "b"]}),
        (("summarize", "--ref", "in_1"), {"ref": "in_1"}),
        (("report", "--ref", "in_1"), {"refs": ["in_1"]}),
        (("report", "--ref", "in_1", "--ref", "job_2"), {"refs": ["in_1", "job_2"]}),
    ],
)
def test_the_input_has_the_shape_that_its_kind_takes(
    server: ScriptedServer, command: Command, argv: tuple[str, ...], expected: object
) -> None:
    command("submit", *argv)

    assert sent(server)["input"] == expected


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        pytest.param((), "--text", id="no input"),
        pytest.param(("--text", "a", "--ref", "in_1"), "one of", id="two inputs"),
        pytest.param(("--file", "/nowhere/at/all"), "cannot be read", id="no such file"),
        pytest.param(("--texts-file", "/"), "cannot be read", id="a folder"),
        pytest.param(("--text", "a", "--param", "max_words"), "NAME=VALUE", id="no value"),
        pytest.param(("--text", "a", "--max-attempts", "x"), "max-attempts", id="no number"),
        pytest.param(("--text", "a", "--idempotency-key", "受付"), "ASCII", id="no header"),
    ],
)
def test_what_cannot_be_sent_is_said_before_anything_is_sent(
    server: ScriptedServer, command: Command, argv: tuple[str, ...], words: str
) -> None:
    ran = command("submit", "summarize", *argv)

    assert (ran.code, ran.out) == (2, "")
    assert words in ran.err
    assert server.received == []


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.jsonl", b'"one"\ntwo\n'),
        ("a.jsonl", b'{"a": 1}\n'),
        ("a.jsonl", b"[" * 100_000),
        ("a.txt", b"\xff"),
        ("a.txt", b"\n"),
    ],
)
def test_a_file_of_no_texts_is_bad_input(
    server: ScriptedServer, command: Command, tmp_path: Path, name: str, content: bytes
) -> None:
    file = tmp_path / name
    file.write_bytes(content)

    ran = command("submit", "embed", "--texts-file", str(file))

    assert ran.code == 2
    assert str(file) in ran.err
    assert server.received == []


def test_every_fault_of_a_refused_request_is_listed(
    server: ScriptedServer, command: Command
) -> None:
    faults = [
        {"pointer": "/input/text", "code": "bad_value", "detail": "must not hold NUL"},
        {"pointer": "/params/max_words", "code": "out_of_range", "detail": "must be 10 to 1000"},
    ]
    server.answers("POST", "/v1/jobs", problem(400, "invalid_request", errors=faults))

    ran = command("submit", "summarize", "--text", "a\x00b", "--param", "max_words=9")

    assert (ran.code, ran.out) == (2, "")
    assert "/input/text: must not hold NUL" in ran.err
    assert "/params/max_words: must be 10 to 1000" in ran.err
    assert server.received[0].json["input"]["text"] == "a\x00b"


def test_a_live_run_is_pointed_to(server: ScriptedServer, command: Command) -> None:
    server.answers("POST", "/v1/jobs", problem(409, "run_in_progress", id="job_live"))

    ran = command("submit", "summarize", "--text", "x", "--run-key", "daily")

    assert ran.code == 5
    assert "uketsuke status job_live --follow" in ran.err


def test_a_replay_is_told_as_one(server: ScriptedServer, command: Command) -> None:
    headers = {"idempotency-replayed": "true"}
    ended = Answer(status=202, body=job("succeeded"), headers=headers)
    server.answers("POST", "/v1/jobs", ended)

    ran = command("submit", "summarize", "--text", "x", "--idempotency-key", "mine")

    assert ran.code == 0
    assert f"uketsuke result {JOB_ID}" in ran.err
    assert "made before" in ran.err


def following(server: ScriptedServer, last: dict[str, object]) -> None:
    hurry = {"retry-after": "0"}
    server.answers(
        "GET",
        PATH,
        Answer(body=job("running", progress={"done": 1, "total": 2}), headers=hurry),
        Answer(body=last),
    )


def test_waiting_prints_the_result_and_tells_the_way_there(
    server: ScriptedServer, command: Command
) -> None:
    following(server, job("succeeded"))
    server.answers(
        "GET", f"{PATH}/result", Answer(body={"summary": "要約です。", "language": "ja"})
    )

    ran = command("submit", "summarize", "--text", "x", "--wait")

    assert (ran.code, ran.out) == (0, "要約です。\n")
    assert "running, attempt 1 of 5, 1/2 done" in ran.err
    assert "succeeded" in ran.err


def test_waiting_with_json_prints_the_job_with_its_result(
    server: ScriptedServer, command: Command
) -> None:
    following(server, job("succeeded"))
    server.answers("GET", f"{PATH}/result", Answer(body={"summary": "Short.", "language": "en"}))

    ran = command("submit", "summarize", "--text", "x", "--follow", "--json")

    assert ran.code == 0
    assert ran.document == {**job("succeeded"), "result": {"summary": "Short.", "language": "en"}}


@pytest.mark.parametrize("last", [failed_job(), job("canceled")], ids=["failed", "canceled"])
def test_waiting_for_a_job_that_fails_exits_1_and_says_why(
    server: ScriptedServer, command: Command, last: dict[str, object]
) -> None:
    following(server, last)

    ran = command("submit", "summarize", "--text", "x", "--wait", "--json")

    assert ran.code == 1
    assert ran.document == last
    assert str(last["state"]) in ran.err


def test_an_upload_prints_its_ref(server: ScriptedServer, command: Command, tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text("abc")

    ran = command("upload", str(file))

    assert (ran.code, ran.out) == (0, "in_1\n")
    assert server.received[0].headers["content-type"] == "text/plain"
