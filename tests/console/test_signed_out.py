"""The end of a session: whoever did not end it is told why."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.console.visitor import Visitor

ENDED = "The key that was in use is not taken any more"


def test_a_key_that_is_revoked_under_a_page_leads_to_the_way_in_which_says_so(
    visitor: Visitor,
) -> None:
    page = visitor.open("#/jobs", key=visitor.stack.tenant())
    expect(page.get_by_text("No job fits.")).to_be_visible()
    refused = '{"code": "unauthenticated", "detail": "Send a valid API key."}'
    kind = "application/problem+json"
    page.route("**/v1/**", lambda route: route.fulfill(status=401, body=refused, content_type=kind))
    page.get_by_role("button", name="Refresh").click()

    expect(visitor.heading).to_have_text("Sign in")
    expect(page.get_by_role("alert")).to_contain_text(ENDED)
    expect(page.get_by_label("API key")).to_be_focused()
    page.get_by_label("Language").select_option("ja")
    expect(page.get_by_role("alert")).to_contain_text("使用中のキーが無効になったため")
    assert page.evaluate("sessionStorage.length") == 0


def test_who_signs_out_is_told_nothing_more(visitor: Visitor) -> None:
    page = visitor.open("#/jobs", key="tenant_key")
    page.get_by_role("button", name="Sign out").click()

    expect(visitor.heading).to_have_text("Sign in")
    expect(page.get_by_role("alert")).to_have_count(0)
