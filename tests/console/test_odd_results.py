"""Results as a model may well give them: odd ones take nothing with them, long ones are cut off."""

from __future__ import annotations

from typing import Any, Final

import pytest
from playwright.sync_api import Page, expect

from tests.console.visitor import Visitor
from tests.support.jobs import ended, submit

LONG: Final = "ab " * 200_000
MOST: Final = 100_000
BROKEN: Final[list[Any]] = [
    {"text": "said", "segments": [None], "duration_seconds": "?", "language": "en"},
    {"markdown": "# Told", "sources": [None]},
]


@pytest.fixture
def job(visitor: Visitor) -> tuple[str, str]:
    """A job that has succeeded, and the key of its tenant."""
    key = visitor.stack.tenant()
    with visitor.stack.api(key) as api:
        return ended(api, submit(api))["id"], key


def shown(visitor: Visitor, job: tuple[str, str], result: Any) -> Page:
    """Open the page of the job, with that result."""
    page, (name, key) = visitor.page, job
    page.unroute("**/result")
    page.route("**/result", lambda route: route.fulfill(json=result))
    visitor.open("#/jobs", key=key)
    visitor.open(f"#/jobs/{name}")
    expect(page.get_by_role("button", name="Download .json")).to_be_visible()
    return page


def test_a_language_that_is_none_is_shown_as_it_is(visitor: Visitor, job: tuple[str, str]) -> None:
    page = shown(visitor, job, {"summary": "In short.", "language": "en-latn-latn"})

    expect(page.get_by_text("In short.")).to_be_visible()
    expect(page.get_by_text("Language: en-latn-latn")).to_be_visible()


@pytest.mark.parametrize("result", BROKEN)
def test_a_result_that_cannot_be_shown_leaves_the_rest_of_the_page(
    visitor: Visitor, job: tuple[str, str], result: Any
) -> None:
    page = shown(visitor, job, result)

    expect(page.get_by_role("region", name="Result").get_by_role("alert")).to_be_visible()
    expect(page.get_by_role("region", name="What happened")).to_be_visible()
    visitor.complaints.clear()  # it is told there, too


@pytest.mark.parametrize(
    "result",
    [
        {"summary": LONG, "language": "en"},
        {"markdown": LONG, "sources": []},
        {"text": LONG, "segments": [], "duration_seconds": 1, "language": "en"},
    ],
    ids=["summary", "report", "transcript"],
)
def test_a_long_text_is_shown_as_far_as_a_browser_can_bear(
    visitor: Visitor, job: tuple[str, str], result: Any
) -> None:
    page = shown(visitor, job, result)

    expect(page.get_by_text("Only the first 100,000 characters are shown.")).to_be_visible()
    assert len(page.locator(".result").text_content() or "") < MOST + 1000


def test_what_the_browser_does_not_let_be_copied_is_told(
    visitor: Visitor, job: tuple[str, str]
) -> None:
    page = visitor.page
    # As browsers have it where there is no TLS.
    page.add_init_script("Object.defineProperty(navigator, 'clipboard', {value: undefined})")
    shown(visitor, job, {"summary": "In short.", "language": "en"})
    page.get_by_role("button", name="Copy", exact=True).first.click()

    expect(page.get_by_text("Not copied: select and copy by hand")).to_be_visible()
