"""Answers that are none: cut off, in HTML, or never coming. The page says so, and asks again."""

from __future__ import annotations

import re
from typing import Any, Final

import pytest
from playwright.sync_api import Page, Route, expect

from tests.console.modules import run_module
from tests.console.visitor import Visitor
from tests.support.running import until

LIST: Final = re.compile(r"/v1/jobs(\?.*)?$")
UNREACHABLE: Final = "The server cannot be reached."
NO_ANSWERS: Final[dict[str, dict[str, Any]]] = {
    "another server's page": {"content_type": "text/html", "body": "<h1>Sign in to the Wi-Fi</h1>"},
    "a document cut off": {"content_type": "application/json", "body": '{"items": ['},
    "no document at all": {"status": 204},
}


@pytest.fixture(params=NO_ANSWERS)
def no_answer(request: pytest.FixtureRequest) -> dict[str, Any]:
    return NO_ANSWERS[request.param]


def refresh(page: Page) -> None:
    page.get_by_role("button", name="Refresh").click()


def test_what_is_no_document_is_told_and_what_was_known_stays(
    visitor: Visitor, no_answer: dict[str, Any]
) -> None:
    page = visitor.open("#/jobs", key=visitor.stack.tenant())
    expect(page.get_by_text("No job fits.")).to_be_visible()
    page.route(LIST, lambda route: route.fulfill(**no_answer))
    refresh(page)
    expect(page.get_by_text("Cannot be reached; shown as of")).to_be_visible()
    expect(page.get_by_text("No job fits.")).to_be_visible()

    page.reload()
    expect(page.get_by_role("alert").first).to_contain_text(UNREACHABLE)
    page.unroute(LIST)
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_text("No job fits.")).to_be_visible()


def test_what_is_gone_is_not_told_to_be_out_of_reach(visitor: Visitor) -> None:
    """The list's answer stands for all documents that were there, and are no more."""
    page = visitor.open("#/jobs", key=visitor.stack.tenant())
    expect(page.get_by_text("No job fits.")).to_be_visible()
    gone = {"code": "not_found", "detail": "There is nothing at this path."}
    page.route(LIST, lambda route: route.fulfill(status=404, json=gone))
    refresh(page)

    expect(page.get_by_text("It is not there any more; shown as of")).to_be_visible()
    expect(page.get_by_role("alert")).to_have_text(
        "It is not there any more. What was known stays."
    )


def test_a_failure_to_look_further_stays_with_the_list_that_it_was_of(visitor: Visitor) -> None:
    page = visitor.page
    first = {"items": [], "next": "/v1/jobs?after=a"}
    page.route(LIST, lambda route: route.fulfill(json=first))
    page.route(
        "**/v1/jobs?after=a", lambda route: route.fulfill(status=503, json={"detail": "No."})
    )
    visitor.open("#/jobs", key="tenant_key")
    page.get_by_role("button", name="Look further back").click()
    expect(page.get_by_role("alert")).to_contain_text("No.")
    page.get_by_label("State", exact=True).select_option("failed")

    expect(page.get_by_role("button", name="Look further back")).to_be_enabled()
    expect(page.get_by_role("alert")).to_have_count(0)


def test_nobody_is_signed_in_by_what_is_no_answer(
    visitor: Visitor, no_answer: dict[str, Any]
) -> None:
    page = visitor.open()
    page.route("**/v1/key", lambda route: route.fulfill(**no_answer))
    page.get_by_label("API key").fill("uk_some_key")
    page.get_by_role("button", name="Sign in").click()

    expect(page.get_by_role("alert")).to_contain_text(UNREACHABLE)
    assert page.evaluate("sessionStorage.length") == 0


def test_an_answer_that_never_comes_is_not_waited_for_without_end(visitor: Visitor) -> None:
    page = visitor.page
    page.clock.install()
    visitor.open("#/jobs", key=visitor.stack.tenant())
    expect(page.get_by_text("No job fits.")).to_be_visible()
    held: list[Route] = []
    page.route(LIST, lambda route: held.append(route))
    refresh(page)
    until(lambda: page.title() and held)
    page.clock.run_for(61_000)
    expect(page.get_by_text("Cannot be reached; shown as of")).to_be_visible()

    page.unroute(LIST)
    page.clock.run_for(30_000)
    expect(page.get_by_text("Cannot be reached")).to_have_count(0)
    visitor.complaints.clear()  # Chromium tells of what was let go


def test_no_wait_is_longer_than_a_browser_can_count() -> None:
    script = """
    globalThis.window = globalThis;
    const { pause } = await load("poll.js");
    tell(pause({ every: 3, unchanged: 0, failures: 1, retryAfter: 3_000_000 }) * 1000);
    """

    assert run_module(script) < 2**31
