"""The list of jobs: its filters in the URL, its pages, its counts, what a row tells."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from urllib.parse import parse_qs

import pytest
from playwright.sync_api import Browser, Locator, Page, Route, expect

from tests.acceptance.runs import Desk, slow
from tests.console.visitor import Visitor, visiting
from tests.support.running import Stack, until
from uketsuke.domain.ids import time_sorted_id

SHORT = "The desk takes each request once."
MANY = 53  # a page and a little more
RUN_KEY = "<b>nightly</b> & 受付"


@pytest.fixture(scope="module")
def desk(stack: Stack) -> Iterator[Desk]:
    """A tenant with jobs in four states; most were accepted two days ago."""
    with Desk.open(stack) as opened:
        keep_old(opened)
        kept = {
            "running": opened.start(slow(60)),
            "succeeded": ask(opened, run_key=RUN_KEY),
            "failed": ask(opened, {"status": 422}),
            "retrying": ask(opened, {"status": 503, "retry_after": 600}),
        }
        for state, job in kept.items():
            until(partial(stands, opened, job, state))
        yield opened
        for state in ("retrying", "running"):
            opened.api.post(f"/v1/jobs/{kept[state]}/cancel").raise_for_status()
        forget_old(opened)


def ask(desk: Desk, *faults: dict[str, object], **document: object) -> str:
    answer = desk.post(*faults, text=SHORT, **document)
    assert answer.status_code == 202, answer.text
    return str(answer.json()["id"])


def stands(desk: Desk, job: str, state: str) -> bool:
    return bool(desk.shown(job)["state"] == state)


def keep_old(desk: Desk) -> None:
    """Keep jobs that were canceled two days ago, past the API, which takes none of old times."""
    now = int(time.time() * 1000)
    old = now - 2 * 86_400_000
    desk.stack.d1(
        """
        WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?4)
        INSERT INTO jobs (tenant_id, id, request_key, kind, engine, origin, state, params,
                          metadata, input, max_attempts, created_at, due_at, deadline_at,
                          finished_at, expires_at)
        SELECT ?1, ?2 || printf('%04d', n), 'old:' || n, 'summarize', 'queue', 'api', 'canceled',
               '{}', '{}', '{"form": "text", "bytes": 1}', 5, ?3, ?3, ?3, ?3, ?5
          FROM numbers
        """,
        desk.stack.tenant_of(desk.key),
        time_sorted_id("job", now_ms=old, entropy=bytes(10))[:-4],
        old,
        MANY,
        now + 86_400_000,
    )


def forget_old(desk: Desk) -> None:
    tenant = desk.stack.tenant_of(desk.key)
    desk.stack.d1("DELETE FROM jobs WHERE tenant_id = ?1 AND state = 'canceled'", tenant)


def rows(page: Page) -> Locator:
    return page.locator("tbody tr")


def count_of(page: Page, state: str) -> Locator:
    return page.get_by_role("navigation", name="Jobs by state").get_by_role("link", name=state)


def asked(visitor: Visitor, path: str) -> int:
    return sum(path in request.url for request in visitor.requests)


def in_url(page: Page, name: str) -> str | None:
    found = parse_qs(page.url.partition("?")[2]).get(name)
    return found[0] if found else None


def test_a_row_tells_what_its_state_makes_one_ask(visitor: Visitor, desk: Desk) -> None:
    page = visitor.open("#/jobs", key=desk.key)

    running = rows(page).filter(has_text="Running")
    expect(running.get_by_role("progressbar", name="Progress")).to_be_visible()
    expect(running).to_contain_text("0 of 4")
    expect(rows(page).filter(has_text="Retrying")).to_contain_text(re.compile(r"next in \d+ min"))
    expect(rows(page).filter(has_text="Failed")).to_contain_text("Invalid input")


def test_filters_outlive_a_reload_and_the_way_back(visitor: Visitor, desk: Desk) -> None:
    page = visitor.open("#/jobs", key=desk.key)
    page.get_by_label("Run key").fill(RUN_KEY)
    page.keyboard.press("Enter")
    expect(rows(page)).to_have_count(1)
    page.get_by_label("State", exact=True).select_option("failed")
    expect(page.get_by_text("No job fits.")).to_be_visible()
    page.get_by_label("State", exact=True).select_option("succeeded")
    expect(rows(page)).to_have_count(1)
    page.reload()
    expect(rows(page)).to_have_count(1)
    expect(page.get_by_label("Run key")).to_have_value(RUN_KEY)
    rows(page).get_by_role("link").click()
    expect(visitor.heading).to_have_text("Summary")
    page.get_by_role("link", name=RUN_KEY).click()
    expect(page.get_by_label("Run key")).to_have_value(RUN_KEY)
    page.go_back()
    expect(visitor.heading).to_have_text("Summary")
    page.go_back()

    expect(rows(page)).to_have_count(1)
    expect(page.get_by_label("State", exact=True)).to_have_value("succeeded")
    page.go_forward()
    expect(visitor.heading).to_have_text("Summary")


def test_jobs_that_wait_are_looked_at_by_whether_they_are_due(visitor: Visitor, desk: Desk) -> None:
    page = visitor.open("#/jobs?due=false", key=desk.key)
    expect(rows(page)).to_have_count(1)
    expect(rows(page)).to_contain_text("Retrying")
    expect(page.get_by_text("The figures count jobs that are due and others")).to_be_visible()
    page.get_by_label("Waiting").select_option("due")
    expect(page.get_by_text("No job fits.")).to_be_visible()

    count_of(page, "Succeeded").click()  # such a job waits for nothing
    expect(rows(page)).to_have_count(1)
    expect(page.get_by_label("Waiting")).to_have_count(0)
    expect(page.get_by_text("The figures count jobs that are due and others")).to_have_count(0)


def test_what_is_being_typed_stays_while_the_list_is_drawn_anew(visitor: Visitor) -> None:
    with Desk.open(visitor.stack) as own:
        page = visitor.open("#/jobs", key=own.key)
        field = page.get_by_label("Run key")
        field.press_sequentially("half a wo")
        fresh = ask(own)
        page.get_by_role("button", name="Refresh").evaluate("button => button.click()")
        expect(rows(page).locator(f"[title='{fresh}']")).to_be_visible()

        expect(field).to_have_value("half a wo")


def test_times_are_the_readers_and_utc_in_the_address(visitor: Visitor, desk: Desk) -> None:
    page = visitor.open("#/jobs", key=desk.key)
    page.get_by_text("Times").click()
    expect(page.get_by_text("In your own time zone, Asia/Tokyo.")).to_be_visible()
    accepted = page.get_by_role("group", name="Accepted")
    accepted.get_by_label("From").fill("2020-02-29T09:30:15")
    accepted.get_by_label("To, not included").fill("2020-03-01T08:59:59")

    expect(page.get_by_text("No job fits.")).to_be_visible()
    assert in_url(page, "created_after") == "2020-02-29T00:30:15.000Z"
    assert in_url(page, "created_before") == "2020-02-29T23:59:59.000Z"
    page.reload()
    expect(accepted.get_by_label("From")).to_have_value("2020-02-29T09:30:15")
    page.get_by_role("button", name="Clear the filters").click()
    expect(rows(page)).to_have_count(50)
    assert in_url(page, "created_after") is None


def test_the_last_day_is_one_press_away(visitor: Visitor, desk: Desk) -> None:
    page = visitor.open("#/jobs?created_before=2020-01-01T00%3A00%3A00Z", key=desk.key)
    accepted = page.get_by_role("group", name="Accepted")
    accepted.get_by_role("button", name="Last day").click()

    expect(rows(page)).to_have_count(4)
    assert in_url(page, "created_before") is None
    since = datetime.fromisoformat(str(in_url(page, "created_after")))
    assert timedelta(hours=23) < datetime.now(UTC) - since < timedelta(hours=25)
    page.get_by_role("group", name="Ended").get_by_role("button", name="Last hour").click()
    expect(rows(page)).to_have_count(2)


def test_a_time_that_is_none_is_refused_in_the_apis_words(visitor: Visitor, desk: Desk) -> None:
    page = visitor.open("#/jobs?created_after=yesterday", key=desk.key)

    expect(page.get_by_role("alert")).to_contain_text("created_after")


def test_older_pages_follow_and_the_newest_is_a_press_away(visitor: Visitor, desk: Desk) -> None:
    page = visitor.open("#/jobs?state=canceled", key=desk.key)
    expect(rows(page)).to_have_count(50)
    page.get_by_role("button", name="Show more").click()
    expect(rows(page)).to_have_count(MANY)
    expect(page.get_by_role("button", name="Show more")).to_have_count(0)
    ids = page.locator("tbody .id").evaluate_all("links => links.map(link => link.title)")
    page.get_by_role("button", name="Back to the newest").click()

    expect(rows(page)).to_have_count(50)
    assert len(set(ids)) == MANY
    assert ids == sorted(ids, reverse=True)


def test_empty_pages_are_looked_through(visitor: Visitor, desk: Desk) -> None:
    page = visitor.page

    def empty(route: Route) -> None:
        if "cursor=" in route.request.url:
            number = int(in_url_of(route.request.url) or 0)
            next_page = f"/v1/jobs?cursor={number + 1}" if number < 3 else "/v1/jobs?state=failed"
        else:
            next_page = "/v1/jobs?cursor=1"
        route.fulfill(json={"items": [], "next": next_page})

    page.route(re.compile(r"/v1/jobs(\?cursor=.*)?$"), empty)
    visitor.open("#/jobs", key=desk.key)
    page.get_by_role("button", name="Look further back").click()

    expect(rows(page)).to_have_count(1)
    expect(rows(page)).to_contain_text("Failed")


def in_url_of(url: str) -> str | None:
    return parse_qs(url.partition("?")[2]).get("cursor", [None])[0]


def test_the_counts_lead_to_their_lists(visitor: Visitor, desk: Desk) -> None:
    page = visitor.open(f"#/jobs?run_key={RUN_KEY.replace('&', '%26')}", key=desk.key)
    expect(count_of(page, "Succeeded")).to_have_text(re.compile(r"Succeeded\s*1"))
    expect(count_of(page, "Canceled")).to_have_text(re.compile(r"Canceled\s*0"))
    page.get_by_role("button", name="Clear the filters").click()
    expect(count_of(page, "Canceled")).to_have_text(re.compile(rf"Canceled\s*{MANY}"))
    count_of(page, "Failed").click()

    expect(rows(page)).to_have_count(1)
    expect(page.get_by_label("State", exact=True)).to_have_value("failed")
    count_of(page, "Failed").click()
    expect(page.get_by_label("State", exact=True)).to_have_value("")


def test_a_count_that_is_capped_says_so(visitor: Visitor, desk: Desk) -> None:
    many = {"items": [{"state": "failed", "count": 1000, "capped": True}]}
    visitor.page.route("**/v1/jobs/counts", lambda route: route.fulfill(json=many))
    page = visitor.open("#/jobs", key=desk.key)

    expect(count_of(page, "Failed")).to_contain_text("1,000+")


def test_counting_is_seldom(visitor: Visitor, desk: Desk) -> None:
    page = visitor.page
    page.clock.install()
    visitor.open("#/jobs?state=failed", key=desk.key)
    expect(count_of(page, "Failed")).to_be_visible()
    expect(rows(page)).to_have_count(1)
    page.clock.fast_forward("00:10")
    until(lambda: page.title() and asked(visitor, "/v1/jobs?state=failed") > 1)
    soon = asked(visitor, "/v1/jobs/counts")
    page.clock.fast_forward("00:10")
    until(lambda: page.title() and asked(visitor, "/v1/jobs/counts") > 1)

    assert soon == 1
    assert asked(visitor, "/v1/jobs/counts") == 2


def test_an_operator_chooses_a_tenant(visitor: Visitor, desk: Desk) -> None:
    tenant = desk.stack.tenant_of(desk.key)
    page = visitor.open("#/jobs", key="operator_key")
    page.get_by_label("Tenant").fill(tenant)
    page.keyboard.press("Enter")
    page.get_by_label("State", exact=True).select_option("succeeded")

    expect(rows(page)).to_have_count(1)
    expect(rows(page)).to_contain_text(tenant)
    expect(count_of(page, "Canceled")).to_have_text(re.compile(rf"Canceled\s*{MANY}"))


def test_the_list_fits_a_narrow_screen(browser: Browser, stack: Stack, desk: Desk) -> None:
    with visiting(browser, stack, width=360, language="ja") as visitor:
        page = visitor.open("#/jobs?created_after=2020-01-01T00%3A00%3A00Z", key=desk.key)
        expect(page.get_by_role("navigation", name="状態ごとのジョブ数")).to_contain_text("53")
        expect(rows(page)).to_have_count(50)
        visitor.picture("jobs-ja-narrow")

        assert visitor.hindrances() == []
        assert not visitor.overflows()
