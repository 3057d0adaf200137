"""Usage: what was used by day, as far as its cost is known, each row with the way to its jobs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.acceptance.runs import Desk
from tests.console.answers import Document, answer
from tests.console.visitor import Visitor, visiting
from tests.support.running import Stack, until

HOSTILE: Final = "<script>document.title = 1</script>\u202e" + "x" * 500


@pytest.fixture(scope="module")
def desk(stack: Stack) -> Iterator[Desk]:
    with Desk.open(stack) as opened:
        yield opened


@pytest.fixture(scope="module")
def jobs(desk: Desk) -> dict[str, str]:
    text = "The desk takes each request once."
    asked = {"succeeded": desk.post(text=text), "failed": desk.post({"status": 422}, text=text)}
    ids = {state: str(each.json()["id"]) for state, each in asked.items()}
    until(lambda: all(desk.shown(job)["terminal"] for job in ids.values()))
    return ids


def used(**members: Any) -> Document:
    tokens = {"input_tokens": 81_200, "output_tokens": 640, "audio_seconds": 90.0}
    counts = {"attempts": 12, "failed_attempts": 2, "unknown_cost_attempts": 0}
    return {**counts, **tokens, "cost_usd": "1.250000", "failed_cost_usd": "0.000213", **members}


def row(**members: Any) -> Document:
    names = {"day": "2026-11-29", "tenant_id": HOSTILE, "kind": "report"}
    return {**names, "provider": "anthropic", "model": HOSTILE, **used(**members)}


def listed(*items: Document, **members: Any) -> Document:
    days = {"from": "2026-11-01", "to": "2026-11-30"}
    base = {**days, "items": list(items), "totals": used(), "budget": None, "next": None}
    return {**base, **members}


def ids(page: Page) -> set[str | None]:
    return {each.get_attribute("title") for each in page.locator("td a.id").all()}


def test_a_tenant_sees_its_own_usage_and_the_jobs_behind_it(
    visitor: Visitor, desk: Desk, jobs: dict[str, str]
) -> None:
    page = visitor.open("#/usage", key=desk.key)
    rows = page.locator("tbody tr")
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text("Summary")
    expect(page.get_by_role("columnheader", name="Tenant")).to_have_count(0)
    expect(page.get_by_label("Tenant")).to_have_count(0)
    expect(rows.get_by_role("link", name="2", exact=True)).to_be_visible()
    rows.get_by_role("link", name="1", exact=True).click()  # the failed one
    expect(visitor.heading).to_have_text("Jobs")
    expect(page.locator("td a.id")).to_have_count(1)
    assert ids(page) == {jobs["failed"]}

    page.go_back()
    rows.get_by_role("link", name=re.compile(r"^\d{4}-")).click()
    expect(page.locator("td a.id")).to_have_count(2)
    assert ids(page) == set(jobs.values())


def test_filters_are_in_the_address_and_a_wrong_one_is_refused_in_the_apis_words(
    visitor: Visitor, desk: Desk, jobs: dict[str, str]
) -> None:
    tenant = desk.stack.tenant_of(desk.key)
    page = visitor.open(f"#/usage?tenant={tenant}", key="operator_key")
    expect(page.locator("tbody tr")).to_have_count(1)
    expect(page.locator("tbody tr")).to_contain_text(tenant)
    page.get_by_label("Kind").select_option("embed")
    expect(page.get_by_text("Nothing was used.")).to_be_visible()
    page.get_by_label("From").fill("2026-11-02")
    page.get_by_label("From").press("Enter")
    page.get_by_label("To", exact=True).fill("2026-11-01")
    page.get_by_label("To", exact=True).press("Enter")

    expect(page.get_by_role("alert")).to_contain_text("is after to, which is 2026-11-01")
    assert page.url.endswith(f"?tenant={tenant}&kind=embed&from=2026-11-02&to=2026-11-01")


def test_what_is_not_known_is_not_told_as_nothing(visitor: Visitor) -> None:
    partly = row(unknown_cost_attempts=3)
    nothing = row(day="2026-11-28", unknown_cost_attempts=12, cost_usd=None, failed_cost_usd=None)
    budget = {"daily_usd": "5.000000", "spent_usd": "1.250000", "reserved_usd": "0.100000"}
    answer(visitor, "/v1/usage", listed(partly, nothing, budget=budget))
    page = visitor.open("#/usage", key="tenant_key")

    rows = page.locator("tbody tr")
    expect(rows.nth(0)).to_contain_text(re.compile(r"\$1\.25\s*without 3 of unknown cost"))
    expect(rows.nth(1).locator("td").last).to_have_text("unknown")
    totals = page.get_by_role("region", name="All that fits, 2026-11-01 to 2026-11-30")
    expect(totals).to_contain_text(re.compile(r"81,200 / 640.*1 min 30 sec.*\$1\.25", re.S))
    expect(totals).to_contain_text("also of rows that are not shown")
    told = page.get_by_role("region", name="Budget of today")
    expect(told).to_contain_text("$1.25 spent and $0.10 reserved of $5.00")


def test_usage_fits_a_narrow_dark_japanese_screen(browser: Browser, stack: Stack) -> None:
    with visiting(browser, stack, width=360, language="ja", colours="dark") as visitor:
        document = listed(row(unknown_cost_attempts=3), next="/v1/usage?cursor=x")
        answer(visitor, "/v1/usage", document)
        page = visitor.open("#/usage", key="operator_key")
        expect(page.get_by_text("費用不明の 3 件を除く")).to_be_visible()
        visitor.picture("usage-360-ja-dark")

        assert visitor.hindrances() == []
        assert not visitor.overflows()
