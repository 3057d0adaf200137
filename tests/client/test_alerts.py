"""How the objectives stand, through the client and ``uketsuke alerts``."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from tests.client.command_run import Command, on_paper
from tests.client.scripted import KEY, Answer, ScriptedServer
from uketsuke_client import Alerts, Client, UnexpectedAnswer
from uketsuke_client.command.alerts import alert_table

PATH = "/v1/alerts"
NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)


def item(name: str, state: str, **members: object) -> dict[str, object]:
    delivery = {"pending": False, "last_at": None, "tries": 0, "error_class": None}
    return {
        "name": name,
        "state": state,
        "value": 1,
        "limit": 0,
        "subject": None,
        "since": (NOW - timedelta(hours=3)).isoformat(),
        "delivery": {**delivery, **members},
    }


ALERTS = {
    "items": [
        {**item("lanes_denied", "firing", pending=True, tries=2, error_class="timeout"),
         "subject": "openai_compatible/large"},
        item("dead_letters_past_triage", "firing", last_at=(NOW - timedelta(hours=2)).isoformat()),
        {**item("failed_per_mille", "ok"), "value": None, "novelty": 1},
        item("dead_letters_growth", "pending", pending=True),
    ],
    "next": None,
}  # fmt: skip


def test_alerts_tell_how_they_stand_and_what_became_of_their_message(
    server: ScriptedServer,
) -> None:
    server.answers("GET", PATH, Answer(body=ALERTS))

    with Client(server.url, KEY) as client:
        found = client.alerts()

    first, second, third, _ = found.items
    assert (first.name, first.state, first.subject) == (
        "lanes_denied",
        "firing",
        "openai_compatible/large",
    )
    assert (first.delivery.pending, first.delivery.tries) == (True, 2)
    assert first.delivery.error_class == "timeout"
    assert second.delivery.last_at == NOW - timedelta(hours=2)
    assert (third.value, third.resolved_at) == (None, None)
    assert found.raw == ALERTS


def test_what_is_no_alerts_is_refused(server: ScriptedServer) -> None:
    server.answers("GET", PATH, Answer(body={}))

    with Client(server.url, KEY) as client, pytest.raises(UnexpectedAnswer, match="alerts"):
        client.alerts()


def test_the_command_has_a_line_an_objective(server: ScriptedServer, command: Command) -> None:
    server.answers("GET", PATH, Answer(body=ALERTS))

    plain, with_json = command("alerts"), command("alerts", "--json")

    first, second, third, fourth = (line.split("\t") for line in plain.out.splitlines())
    assert first[:5] == ["firing", "lanes_denied", "1", "0", "openai_compatible/large"]
    assert first[6] == "not yet: timeout"
    assert second[:2] == ["firing", "dead_letters_past_triage"]
    assert third == ["ok", "failed_per_mille", "not known", "0", "", "", ""]
    assert fourth[6] == "not yet"
    assert with_json.document == ALERTS


def test_eyes_see_since_when_an_alert_fires_and_when_somebody_was_told() -> None:
    table = alert_table(Alerts.from_json(ALERTS).items, now=NOW.timestamp())

    lines = on_paper(table, columns=120)

    told = " ".join(lines[2].split())
    assert told == "firing dead_letters_past_triage 1 0 3 h ago 2 h ago"
