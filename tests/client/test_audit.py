"""The audit and the conditions, through the client, ``uketsuke audit`` and ``uketsuke metrics``."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from tests.client.command_run import Command, on_paper
from tests.client.letters import LETTER, entry
from tests.client.scripted import KEY, Answer, ScriptedServer
from uketsuke_client import AuditEntry, Client, Metrics, UnexpectedAnswer
from uketsuke_client.command.audit import audit_table
from uketsuke_client.command.figures import figure_table
from uketsuke_client.command.metrics import condition_table

AUDIT = "/v1/audit"
NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
METRICS = {
    "at": "2026-11-29T10:00:00.000Z",
    "dead_letters": {"open": 12, "past_triage": 2, "expiring": 0, "last_hour": 3},
    "conditions": [
        {
            "name": "dead_letters_open",
            "value": 12,
            "limit": 0,
            "compared_to": None,
            "holds": True,
            "since": (NOW - timedelta(hours=3)).isoformat(),
            "computed_at": (NOW - timedelta(seconds=5)).isoformat(),
        },
        {"name": "dlq_oldest_seconds", "value": None, "limit": 7200, "holds": False},
    ],
}


def test_the_audit_is_read_to_its_end(server: ScriptedServer) -> None:
    second = f"{AUDIT}?cursor=a"
    server.answers("GET", AUDIT, Answer(body={"items": [entry(novelty=1)], "next": second}))
    server.answers("GET", second, Answer(body={"items": [entry(id="au_0")], "next": None}))

    with Client(server.url, KEY) as client:
        first, last = client.audit()

    assert (first.actor, first.detail["redriven_to"], last.id) == ("k1", "job_2", "au_0")


@pytest.mark.parametrize("missing", ["id", "action", "target"])
def test_what_is_no_audit_is_refused(server: ScriptedServer, missing: str) -> None:
    body = {"items": [entry(**{missing: None})], "next": None}
    server.answers("GET", AUDIT, Answer(body=body))

    with Client(server.url, KEY) as client, pytest.raises(UnexpectedAnswer, match="audit"):
        list(client.audit())


def test_the_command_shows_who_did_what_and_why(server: ScriptedServer, command: Command) -> None:
    narrow = f"{AUDIT}?action=dead_letter.redriven&target={LETTER}&tenant=acme"
    body = {"items": [entry()], "next": None}
    server.answers("GET", AUDIT, Answer(body=body))
    server.answers("GET", narrow, Answer(body={"items": [], "next": None}))

    plain, with_json = command("audit"), command("audit", "--json")
    empty = command(
        "audit", "--action", "dead_letter.redriven", "--target", LETTER, "--tenant", "acme"
    )

    assert plain.out.rstrip("\n").split("\t") == [
        "2026-11-29 10:00:00.000 UTC",
        "dead_letter.redriven",
        LETTER,
        "k1",
        "the outage is over",
    ]
    assert with_json.document == {"items": [entry()]}
    assert (empty.code, empty.out) == (0, "")


def test_eyes_see_an_act_with_its_reason_under_it() -> None:
    act = entry(detail={"patched": ["input", "params"], "redriven_to": "job_2"})

    lines = on_paper(audit_table([AuditEntry.from_json(act)], now=NOW.timestamp()), columns=80)

    assert lines[1] == f"2 h ago  dead_letter.redriven  {LETTER}  k1"
    assert lines[2] == "  the outage is over; tenant acme; patched input, params; redriven to job_2"


def test_metrics_tell_how_many_and_what_holds(server: ScriptedServer) -> None:
    server.answers("GET", "/v1/metrics", Answer(body=METRICS))

    with Client(server.url, KEY) as client:
        found = client.metrics()

    assert (found.dead_letters.open, found.dead_letters.past_triage) == (12, 2)
    assert [(each.name, each.value, each.holds) for each in found.conditions] == [
        ("dead_letters_open", 12, True),
        ("dlq_oldest_seconds", None, False),
    ]


def test_what_is_no_metrics_is_refused(server: ScriptedServer) -> None:
    server.answers("GET", "/v1/metrics", Answer(body={}))

    with Client(server.url, KEY) as client, pytest.raises(UnexpectedAnswer, match="metrics"):
        client.metrics()


def test_the_command_has_a_line_a_condition(server: ScriptedServer, command: Command) -> None:
    server.answers("GET", "/v1/metrics", Answer(body=METRICS))

    plain, with_json = command("metrics"), command("metrics", "--json")

    first, second = (line.split("\t") for line in plain.out.splitlines())
    assert first[:3] == ["dead_letters_open", "12", "0"]
    assert second == ["dlq_oldest_seconds", "not known", "7200", "does not hold", ""]
    assert with_json.document == METRICS


def test_eyes_see_the_figures_on_a_page_and_no_guess_at_what_is_not_told() -> None:
    hour = {
        "accepted": 5, "succeeded": 3, "failed": 1, "canceled": 0, "success_rate": 0.75,
        "retry_rate": None, "queue_seconds": {"p50": 0.075, "p95": None},
        "run_seconds": {"p50": 1234.5}, "cost_usd": "1.500000", "failed_cost_usd": None,
    }  # fmt: skip
    backlog = {"accepted": 2, "running": 1, "retrying": 0, "ready": 2, "delayed": 0}
    whole = {**METRICS, "last_hour": hour, "backlog": backlog, "oldest_waiting_seconds": 61.5}

    lines = on_paper(figure_table(whole), columns=80)
    few = on_paper(figure_table(METRICS), columns=80)

    told = {line[:12].strip(): line[12:].strip() for line in lines}
    assert told["backlog"] == "2 accepted, 1 running, 0 retrying, 2 ready, 0 delayed"
    assert told["oldest"] == "waiting 61.5 s, due -, running -"
    assert told["last hour"] == "5 accepted, 3 succeeded, 1 failed, 0 canceled"
    assert told["rates"] == "success 75.0%, retry -"
    assert told["waits"] == "p50 0.075 s, p95 -"
    assert told["runs"] == "p50 1,234 s"
    assert told["cost"] == "$1.500000, of failed attempts not known"
    assert not any("rates" in line for line in few)


def test_eyes_see_since_when_a_condition_holds() -> None:
    found = Metrics.from_json(METRICS)

    lines = on_paper(condition_table(found.conditions, now=NOW.timestamp()), columns=80)

    assert lines[1].split() == [
        "dead_letters_open",
        "12",
        "0",
        "3",
        "h",
        "ago",
        "5",
        "s",
        "ago",
    ]
    assert "does not hold" in lines[2]
