"""The doctor through the client and through ``uketsuke doctor``."""

from __future__ import annotations

from typing import Any

import pytest

from tests.client.command_run import Command, on_a_terminal
from tests.client.scripted import KEY, Answer, ScriptedServer, problem
from uketsuke_client import ApiError, Client, UnexpectedAnswer

PATH, REPAIR = "/v1/doctor", "/v1/doctor/repair"
SOUND: dict[str, Any] = {
    "check": "wake_overdue",
    "description": "The sweep looks in time.",
    "ok": True,
    "count": 0,
    "rows": [],
    "looked_at": "all",
    "repair": None,
    "by_hand": "See that the cron fires.",
}
BROKEN: dict[str, Any] = {
    "check": "failed_without_letter",
    "description": "A failed job has a dead letter.",
    "ok": False,
    "count": 3,
    "rows": ["job_1", "job_2"],
    "looked_at": "the newest 10000 jobs",
    "repair": "Writes it.",
    "by_hand": None,
}
MENDED = {"check": "failed_without_letter", "count": 2, "rows": ["job_1", "job_2"], "left": 0}


def diagnosis(*items: dict[str, Any]) -> Answer:
    return Answer(body={"ok": all(item["ok"] for item in items), "items": list(items)})


def test_the_client_reads_each_check(server: ScriptedServer) -> None:
    server.answers("GET", PATH, diagnosis(SOUND, BROKEN))

    with Client(server.url, KEY) as client:
        found = client.doctor()

    sound, broken = found.checks
    assert (found.ok, sound.ok, sound.by_hand) == (False, True, "See that the cron fires.")
    assert (broken.name, broken.count, broken.rows) == (BROKEN["check"], 3, ["job_1", "job_2"])
    assert (broken.repair, broken.looked_at) == ("Writes it.", "the newest 10000 jobs")


def test_one_check_is_asked_for_by_its_name(server: ScriptedServer) -> None:
    server.answers("GET", f"{PATH}?check=wake_overdue", diagnosis(SOUND))

    with Client(server.url, KEY) as client:
        assert client.doctor(check="wake_overdue").ok


def test_a_repair_is_sent_with_its_reason(server: ScriptedServer) -> None:
    server.answers("POST", REPAIR, Answer(body=MENDED))

    with Client(server.url, KEY) as client:
        done = client.repair("failed_without_letter", reason="lost in a restore")

    assert (done.rows, done.left) == (["job_1", "job_2"], 0)
    sent = server.received[-1].json
    assert sent == {"check": "failed_without_letter", "reason": "lost in a restore"}


def test_a_refused_repair_is_an_error_with_what_a_person_does(server: ScriptedServer) -> None:
    server.answers("POST", REPAIR, problem(409, "not_repairable", detail="See the cron."))

    with (
        Client(server.url, KEY) as client,
        pytest.raises(ApiError, match="See the cron") as refused,
    ):
        client.repair("wake_overdue", reason="why")

    assert refused.value.code == "not_repairable"


@pytest.mark.parametrize("body", [{}, {"items": 5}, {"items": [{"check": "x"}]}])
def test_what_is_no_diagnosis_is_refused(server: ScriptedServer, body: object) -> None:
    server.answers("GET", PATH, Answer(body=body))

    with Client(server.url, KEY) as client, pytest.raises(UnexpectedAnswer):
        client.doctor()


def test_what_is_no_repair_is_refused(server: ScriptedServer) -> None:
    server.answers("POST", REPAIR, Answer(body={"check": "x"}))

    with Client(server.url, KEY) as client, pytest.raises(UnexpectedAnswer):
        client.repair("x", reason="why")


def test_a_sound_store_is_a_line_a_check_and_exit_0(
    server: ScriptedServer, command: Command
) -> None:
    server.answers("GET", PATH, diagnosis(SOUND, {**SOUND, "check": "duty_overdue"}))

    ran = command("doctor")

    assert (ran.code, ran.out) == (0, "ok  wake_overdue\nok  duty_overdue\n")


def test_offenders_are_listed_with_what_to_do_and_exit_1(
    server: ScriptedServer, command: Command
) -> None:
    by_hand = {**SOUND, "ok": False, "count": 10_001, "rows": ["job_9"]}
    server.answers("GET", PATH, diagnosis(BROKEN, by_hand))

    ran = command("doctor")

    assert (ran.code, ran.out.splitlines()) == (
        1,
        [
            "NOT OK  failed_without_letter: 3 (looked at: the newest 10000 jobs)",
            "    A failed job has a dead letter.",
            "    job_1",
            "    job_2",
            "    …",
            "    repair: Writes it.",
            "    uketsuke doctor --repair failed_without_letter --reason WORDS",
            "NOT OK  wake_overdue: at least 10001 (looked at: all)",
            "    The sweep looks in time.",
            "    job_9",
            "    …",
            "    by hand: See that the cron fires.",
        ],
    )


def test_the_document_is_the_servers(server: ScriptedServer, command: Command) -> None:
    server.answers("GET", f"{PATH}?check=failed_without_letter", diagnosis(BROKEN))

    ran = command("doctor", "--check", "failed_without_letter", "--json")

    assert (ran.code, ran.document) == (1, {"ok": False, "items": [BROKEN]})


@pytest.mark.parametrize(("left", "code"), [(0, 0), (1, 1)])
def test_a_repair_tells_what_was_mended_and_what_is_left(
    server: ScriptedServer, command: Command, left: int, code: int
) -> None:
    server.answers("POST", REPAIR, Answer(body={**MENDED, "left": left}))

    ran = command("doctor", "--repair", "failed_without_letter", "--reason", "lost")

    assert ran.code == code
    assert ran.out.splitlines() == [
        f"failed_without_letter: 2 mended, {left} left",
        "    job_1",
        "    job_2",
    ]
    assert ("again" in ran.err) is bool(left)


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["--repair", "wake_overdue"], "--reason"),
        (["--repair", "a", "--check", "b", "--reason", "c"], "one of them"),
        (["--reason", "c"], "--repair"),
    ],
)
def test_what_does_not_go_together_is_said_and_nothing_sent(
    server: ScriptedServer, command: Command, argv: list[str], words: str
) -> None:
    ran = command("doctor", *argv)

    assert ran.code == 2
    assert words in ran.err
    assert server.received == []


def test_a_terminal_shows_the_same_lines(server: ScriptedServer) -> None:
    server.answers("GET", PATH, diagnosis(SOUND, BROKEN))

    code, shown = on_a_terminal(["doctor"], url=server.url)

    assert code == 1
    for word in ("wake_overdue", "NOT OK", "job_1", "Writes it."):
        assert word in shown
