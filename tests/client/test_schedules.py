"""Schedules through the client and through ``uketsuke schedule``."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.client.command_run import Command, on_a_terminal
from tests.client.scripted import JOB_ID, KEY, Answer, ScriptedServer, job, problem, schedule
from uketsuke_client import ApiError, Client, InputRef, Last, UnexpectedAnswer, Unsendable

LIST = "/v1/schedules"
PATH = f"{LIST}/nightly"
SET = ("schedule", "set", "nightly", "--cron", "30 7 * * 1-5", "--kind", "summarize")


def test_a_schedule_is_read_with_its_times(server: ScriptedServer) -> None:
    server.answers("GET", PATH, Answer(body=schedule(novelty=1)))

    with Client(server.url, KEY) as client:
        found = client.schedule("nightly")

    assert found.next_at == datetime(2026, 11, 29, 22, 30, tzinfo=UTC)
    assert found.last == Last(
        at=datetime(2026, 11, 26, 22, 30, tzinfo=UTC), outcome="started", job_id=JOB_ID
    )
    assert (found.enabled, found.raw["novelty"]) == (True, 1)


def test_a_list_is_followed_to_its_end(server: ScriptedServer) -> None:
    second = f"{LIST}?cursor=a"
    server.answers("GET", LIST, Answer(body={"items": [schedule("a")], "next": second}))
    server.answers("GET", second, Answer(body={"items": [schedule("b")], "next": None}))

    with Client(server.url, KEY) as client:
        assert [found.name for found in client.schedules()] == ["a", "b"]


@pytest.mark.parametrize("following", ["http://elsewhere.example/v1/", "//elsewhere", LIST, 5])
def test_a_list_leads_the_key_nowhere_else(server: ScriptedServer, following: object) -> None:
    server.answers("GET", LIST, Answer(body={"items": [], "next": following}))

    with Client(server.url, KEY) as client, pytest.raises(UnexpectedAnswer, match="no page"):
        list(client.schedules())


@pytest.mark.parametrize("body", [{}, {"items": 5}, {"items": [{"name": "a"}]}])
def test_what_is_no_list_is_refused(server: ScriptedServer, body: object) -> None:
    server.answers("GET", LIST, Answer(body=body))

    with Client(server.url, KEY) as client, pytest.raises(UnexpectedAnswer):
        list(client.schedules())


def test_what_is_not_given_is_not_put(server: ScriptedServer) -> None:
    server.answers("PUT", PATH, Answer(status=201, body=schedule()))

    with Client(server.url, KEY) as client:
        upload = InputRef.from_json({"ref": "in_1"})
        client.put_schedule("nightly", cron="0 0 * * *", kind="summarize", input=upload)
        client.put_schedule(
            "nightly", cron="0 0 * * *", kind="embed", input={"texts": ["a"]}, enabled=False
        )

    first, second = (received.json for received in server.received)
    assert first == {"cron": "0 0 * * *", "kind": "summarize", "input": {"ref": "in_1"}}
    assert second["enabled"] is False


def test_a_put_and_a_delete_are_tried_again_when_their_answer_is_lost(
    server: ScriptedServer,
) -> None:
    server.answers("PUT", PATH, Answer(dropped=True), Answer(body=schedule()))
    server.answers("DELETE", PATH, Answer(dropped=True), Answer(status=204))

    with Client(server.url, KEY) as client:
        client.put_schedule("nightly", cron="0 0 * * *", kind="embed", input={"texts": ["a"]})
        client.delete_schedule("nightly")

    assert [received.method for received in server.received] == ["PUT"] * 2 + ["DELETE"] * 2


def test_a_schedule_that_is_not_there_is_an_error(server: ScriptedServer) -> None:
    with Client(server.url, KEY) as client, pytest.raises(ApiError, match="not_found"):
        client.delete_schedule("absent")


@pytest.mark.parametrize("name", ["", ".", ".."])
def test_a_name_that_would_be_another_path_is_not_sent(server: ScriptedServer, name: str) -> None:
    with Client(server.url, KEY) as client, pytest.raises(Unsendable):
        client.schedule(name)

    assert server.received == []


def test_set_puts_what_the_options_say(server: ScriptedServer, command: Command) -> None:
    server.answers("PUT", PATH, Answer(status=201, body=schedule()))

    ran = command(
        *SET, "--text", "Some words.", "--timezone", "Asia/Tokyo", "--param", "max_words=50",
        "--overlap", "skip", "--run-key", "mine",
    )  # fmt: skip

    assert (ran.code, ran.out) == (0, "nightly: next 2026-11-29 22:30 UTC\n")
    assert server.received[-1].json == {
        "cron": "30 7 * * 1-5",
        "timezone": "Asia/Tokyo",
        "kind": "summarize",
        "input": {"text": "Some words."},
        "params": {"max_words": 50},
        "run_key": "mine",
        "overlap": "skip",
        "enabled": True,
    }


def test_set_uploads_what_is_no_text(
    server: ScriptedServer, command: Command, tmp_path: Path
) -> None:
    recording = tmp_path / "sound.wav"
    recording.write_bytes(b"\xff\x00")
    server.answers("PUT", "/v1/inputs", Answer(status=201, body={"ref": "in_1"}))
    server.answers("PUT", PATH, Answer(body=schedule(enabled=False, next_at=None)))

    ran = command(*SET, "--file", str(recording), "--disabled")

    assert (ran.code, ran.out) == (0, "nightly: disabled\n")
    put = server.received[-1].json
    assert (put["input"], put["enabled"]) == ({"ref": "in_1"}, False)


def test_set_tells_every_fault_and_exits_2(server: ScriptedServer, command: Command) -> None:
    errors = [{"pointer": "/cron", "code": "bad_value", "detail": "Give five fields."}]
    server.answers("PUT", PATH, problem(400, "invalid_request", errors=errors))

    ran = command(*SET, "--text", "a")

    assert ran.code == 2
    assert "/cron: Give five fields. (bad_value)" in ran.err


def test_set_without_an_input_says_how_to_give_one(
    server: ScriptedServer, command: Command
) -> None:
    ran = command(*SET)

    assert ran.code == 2
    assert "--text" in ran.err
    assert server.received == []


def test_show_tells_what_is_started_and_what_became_of_it(
    server: ScriptedServer, command: Command
) -> None:
    server.answers("GET", PATH, Answer(body=schedule()))

    plain = command("schedule", "show", "nightly")
    with_json = command("schedule", "show", "nightly", "--json")

    assert plain.out.splitlines() == [
        "name: nightly",
        "cron: 30 7 * * 1-5 (Asia/Tokyo)",
        "next: 2026-11-29 22:30 UTC",
        f"last: 2026-11-26 22:30 UTC started {JOB_ID}",
        "kind: summarize",
        "text: Some words.",
        "max words: 50",
        "overlap: skip",
        "run key: schedule:nightly",
    ]
    assert with_json.document == schedule()


@pytest.mark.parametrize(
    ("given", "line"),
    [
        ({"text": "x" * 70}, f"text: {'x' * 60}… (70 characters)"),
        ({"text": "a\n  b\t c"}, "text: a b c"),
        ({"texts": ["a", "b", "c", "d"]}, "texts: a, b, c, …"),
        ({"refs": ["in_1", "in_2"]}, "refs: in_1, in_2"),
        ({"novelty": {"x": 1}}, "novelty: {'x': 1}"),
    ],
)
def test_show_gives_an_idea_of_the_input(
    server: ScriptedServer, command: Command, given: object, line: str
) -> None:
    server.answers("GET", PATH, Answer(body=schedule(input=given)))

    assert line in command("schedule", "show", "nightly").out.splitlines()


def test_an_operator_says_whose_and_sees_whose(server: ScriptedServer, command: Command) -> None:
    unseen = schedule(input=None, params=None, overlap="allow", run_key=None, last=None)
    server.answers("GET", f"{PATH}?tenant=t_1", Answer(body=unseen))

    ran = command("schedule", "show", "nightly", "--tenant", "t_1")

    assert ran.out.splitlines()[1] == "tenant: t_1"
    assert "text" not in ran.out


def test_list_has_a_line_for_each(server: ScriptedServer, command: Command) -> None:
    items = [schedule(), schedule("off", enabled=False, next_at=None, last=None)]
    server.answers("GET", LIST, Answer(body={"items": items, "next": None}))

    plain, with_json = command("schedule", "list"), command("schedule", "list", "--json")

    assert [line.split("\t") for line in plain.out.splitlines()] == [
        ["nightly", "30 7 * * 1-5", "Asia/Tokyo", "summarize", "2026-11-29 22:30 UTC",
         f"2026-11-26 22:30 UTC started {JOB_ID}"],
        ["off", "30 7 * * 1-5", "Asia/Tokyo", "summarize", "disabled"],
    ]  # fmt: skip
    assert with_json.document == {"items": items}


def test_an_empty_list_says_how_to_make_one(server: ScriptedServer, command: Command) -> None:
    server.answers("GET", LIST, Answer(body={"items": [], "next": None}))

    ran = command("schedule", "list")

    assert (ran.code, ran.out) == (0, "")
    assert "schedule set" in ran.err


def test_delete_says_what_is_gone(server: ScriptedServer, command: Command) -> None:
    server.answers("DELETE", PATH, Answer(status=204))

    plain = command("schedule", "delete", "nightly")
    with_json = command("schedule", "delete", "nightly", "--json")
    absent = command("schedule", "delete", "absent")

    assert (plain.code, plain.out) == (0, "nightly: deleted\n")
    assert with_json.document == {"deleted": "nightly"}
    assert absent.code == 2


def test_a_terminal_gets_tables_without_what_it_would_obey(server: ScriptedServer) -> None:
    odd = schedule(input=None, kind="\x1b]0;title\x07", last=None)
    server.answers("GET", LIST, Answer(body={"items": [odd], "next": None}))

    code, drawn = on_a_terminal(["schedule", "list"], url=server.url)

    assert code == 0
    assert "tenant" in drawn
    assert "\x1b]0;title" not in drawn


def test_a_trigger_is_sent_once_under_a_key_and_its_job_is_told(
    server: ScriptedServer, command: Command
) -> None:
    server.answers("POST", f"{PATH}/trigger", Answer(status=202, body=job("accepted")))

    ran = command("schedule", "trigger", "nightly")

    assert (ran.code, ran.out.strip()) == (0, JOB_ID)
    (sent,) = server.received
    assert sent.headers["idempotency-key"].startswith('"')


def test_a_trigger_that_is_refused_names_the_live_job(
    server: ScriptedServer, command: Command
) -> None:
    refused = problem(409, "run_in_progress", id=JOB_ID)
    server.answers("POST", f"{PATH}/trigger", refused)

    ran = command("schedule", "trigger", "nightly")

    assert ran.code != 0
    assert JOB_ID in ran.err
