"""Usage through the client and through ``uketsuke usage``."""

from __future__ import annotations

from typing import Any

import pytest

from tests.client.command_run import Command, on_a_terminal, on_paper
from tests.client.scripted import KEY, Answer, ScriptedServer
from uketsuke_client import Client, UnexpectedAnswer
from uketsuke_client.command.usage import usage_table

PATH = "/v1/usage?limit=200"
FIGURES: dict[str, Any] = {
    "attempts": 4,
    "failed_attempts": 1,
    "input_tokens": 812,
    "output_tokens": 64,
    "audio_seconds": 1.5,
    "cost_usd": "0.000213",
    "failed_cost_usd": "0.000020",
    "unknown_cost_attempts": 0,
}
BUDGET = {"daily_usd": "2.500000", "spent_usd": "1.000000", "reserved_usd": "0.250000"}


def item(day: str, **changes: Any) -> dict[str, Any]:
    whose = {"tenant_id": "acme", "kind": "summarize", "provider": "p", "model": "m-1"}
    return {"day": day, **whose, **FIGURES, **changes}


def page(*items: dict[str, Any], **changes: Any) -> Answer:
    days = {"from": "2026-10-31", "to": "2026-11-29"}
    body = {**days, "items": list(items), "totals": FIGURES, "budget": None, "next": None}
    return Answer(body={**body, **changes})


def test_usage_is_followed_to_its_end(server: ScriptedServer) -> None:
    second = "/v1/usage?limit=200&cursor=a"
    server.answers("GET", PATH, page(item("2026-11-29"), next=second, budget=BUDGET))
    server.answers("GET", second, page(item("2026-11-28", cost_usd=None, model=None)))

    with Client(server.url, KEY) as client:
        report = client.usage()

    assert [one.day for one in report.items] == ["2026-11-29", "2026-11-28"]
    assert (report.items[1].model, report.items[1].used.cost_usd) == (None, None)
    assert (report.totals.audio_seconds, report.totals.cost_usd) == (1.5, "0.000213")
    assert report.budget is not None
    assert report.budget.daily_usd == "2.500000"
    assert (len(report.raw["items"]), report.raw["next"]) == (2, None)


def test_what_is_asked_for_is_sent(server: ScriptedServer) -> None:
    asked = "/v1/usage?from=2026-11-01&to=2026-11-02&kind=embed&tenant=acme&limit=200"
    server.answers("GET", asked, page())

    with Client(server.url, KEY) as client:
        report = client.usage(start="2026-11-01", end="2026-11-02", kind="embed", tenant="acme")

    assert report.items == []


@pytest.mark.parametrize("body", [{}, {"items": 5}, {"items": [{"day": "2026-11-29"}]}])
def test_what_is_no_usage_is_refused(server: ScriptedServer, body: object) -> None:
    server.answers("GET", PATH, Answer(body=body))

    with Client(server.url, KEY) as client, pytest.raises(UnexpectedAnswer):
        client.usage()


def test_the_command_prints_a_line_a_row_the_sums_and_the_budget(
    server: ScriptedServer, command: Command
) -> None:
    server.answers("GET", PATH, page(item("2026-11-29"), budget=BUDGET))

    ran = command("usage")

    figures = "4\t1\t812 in, 64 out\t2 s\t$0.000213\t$0.000020"
    assert (ran.code, ran.out.splitlines()) == (
        0,
        [
            f"2026-11-29\tsummarize\tm-1\t{figures}",
            f"total\t\t\t{figures}",
            "today: $1.000000 spent and $0.250000 reserved of $2.500000",
        ],
    )


def test_what_is_not_known_is_said_and_a_part_of_it_is_marked(
    server: ScriptedServer, command: Command
) -> None:
    unknown = {"unknown_cost_attempts": 1, "cost_usd": None, "failed_cost_usd": None}
    part = {"unknown_cost_attempts": 1, "failed_attempts": 0, "failed_cost_usd": None}
    rows = (item("2026-11-29", **unknown), item("2026-11-28", **part, tenant_id="other"))
    server.answers("GET", PATH, page(*rows))

    ran = command("usage")

    first, second, _ = ran.out.splitlines()
    assert first.startswith("acme\t2026-11-29")
    assert first.endswith("\tunknown\tunknown")
    assert second.endswith("\t≥ $0.000213\t$0")


def test_the_document_is_all_that_was_asked_for(server: ScriptedServer, command: Command) -> None:
    server.answers("GET", PATH, page(item("2026-11-29")))

    ran = command("usage", "--json")

    assert (ran.code, ran.document["items"][0]["model"]) == (0, "m-1")
    assert ran.document["totals"] == FIGURES


def test_a_terminal_gets_a_table(server: ScriptedServer) -> None:
    server.answers("GET", PATH, page(item("2026-11-29"), budget=BUDGET))

    code, shown = on_a_terminal(["usage"], url=server.url)

    assert code == 0
    for word in ("of failures", "2026-11-29", "$0.000213", "total", "today:"):
        assert word in shown


@pytest.mark.parametrize("columns", [80, 120])
@pytest.mark.parametrize("tenants", [("acme", "acme"), ("acme", "other")])
def test_no_figure_is_cut_short_at_any_width(
    server: ScriptedServer, tenants: tuple[str, str], columns: int
) -> None:
    wide = {"model": "multilingual-e5-small", "cost_usd": "123456.789012", "input_tokens": 10**9}
    items = [item("2026-11-29", tenant_id=tenant, **wide) for tenant in tenants]
    server.answers("GET", PATH, page(*items, budget=BUDGET))
    with Client(server.url, KEY) as client:
        report = client.usage()

    lines = on_paper(usage_table(report, width=columns), columns=columns)

    shown = "\n".join(lines)
    for word in ("2026-11-29", "multilingual-e5-small", "$123456.789012", "1000000000 in, 64 out"):
        assert shown.count(word) == 2, shown
    assert "…" not in shown
