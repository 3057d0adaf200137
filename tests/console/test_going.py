"""Going from page to page: where one arrives, and that nobody is fetched back."""

from __future__ import annotations

from playwright.sync_api import Locator, Page, Route, expect

from tests.console.form import button, opened
from tests.console.visitor import Visitor
from tests.support.jobs import submit
from tests.support.running import Stack, until

SCHEDULE = {
    "cron": "0 7 * * 1",
    "timezone": "UTC",
    "kind": "summarize",
    "input": {"text": "The desk takes each request once."},
    "overlap": "allow",
}
TYPED = "What somebody is writing meanwhile."


def with_schedule(stack: Stack, name: str) -> str:
    """Return the key of a tenant that has one."""
    key = stack.tenant()
    with stack.api(key) as api:
        api.put(f"/v1/schedules/{name}", json=SCHEDULE).raise_for_status()
    return key


def held(page: Page, path: str, method: str) -> list[Route]:
    """Hold the answers to a method at a path back; they come when the test says."""
    routes: list[Route] = []

    def hold(route: Route) -> None:
        routes.append(route) if route.request.method == method else route.fallback()

    page.route(path, hold)
    return routes


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name).click()


def writing(page: Page) -> Locator:
    """Go to the form that asks for work, and write."""
    page.get_by_role("link", name="Submit").click()
    text = page.get_by_label("Text", exact=True)
    text.fill(TYPED)
    return text


def let_go(page: Page, routes: list[Route], path: str) -> None:
    """Let the answer come, and what follows on it happen."""
    with page.expect_response(path) as came:
        routes[0].continue_()
    came.value.finished()
    page.evaluate("fetch('/console/icon.svg').then((after) => after.text())")
    page.evaluate("new Promise(requestAnimationFrame)")


def test_a_link_and_a_form_lead_to_the_beginning_of_their_page(visitor: Visitor) -> None:
    key = visitor.stack.tenant()
    with visitor.stack.api(key) as api:
        for _ in range(4):
            submit(api)
    page = visitor.open("#/jobs", key=key)
    page.set_viewport_size({"width": 1280, "height": 400})
    expect(visitor.heading).not_to_be_focused()  # the tab was just opened
    last = page.locator("table a.id").last
    last.scroll_into_view_if_needed()
    last.press("Enter")
    expect(page.get_by_role("region", name="Times")).to_be_visible()
    expect(visitor.heading).to_be_focused()
    expect(visitor.heading).to_be_in_viewport()

    opened(visitor, kind="summarize", key=key)
    page.get_by_label("Text", exact=True).fill(TYPED)
    button(page).press("Enter")
    expect(page.get_by_role("region", name="Times")).to_be_visible()
    expect(visitor.heading).to_have_text("Summary")
    expect(visitor.heading).to_be_focused()


def test_a_schedule_that_is_saved_late_fetches_nobody_back(visitor: Visitor) -> None:
    key = with_schedule(visitor.stack, "late")
    page = visitor.open("#/schedules/late/edit", key=key)
    path = "**/v1/schedules/late"
    routes = held(page, path, "PUT")
    page.get_by_label("Cron", exact=True).fill("0 8 * * 1")
    press(page, "Save")
    until(lambda: page.title() and routes)
    text = writing(page)
    let_go(page, routes, path)

    expect(text).to_have_value(TYPED)
    assert "#/submit" in page.evaluate("location.hash")


def test_a_job_that_is_started_late_fetches_nobody_back(visitor: Visitor) -> None:
    key = with_schedule(visitor.stack, "late")
    page = visitor.open("#/schedules/late", key=key)
    routes = held(page, "**/trigger", "POST")
    press(page, "Start now")
    page.get_by_role("dialog").get_by_role("button", name="Start now").click()
    until(lambda: page.title() and routes)
    page.keyboard.press("Escape")
    text = writing(page)
    let_go(page, routes, "**/trigger")

    expect(text).to_have_value(TYPED)
    assert "#/submit" in page.evaluate("location.hash")


def test_a_schedule_is_started_where_there_is_no_tls(visitor: Visitor) -> None:
    page = visitor.page
    page.add_init_script("delete Crypto.prototype.randomUUID")  # as browsers have it there
    key = with_schedule(visitor.stack, "plain")
    visitor.open("#/schedules/plain", key=key)
    press(page, "Start now")
    page.get_by_role("dialog").get_by_role("button", name="Start now").click()

    expect(visitor.heading).to_have_text("Summary")
