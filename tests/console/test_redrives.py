"""Bulk redrives in the console: looked at first, started once, followed, stopped."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Locator, Page, Route, expect

from tests.console.buried import STILL_FAILING, bury
from tests.console.visitor import Visitor, visiting
from tests.support.running import Stack, until
from uketsuke.adapters.sql.terms import NOW

EVIL = "<img src=x onerror=alert(1)>"


@pytest.fixture
def tenant(stack: Stack) -> str:
    """A tenant of the test's own."""
    return stack.tenant_of(stack.tenant())


def plan(visitor: Visitor, query: str) -> Page:
    """Open the form with a filter, and have the dry run shown."""
    page = visitor.open(f"#/redrives/new?{query}", key="operator_key")
    expect(page.get_by_role("button", name="Start…")).to_be_disabled()
    page.get_by_role("button", name="Dry run").click()
    expect(page.get_by_text("Letters that fit", exact=True)).to_be_visible()
    return page


def asked_to_start(page: Page, *, reason: str) -> Locator:
    page.get_by_role("button", name="Start…").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Reason").fill(reason)
    return dialog


def started(stack: Stack, tenant: str, **changes: Any) -> str:
    order = {"filter": {"tenant": tenant}, "reason": EVIL, "canary": 1, **changes}
    with stack.api("operator_key") as operator:
        return str(operator.post("/v1/redrives", json=order).raise_for_status().json()["id"])


def never_arrives(route: Route) -> None:
    if route.request.method == "POST":
        route.fulfill(status=502)  # from something on the way
    else:
        route.fallback()


def is_never_heard_of(route: Route) -> None:
    if route.request.method == "POST":
        route.fetch()
    never_arrives(route)


def redrives_of(stack: Stack, reason: str) -> list[str]:
    sql = "SELECT id FROM redrives WHERE reason = ?1"
    return [row["id"] for row in stack.d1(sql, reason)]


def swept_until(stack: Stack, name: str, **wanted: object) -> None:
    """Let the sweep drive it on, each time with a minute's letters due, until it is so."""

    def look() -> bool:
        sql = f"UPDATE redrives SET paced_at = {NOW} - 60000 WHERE id = ?1"  # noqa: S608
        stack.d1(sql, name)
        stack.sweep()
        with stack.api("operator_key") as operator:
            shown = operator.get(f"/v1/redrives/{name}").json()
        return all(shown[key] == value for key, value in wanted.items())

    until(look, every=0.3)


def test_a_bulk_redrive_is_looked_at_started_once_and_followed_to_its_end(
    visitor: Visitor, tenant: str
) -> None:
    bury(visitor.stack, tenant, 3)
    bury(visitor.stack, tenant, 1, **{"class": "refused", "code": "provider_refused"})
    page = plan(visitor, f"tenant={tenant}")
    see = page.get_by_role("region", name="2. What it would touch")
    expect(see).to_contain_text(re.compile(r"Letters that fit4.*as they are3.*stay open1"))

    page.get_by_label("Class").select_option("unavailable")
    expect(see).to_contain_text("The filter was changed since")
    expect(page.get_by_role("button", name="Start…")).to_be_disabled()
    page.get_by_label("Class").select_option("")
    page.get_by_label("Canaries").fill("101")
    expect(page.get_by_text("from 0 to 100.", exact=False)).to_be_visible()
    expect(page.get_by_role("button", name="Start…")).to_be_disabled()
    page.get_by_label("Canaries").fill("1")
    dialog = asked_to_start(page, reason=f"once, for {tenant}")
    expect(dialog).to_contain_text("3 jobs start anew: first 1 as canaries")
    dialog.locator("form").evaluate("form => { form.requestSubmit(); form.requestSubmit(); }")

    expect(page).to_have_url(re.compile(r"#/redrives/rd_\w{26}$"))
    (name,) = redrives_of(visitor.stack, f"once, for {tenant}")
    expect(page.locator(".chip", has_text="Canary")).to_be_visible()
    swept_until(visitor.stack, name, state="running")
    expect(page.get_by_role("progressbar")).not_to_have_attribute("aria-valuenow", "0")
    swept_until(visitor.stack, name, state="done")
    page.get_by_role("button", name="Refresh").click()
    expect(
        page.get_by_text("Every letter was decided on, and every job has ended.")
    ).to_be_visible()
    expect(page.get_by_text("4 of 4 letters decided on")).to_be_visible()
    expect(page.get_by_text("1 As they are they would fail again")).to_be_visible()
    expect(page.get_by_role("table").get_by_role("link", name="job_…")).to_have_count(3)


def test_it_says_why_it_stopped_by_itself_and_leads_to_what_is_left(
    visitor: Visitor, tenant: str
) -> None:
    bury(visitor.stack, tenant, 2, **STILL_FAILING)
    name = started(visitor.stack, tenant)
    swept_until(visitor.stack, name, state="stopped", failed=1)
    page = visitor.open(f"#/redrives/{name}", key="operator_key")

    expect(page.get_by_text("most of the first ones failed again as before")).to_be_visible()
    expect(page.get_by_text("1 of the first 1 failed again")).to_be_visible()
    expect(page.get_by_text("The cause is not mended")).to_be_visible()
    expect(page.get_by_text(EVIL)).to_be_visible()
    assert page.locator("img").count() == 0
    page.get_by_role("link", name="Another of what is left").click()
    expect(page.get_by_label("Tenant")).to_have_value(tenant)


def test_it_is_stopped_for_a_reason_and_a_late_stop_is_refused(
    visitor: Visitor, tenant: str
) -> None:
    bury(visitor.stack, tenant, 1)
    stopped, done = started(visitor.stack, tenant), started(visitor.stack, f"{tenant}-nobody")
    page = visitor.open(f"#/redrives/{stopped}", key="operator_key")
    page.get_by_role("button", name="Stop…").click()
    page.get_by_role("dialog").get_by_label("Reason").fill(EVIL)
    page.get_by_role("button", name="Stop it").click()
    expect(page.get_by_text("A person stopped it")).to_be_visible()
    expect(page.get_by_text("Nothing more is started.")).to_be_visible()

    # What the page shows is of before its end.
    with visitor.stack.api("operator_key") as operator:
        before = {**operator.get(f"/v1/redrives/{done}").json(), "state": "running"}
    page.route(f"**/v1/redrives/{done}", lambda route: route.fulfill(json=before))
    visitor.open(f"#/redrives/{done}")
    page.get_by_role("button", name="Stop…").click()
    page.get_by_role("dialog").get_by_label("Reason").fill("too late")
    page.get_by_role("button", name="Stop it").click()
    expect(page.get_by_role("alert")).to_contain_text("was done already: there is nothing to stop")


@pytest.mark.parametrize("way", [never_arrives, is_never_heard_of])
def test_after_a_lost_answer_the_very_same_is_asked_for_again_and_starts_once(
    visitor: Visitor, tenant: str, way: Callable[[Route], None]
) -> None:
    bury(visitor.stack, tenant, 1)
    page = plan(visitor, f"tenant={tenant}")
    page.route("**/v1/redrives", way)
    dialog = asked_to_start(page, reason=f"as it was with {tenant}")
    dialog.get_by_role("button", name="Start").click()
    expect(dialog).to_contain_text("nobody knows whether it was started")
    page.unroute("**/v1/redrives")
    page.keyboard.press("Escape")
    page.get_by_label("Canaries").fill("7")
    page.get_by_role("button", name="Start…").click()
    expect(dialog.get_by_role("button", name="Start", exact=True)).to_have_count(0)
    expect(dialog.get_by_label("Reason")).to_have_count(0)
    expect(dialog).to_contain_text(f"as it was with {tenant}")
    expect(dialog).to_contain_text("first 3 as canaries")
    dialog.get_by_role("button", name="Ask again").click()

    expect(page).to_have_url(re.compile(r"#/redrives/rd_"))
    (name,) = redrives_of(visitor.stack, f"as it was with {tenant}")
    assert page.url.endswith(name)


def test_one_that_goes_on_already_is_named_before_another_is_started(
    visitor: Visitor, tenant: str
) -> None:
    """Whoever reloads after a lost answer, or has a colleague, would not know of it."""
    bury(visitor.stack, tenant, 1)
    page = plan(visitor, f"tenant={tenant}")
    first = started(visitor.stack, tenant)
    dialog = asked_to_start(page, reason=f"second, for {tenant}")
    dialog.get_by_role("button", name="Start", exact=True).click()

    expect(dialog).to_contain_text("One for the same letters goes on already.")
    expect(dialog.get_by_title(first)).to_have_attribute("href", f"#/redrives/{first}")
    assert redrives_of(visitor.stack, f"second, for {tenant}") == []
    dialog.get_by_role("button", name="Start another all the same").click()
    expect(page).to_have_url(re.compile(r"#/redrives/rd_\w{26}$"))
    (second,) = redrives_of(visitor.stack, f"second, for {tenant}")
    assert page.url.endswith(second)


def test_the_pages_of_bulk_redrives_are_narrow_and_japanese_too(
    browser: Browser, stack: Stack, tenant: str
) -> None:
    bury(stack, tenant, 2)
    name = started(stack, tenant, reason="長" * 500)
    fingerprint = quote(f"summarize:{EVIL}:{'x' * 300}")
    with visiting(browser, stack, width=360, language="ja", colours="dark") as visitor:
        page = visitor.open(f"#/redrives/{name}", key="operator_key")
        expect(page.get_by_role("progressbar")).to_be_visible()
        assert (visitor.hindrances(), visitor.overflows()) == ([], False)
        visitor.picture("redrives-one-ja-360-dark")
        visitor.open("#/redrives")
        expect(page.get_by_text("長" * 500)).to_be_visible()
        assert (visitor.hindrances(), visitor.overflows()) == ([], False)
        visitor.open(f"#/redrives/new?fingerprint={fingerprint}&before=2026-11-01T00:00:00Z")
        expect(page.get_by_label("失敗日時の上限")).to_have_value("2026-11-01T09:00")
        page.get_by_role("button", name="試算").click()
        expect(page.get_by_text("開始できません")).to_be_visible()
        assert (visitor.hindrances(), visitor.overflows()) == ([], False)
        visitor.picture("redrives-new-ja-360-dark")
