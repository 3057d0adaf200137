"""The alerts: what fires comes first, with whether somebody was told, and old news says so."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any, Final

import pytest
from playwright.sync_api import Browser, expect

from tests.console.answers import Document, answer_alerts, refuse, told
from tests.console.visitor import Visitor, visiting
from tests.support.running import Stack

ALERTS: Final = "/v1/alerts"
LONG_AGO: Final = "2020-01-01T00:00:00.000Z"
HOSTILE: Final = "<script>document.title = 1</script>\u202e" + "x" * 500


@pytest.fixture
def items(stack: Stack) -> list[Document]:
    """The alerts as they stand, each within its limit and reckoned just now."""
    stack.sweep()
    with stack.api("operator_key") as operator:
        found: list[Document] = operator.get(ALERTS).json()["items"]
    calm: dict[str, Any] = {"state": "ok", "value": 0, "subject": None, "since": None}
    at = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")
    return [{**item, **calm, "computed_at": at, "delivery": delivery()} for item in found]


def delivery(**members: Any) -> Document:
    return {"pending": False, "last_at": None, "tries": 0, "error_class": None, **members}


def change(items: list[Document], name: str, **members: Any) -> None:
    next(item for item in items if item["name"] == name).update(members)


def test_each_objective_names_its_part_of_the_runbook(visitor: Visitor, stack: Stack) -> None:
    stack.sweep()
    names = [item["name"] for item in told(visitor, ALERTS)["items"]]
    page = visitor.open("#/alerts", key="operator_key")

    for name in names:
        expect(page.get_by_text(f"docs/alerts.md#{name}", exact=True)).to_be_visible()
    expect(page.get_by_role("row")).to_have_count(len(names) + 1)


def test_what_fires_comes_first_and_says_whether_somebody_was_told(
    visitor: Visitor, items: list[Document]
) -> None:
    above = {"since": LONG_AGO, "fired_at": LONG_AGO}
    untold = delivery(pending=True, tries=3, error_class="redirected")
    change(items, "sweep_lag_seconds", state="firing", value=720, delivery=untold, **above)
    was_told = delivery(last_at=items[0]["computed_at"])
    denied = {"value": 2, "subject": HOSTILE, "delivery": was_told}
    change(items, "lanes_denied", state="firing", **denied, **above)
    change(items, "failed_per_mille", state="pending", value=250, since=LONG_AGO)
    answer_alerts(visitor, items)
    page = visitor.open("#/alerts", key="operator_key")

    expect(page.get_by_role("status").filter(has_text="2 alerts are firing.")).to_be_visible()
    rows = page.locator("tbody tr")
    expect(rows.nth(0)).to_contain_text(re.compile(r"Models that refuse us.*<script>", re.S))
    expect(rows.nth(0)).to_contain_text("Told")
    expect(rows.nth(1)).to_contain_text(re.compile(r"Delay of the sweep.*12 min.*5 min", re.S))
    expect(rows.nth(1)).to_contain_text("Not told after 3 tries: redirected: set the new URL")
    expect(rows.nth(2)).to_contain_text(re.compile(r"Share of failed jobs.*25%.*10%", re.S))
    expect(rows.nth(3)).to_contain_text("Within its limit")
    denied_link = rows.nth(0).get_by_role("link", name="Models that refuse us")
    expect(denied_link).to_have_attribute("href", "#/dead-letters?status=open&class=denied")


def test_old_alerts_and_those_that_cannot_be_fetched_say_so(
    visitor: Visitor, items: list[Document]
) -> None:
    refuse(visitor, ALERTS)
    page = visitor.open("#/alerts", key="operator_key")
    expect(page.get_by_role("alert")).to_contain_text("The database is away.")
    expect(page.get_by_text("No alert is firing.")).to_have_count(0)
    old = [{**item, "computed_at": LONG_AGO} for item in items]
    answer_alerts(visitor, old)
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_text("what has happened since, nobody knows")).to_be_visible()
    answer_alerts(visitor, [])
    page.get_by_role("button", name="Refresh").click()

    expect(page.get_by_text("No sweep has reckoned any objective yet.")).to_be_visible()


def test_the_alerts_fit_a_narrow_dark_japanese_screen(
    browser: Browser, stack: Stack, items: list[Document]
) -> None:
    with visiting(browser, stack, width=360, language="ja", colours="dark") as visitor:
        change(items, "lanes_denied", state="firing", value=2, subject=HOSTILE, since=LONG_AGO)
        answer_alerts(visitor, items)
        page = visitor.open("#/alerts", key="operator_key")
        expect(page.get_by_text("1 件のアラートが発報中です。")).to_be_visible()
        visitor.picture("alerts-360-ja-dark")

        assert visitor.hindrances() == []
        assert not visitor.overflows()


def test_pages_of_operators_ask_nothing_for_a_tenant(visitor: Visitor) -> None:
    for place in ("#/alerts", "#/overview"):
        page = visitor.open(place, key="tenant_key")
        expect(page.get_by_text("This page needs a key of an operator.")).to_be_visible()

    asked = {request.url.split("/v1/")[-1] for request in visitor.requests if "/v1/" in request.url}
    assert asked == {"key"}
