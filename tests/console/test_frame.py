"""The frame around the console's pages: how it is served, the way in, the menu, the search."""

from __future__ import annotations

import base64
import hashlib
import re

import httpx
import pytest
from playwright.sync_api import Browser, expect

from tests.console.browser import ROOT
from tests.console.visitor import Visitor, visiting
from tests.support.running import Stack
from uketsuke_local import keys

INDEX = ROOT / "assets" / "console" / "index.html"


@pytest.fixture
def served(stack: Stack) -> httpx.Response:
    with stack.api(None) as nobody:
        return nobody.get("/console/")


def test_the_policy_lets_in_our_own_files_and_the_import_map_alone(served: httpx.Response) -> None:
    import_map = re.search(r'<script type="importmap">(.*?)</script>', INDEX.read_text(), re.DOTALL)
    assert import_map is not None
    digest = base64.b64encode(hashlib.sha256(import_map[1].encode()).digest()).decode()
    policy = served.headers["content-security-policy"]

    assert f"script-src 'self' 'sha256-{digest}';" in policy
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy


def test_the_console_is_served_without_the_worker_and_revalidated(served: httpx.Response) -> None:
    assert served.status_code == 200
    assert served.headers["etag"]
    assert "x-request-id" not in served.headers  # which the Worker gives to every answer


def test_a_key_that_is_not_taken_is_not_kept(visitor: Visitor) -> None:
    page = visitor.open()
    page.get_by_label("API key").fill("uk_nobody_knows-this")
    page.get_by_role("button", name="Sign in").click()

    expect(page.get_by_role("alert")).to_contain_text("This key is not taken")
    assert page.evaluate("sessionStorage.length") == 0


def test_a_key_is_kept_in_its_tab_and_gets_into_no_address(visitor: Visitor) -> None:
    key = visitor.stack.ready["tenant_key"]
    page = visitor.open("#/jobs")
    page.get_by_label("API key").fill(key)
    page.keyboard.press("Enter")
    expect(visitor.heading).to_have_text("Jobs")
    page.reload()
    expect(visitor.heading).to_have_text("Jobs")

    assert key not in page.evaluate(
        "JSON.stringify(localStorage) + document.cookie + location.href"
    )
    assert not [request.url for request in visitor.requests if key in request.url]


@pytest.mark.parametrize("address", ["https://a.test/", "//a.test/", "/\\a.test/", "data:,x"])
def test_the_key_is_sent_to_no_other_origin(visitor: Visitor, address: str) -> None:
    page = visitor.open("#/jobs", key="tenant_key")
    ask = """address => import("/console/api.js").then(({get}) => get(address))
      .then(() => "answered", (error) => error.message)"""

    assert page.evaluate(ask, address) == "a path is wanted"
    assert not [request.url for request in visitor.requests if "a.test" in request.url]


def test_signing_out_forgets_the_key_and_what_was_shown(visitor: Visitor) -> None:
    page = visitor.open("#/jobs", key="tenant_key")
    expect(visitor.heading).to_have_text("Jobs")
    page.get_by_role("button", name="Sign out").click()

    expect(visitor.heading).to_have_text("Sign in")
    assert page.evaluate("sessionStorage.length") == 0


def test_a_page_whose_files_do_not_come_says_so_and_is_asked_for_again(visitor: Visitor) -> None:
    page = visitor.open("#/jobs", key="tenant_key")
    expect(visitor.heading).to_have_text("Jobs")
    page.route("**/views/usage.js", lambda route: route.fulfill(status=503))
    page.get_by_role("link", name="Usage and cost").click()
    expect(visitor.heading).to_have_text("This page could not be loaded")
    expect(page.get_by_role("alert")).to_contain_text("The server cannot be reached.")
    page.get_by_role("link", name="Jobs").click()  # the menu is there, and the other pages
    expect(visitor.heading).to_have_text("Jobs")
    page.go_back()
    expect(visitor.heading).to_have_text("This page could not be loaded")
    page.unroute("**/views/usage.js")
    page.get_by_role("button", name="Try again").click()

    expect(visitor.heading).to_have_text("Usage and cost")


@pytest.mark.parametrize("clipboard", ["undefined", "{ writeText: () => Promise.reject() }"])
def test_who_cannot_copy_is_told_to_do_it_by_hand(
    visitor: Visitor, stack: Stack, clipboard: str
) -> None:
    with stack.api("tenant_key") as api:
        asked = {"kind": "summarize", "input": {"text": "The desk takes each request once."}}
        job = api.post("/v1/jobs", json=asked).json()["id"]
    page = visitor.open(f"#/jobs/{job}", key="tenant_key")
    page.evaluate(f"Object.defineProperty(navigator, 'clipboard', {{ value: {clipboard} }})")
    copy = page.get_by_role("button", name="Copy").first
    copy.click()

    expect(page.get_by_role("button", name="Not copied: select and copy by hand")).to_be_visible()


def test_an_unknown_address_says_so_and_keeps_the_menu(visitor: Visitor) -> None:
    page = visitor.open("#/nowhere/%E0%A4%A", key="tenant_key")

    expect(visitor.heading).to_have_text("There is no such page")
    expect(page.get_by_role("navigation", name="Pages")).to_be_visible()


def test_the_search_wants_an_id(visitor: Visitor) -> None:
    page = visitor.open("#/jobs", key="tenant_key")
    page.get_by_role("searchbox", name="Find by id").fill("<script>")
    page.keyboard.press("Enter")

    expect(page.get_by_role("alert")).to_contain_text("That is no id")


def test_the_language_is_the_browsers_and_can_be_changed(browser: Browser, stack: Stack) -> None:
    with visiting(browser, stack, language="ja") as visitor:
        page = visitor.open()
        expect(visitor.heading).to_have_text("サインイン")
        assert page.locator("html").get_attribute("lang") == "ja"
        page.get_by_label("言語").select_option("en")
        expect(visitor.heading).to_have_text("Sign in")
        page.reload()
        expect(visitor.heading).to_have_text("Sign in")


def test_everything_can_be_reached_by_keyboard(visitor: Visitor) -> None:
    page = visitor.open("#/jobs", key="tenant_key")
    expect(visitor.heading).to_have_text("Jobs")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")

    expect(visitor.heading).to_be_focused()


@pytest.mark.parametrize(
    ("address", "told", "left"),
    [
        ("#/jobs?stat=failed&kind=embed", "does not know, so it is left out: stat", "?kind=embed"),
        ("#/jobs?state=failed&state=running", "only the first counts: state", "?state=failed"),
        ("#/alerts?__proto__=1&%3Cimg%3E=2", "left out: __proto__, <img>", ""),
    ],
)
def test_what_an_address_asks_for_in_vain_is_said_and_can_be_taken_out(
    visitor: Visitor, address: str, told: str, left: str
) -> None:
    page = visitor.open(address, key="operator_key")
    notice = page.get_by_role("status").filter(has=page.get_by_role("button"))

    expect(notice).to_contain_text(told)
    notice.get_by_role("button", name="Take it out of the address").click()
    expect(notice).to_have_count(0)
    assert page.url.endswith(address.partition("?")[0] + left)


def test_a_page_or_a_console_that_cannot_be_fetched_says_so_and_comes_again(
    visitor: Visitor,
) -> None:
    page = visitor.page
    page.route("**/views/audit.js", lambda route: route.abort())
    visitor.open("#/jobs", key="operator_key")
    page.get_by_role("link", name="Audit").click()
    expect(visitor.heading).to_have_text("This page could not be loaded")
    page.unroute("**/views/audit.js")
    page.get_by_role("button", name="Try again").click()
    expect(visitor.heading).to_have_text("Audit")

    page.route("**/parts/live.js", lambda route: route.abort())
    page.reload()
    expect(page.get_by_role("alert")).to_contain_text("The console could not be loaded.")
    expect(page.get_by_role("alert")).to_contain_text("コンソールを読み込めませんでした。")
    visitor.complaints.clear()  # of the files that were cut off


def test_a_key_of_which_nobody_can_say_whose_it_is_can_be_left(visitor: Visitor) -> None:
    problem = {"code": "forbidden", "detail": "Use a key with a scope."}
    visitor.page.route("**/v1/key", lambda route: route.fulfill(status=403, json=problem))
    page = visitor.open(key="operator_key")
    expect(page.get_by_role("alert")).to_contain_text("Use a key with a scope.")
    page.get_by_role("button", name="Sign out").click()

    expect(visitor.heading).to_have_text("Sign in")
    assert page.evaluate("sessionStorage.length") == 0


def test_a_key_that_may_write_and_not_read_is_led_to_nothing_that_is_refused(
    visitor: Visitor,
) -> None:
    stack = visitor.stack
    tenant, secret = stack.tenant_of(stack.tenant()), keys.load_or_mint(stack.state).hash_secret
    key = keys.mint_key()
    (_, row) = keys.tenant_statements(tenant, key, hash_secret=secret)
    stack.post("/d1", {"batch": [row]})
    stack.d1("UPDATE api_keys SET scopes = 'jobs:write' WHERE id = ?1", key.split("_")[1])
    page = visitor.open(key=key)

    expect(visitor.heading).to_have_text("Submit a job")
    menu = page.get_by_role("navigation", name="Pages")
    assert menu.get_by_role("link").all_inner_texts() == ["Submit"]
    for place in ("#/jobs", "#/jobs/job_1", "#/schedules/-", "#/audit", "#/usage"):
        page.goto(page.url.partition("#")[0] + place)
        expect(visitor.heading).to_have_text("Not with this key")
    expect(page.get_by_text("This page needs a key that may read.")).to_be_visible()
    refused = [request for request in visitor.requests if "/v1/jobs" in request.url]
    assert refused == []


def test_paper_is_light_and_bears_no_buttons(browser: Browser, stack: Stack) -> None:
    with visiting(browser, stack, colours="dark") as visitor:
        page = visitor.open("#/audit", key="operator_key")
        page.get_by_label("Colours").select_option("dark")
        page.emulate_media(media="print")

        expect(page.get_by_role("navigation", name="Pages")).to_be_hidden()
        expect(page.get_by_role("button")).to_have_count(0)
        ink = page.locator("h1").evaluate("heading => getComputedStyle(heading).color")
        assert ink == "rgb(29, 35, 40)"
