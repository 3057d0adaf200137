"""The command as a process: terminals, pipes, signals and a server that is not there."""

from __future__ import annotations

import json
import os
import signal
import subprocess

import pytest

from tests.client.command_run import on_a_terminal, started
from tests.client.scripted import JOB_ID, Answer, ScriptedServer, job

PATH = f"/v1/jobs/{JOB_ID}"
WITHIN = 20.0


def ended(process: subprocess.Popen[bytes]) -> tuple[int, str, str]:
    try:
        out, err = process.communicate(timeout=WITHIN)
    finally:
        process.kill()
        process.wait()
    return process.returncode, (out or b"").decode(), err.decode()


def test_nobody_at_the_url_exits_3_and_says_what_to_do() -> None:
    with ScriptedServer() as gone:
        url = gone.url

    process = started(
        ["submit", "summarize", "--text", "x", "--json", "--idempotency-key", "mine"],
        url=url,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    code, out, err = ended(process)

    assert code == 3
    assert json.loads(out)["code"] == "unreachable"
    assert json.loads(out)["idempotency_key"] == "mine"
    assert "uketsuke dev" in err
    assert "--idempotency-key mine" in err
    assert "Traceback" not in err


def test_ctrl_c_while_following_is_clean_and_the_job_goes_on(server: ScriptedServer) -> None:
    server.answers("GET", PATH, Answer(body=job(), headers={"retry-after": "1"}))
    process = started(
        ["status", JOB_ID, "--follow"],
        url=server.url,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )

    server.wait_for(2)
    process.send_signal(signal.SIGINT)
    code, out, err = ended(process)

    assert (code, out) == (130, "")
    assert f"uketsuke status {JOB_ID} --follow" in err
    assert "Traceback" not in err
    assert {request.method for request in server.received} == {"GET"}


def test_a_terminal_sees_the_job_live_and_then_its_result(server: ScriptedServer) -> None:
    usage = {"model": "extractive-e5"}
    server.answers("POST", "/v1/jobs", Answer(status=202, body=job("accepted", attempts=0)))
    server.answers(
        "GET",
        PATH,
        Answer(body=job(progress={"done": 3, "total": 10}), headers={"retry-after": "1"}),
        Answer(body=job("succeeded", usage=usage)),
    )
    server.answers("GET", f"{PATH}/result", Answer(body={"summary": "Short \x1b[31mred."}))

    code, drawn = on_a_terminal(["submit", "summarize", "--text", "x", "--wait"], url=server.url)

    assert code == 0
    assert "3/10" in drawn
    assert "running, attempt 1 of 5" in drawn
    assert "Short \N{REPLACEMENT CHARACTER}[31mred." in drawn


def test_json_on_a_terminal_is_still_the_one_thing_on_stdout(server: ScriptedServer) -> None:
    server.answers("GET", PATH, Answer(body=job(metadata={"名": "値"})))

    code, drawn = on_a_terminal(["status", JOB_ID, "--json"], url=server.url)

    assert code == 0
    assert json.loads(drawn) == job(metadata={"名": "値"})


def test_a_reader_that_has_enough_is_no_error_to_shout_about(server: ScriptedServer) -> None:
    server.answers("GET", f"{PATH}/result", Answer(body={"summary": "x" * 1_000_000}))
    reading, writing = os.pipe()
    os.close(reading)

    process = started(["result", JOB_ID], url=server.url, stdout=writing, stderr=subprocess.PIPE)
    os.close(writing)
    code, _, err = ended(process)

    assert (code, err) == (141, "")


@pytest.mark.parametrize("encoding", ["ascii", "shift_jis"])
def test_a_stdout_that_lacks_the_letters_gets_them_escaped(
    server: ScriptedServer, monkeypatch: pytest.MonkeyPatch, encoding: str
) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", encoding)
    server.answers("GET", PATH, Answer(body=job(metadata={"emoji": "🏨"})))

    process = started(
        ["status", JOB_ID, "--json"],
        url=server.url,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    code, out, _ = ended(process)

    assert code == 0
    assert json.loads(out)["metadata"] == {"emoji": "🏨"}
