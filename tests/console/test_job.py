"""The page of one job: it follows the id in its URL to the end, and tells its whole life."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.acceptance.runs import Desk, slow
from tests.console.answers import answer
from tests.console.visitor import Visitor, visiting
from tests.support.running import Stack, until
from uketsuke.domain.failure import MESSAGES

SHORT = "The desk takes each request once."
AWAY = {"status": 503, "retry_after": 600}
REJECTED = {"status": 422}
HOSTILE = '<img src=x onerror="document.title=1">\u202e' + "x" * 150


@pytest.fixture(scope="module")
def desk(stack: Stack) -> Iterator[Desk]:
    with Desk.open(stack) as opened:
        yield opened


@pytest.fixture(scope="module")
def waiting(desk: Desk) -> Iterator[str]:
    """A job that waits ten minutes for its second attempt."""
    job = ask(desk, AWAY, metadata={HOSTILE[:60]: f"m{HOSTILE}"}, run_key=HOSTILE)
    until(lambda: desk.shown(job)["state"] == "retrying")
    yield job
    cancel(desk, job)


@pytest.fixture(scope="module")
def failed(desk: Desk) -> str:
    job = ask(desk, {"status": 500}, REJECTED)
    until(lambda: desk.shown(job)["terminal"])
    return job


def ask(desk: Desk, *faults: dict[str, Any], **document: Any) -> str:
    """Ask for a job that one delivery works."""
    answer = desk.post(*faults, text=SHORT, **document)
    assert answer.status_code == 202, answer.text
    return str(answer.json()["id"])


def cancel(desk: Desk, job: str) -> None:
    desk.api.post(f"/v1/jobs/{job}/cancel").raise_for_status()


def state(visitor: Visitor, name: str) -> None:
    """Wait until the page says that the job stands so."""
    expect(standing(visitor.page).locator(".chip").first).to_have_text(name, timeout=30_000)


def standing(page: Page) -> Any:
    return page.get_by_role("region", name="Job", exact=True)


def looks(visitor: Visitor, job: str) -> list[int]:
    """Return the statuses of the answers about the job itself, oldest first."""
    asked = [request for request in visitor.requests if request.url.endswith(f"/v1/jobs/{job}")]
    return [answer.status for request in asked if (answer := request.response()) is not None]


def hide(page: Page, *, hidden: bool) -> None:
    page.evaluate(
        """hidden => {
          Object.defineProperty(document, "hidden", {configurable: true, get: () => hidden});
          Object.defineProperty(document, "visibilityState",
            {configurable: true, get: () => hidden ? "hidden" : "visible"});
          document.dispatchEvent(new Event("visibilitychange"));
        }""",
        hidden,
    )


def test_a_slow_job_is_followed_past_another_and_a_reload_to_its_result(
    visitor: Visitor, desk: Desk
) -> None:
    job = desk.start(slow(3), slow(6), slow(0.5), run_key="nightly:1")
    page = visitor.open(f"#/jobs/{job}", key=desk.key)
    state(visitor, "Running")
    expect(page.get_by_role("progressbar", name="Progress")).to_be_visible()

    quick = ask(desk, run_key="nightly:2")
    other = Visitor(stack=visitor.stack, page=page.context.new_page())
    other.open(f"#/jobs/{quick}", key=desk.key)
    state(other, "Succeeded")
    state(visitor, "Running")
    expect(standing(page)).to_contain_text(re.compile(r"[1-3] of 4 · \d+%"))
    expect(page).to_have_title(re.compile(r"^\d+% Summary"))
    page.reload()
    state(visitor, "Running")
    expect(page.get_by_role("progressbar", name="Progress")).to_be_visible()
    state(visitor, "Succeeded")

    expect(page.get_by_role("region", name="Result")).to_contain_text("答えはすぐに返る")
    expect(page.get_by_role("progressbar")).to_have_count(0)
    expect(page).to_have_title("✓ Summary · Uketsuke")
    expect(page.get_by_role("status").first).to_have_text("Succeeded")
    assert page.url.endswith(f"#/jobs/{job}")
    ids = {found for each in visitor.requests for found in re.findall(r"job_[0-9a-z]+", each.url)}
    assert ids == {job}


def test_a_retrying_job_counts_down_and_says_why(visitor: Visitor, waiting: str) -> None:
    page = visitor.open(f"#/jobs/{waiting}", key="operator_key")

    state(visitor, "Retrying")
    expect(standing(page)).to_contain_text(re.compile(r"next attempt in [5-9] min"))
    expect(standing(page)).to_contain_text("Provider unavailable")
    expect(standing(page)).to_contain_text("The AI provider failed or could not be reached.")
    expect(page.get_by_role("listitem").filter(has_text="Waiting")).to_contain_text("so far")
    expect(page).to_have_title("↻ Summary · Uketsuke")


def test_it_asks_no_sooner_than_the_server_said(visitor: Visitor, desk: Desk, waiting: str) -> None:
    page = visitor.page
    page.clock.install()
    visitor.open(f"#/jobs/{waiting}", key=desk.key)
    state(visitor, "Retrying")
    page.clock.fast_forward("02:00")
    soon = looks(visitor, waiting)
    page.clock.fast_forward("10:00")
    until(lambda: page.title() and len(looks(visitor, waiting)) > 1)

    assert soon == [200]
    assert looks(visitor, waiting) == [200, 304]
    state(visitor, "Retrying")


def test_a_hidden_page_asks_for_nothing_until_it_is_shown(
    visitor: Visitor, desk: Desk, waiting: str
) -> None:
    page = visitor.page
    page.clock.install()
    visitor.open(f"#/jobs/{waiting}", key=desk.key)
    state(visitor, "Retrying")
    hide(page, hidden=True)
    page.clock.fast_forward("30:00")
    meanwhile = looks(visitor, waiting)
    hide(page, hidden=False)
    until(lambda: page.title() and len(looks(visitor, waiting)) > 1)

    assert meanwhile == [200]
    assert looks(visitor, waiting) == [200, 304]


def test_a_job_that_has_ended_is_not_asked_for_again(
    visitor: Visitor, desk: Desk, failed: str
) -> None:
    page = visitor.page
    page.clock.install()
    visitor.open(f"#/jobs/{failed}", key=desk.key)
    state(visitor, "Failed")
    page.clock.fast_forward("01:00:00")
    page.get_by_role("button", name="Refresh").click()
    until(lambda: page.title() and len(looks(visitor, failed)) > 1)

    assert looks(visitor, failed) == [200, 304]


def test_a_failed_job_tells_its_attempts_and_what_ended_it(
    visitor: Visitor, desk: Desk, failed: str
) -> None:
    page = visitor.open(f"#/jobs/{failed}", key=desk.key)

    state(visitor, "Failed")
    expect(standing(page)).to_contain_text("The AI provider did not accept the input.")
    life = page.get_by_role("region", name="What happened").get_by_role("listitem")
    expect(life.filter(has_text="Attempt 1")).to_contain_text("Failed, to be retried")
    expect(life.filter(has_text="Attempt 1")).to_contain_text("Provider unavailable")
    expect(life.filter(has_text="Attempt 2")).to_contain_text("Invalid input")
    expect(life.filter(has_text="Attempt 2")).to_contain_text("at the provider")
    expect(life.filter(has_text="Attempt 2")).to_contain_text("provider_rejected_input")
    expect(life.last).to_have_text(re.compile(r"Ended.*Failed", re.DOTALL))
    expect(page.get_by_text("Dead letter")).to_have_count(0)
    expect(page).to_have_title("✕ Summary · Uketsuke")
    visitor.picture("job-failed")
    assert visitor.hindrances() == []


def test_an_operator_sees_no_content_and_the_way_to_the_dead_letter(
    visitor: Visitor, desk: Desk, failed: str
) -> None:
    page = visitor.open(f"#/jobs/{failed}", key="operator_key")
    state(visitor, "Failed")

    expect(page.get_by_text(desk.stack.tenant_of(desk.key))).to_be_visible()
    letter = page.get_by_role("definition").get_by_role("link", name="dl_")
    expect(letter).to_have_attribute("href", f"#/dead-letters/{failed.replace('job_', 'dl_')}")
    expect(page.get_by_role("button", name="Cancel the job")).to_have_count(0)
    succeeded = ask(desk, metadata={"ticket": "42"})
    visitor.open(f"#/jobs/{succeeded}")
    state(visitor, "Succeeded")
    expect(page.get_by_text("The result is hidden from operators.")).to_be_visible()
    expect(page.get_by_text("42", exact=True)).to_have_count(0)
    assert not [each.url for each in visitor.requests if each.url.endswith("/result")]


def test_waits_attempts_and_a_takeover_are_told_in_time(visitor: Visitor) -> None:
    """Of events as only long lives have them."""
    page = visitor.open()
    told = page.evaluate(
        """async () => {
          const { lifeOf } = await import("/console/job/life.js");
          const at = second => new Date(second * 1000).toISOString();
          const event = (type, second, attempt = null) => ({type, at: at(second), attempt});
          const job = {state: "canceled", terminal: true, created_at: at(0), finished_at: at(90),
                       cancel_requested_at: at(80)};
          const life = lifeOf(job, [
            event("accepted", 0), event("leased", 5, 1), event("running", 20, 1),
            event("leased", 20, 2), event("deferred", 30, 2), event("leased", 60, 3),
            event("retrying", 61, 3), event("canceled", 90)]);
          const second = time => time === undefined ? null : Date.parse(time) / 1000;
          return life.map(({what, from, to, ending}) =>
            [what, second(from), second(to), ending?.type ?? null]);
        }"""
    )

    assert told == [
        ["accepted", 0, None, None],
        ["wait", 0, 5, None],
        ["attempt", 5, 20, "running"],
        ["attempt", 20, 30, "deferred"],
        ["wait", 30, 60, "deferred"],
        ["attempt", 60, 61, "retrying"],
        ["wait", 61, 90, "retrying"],
        ["wished", 80, None, None],
        ["end", 90, None, None],
    ]


def test_each_failure_has_its_sentence_in_both_languages(visitor: Visitor) -> None:
    page = visitor.open()
    codes = page.evaluate("import('/console/words/codes.js').then(({codes}) => codes)")

    assert codes["en"] == dict(MESSAGES)
    assert codes["ja"].keys() == codes["en"].keys()


def test_a_redrive_is_linked_both_ways(visitor: Visitor, desk: Desk) -> None:
    job = ask(desk, {"status": 500}, max_attempts=1)
    until(lambda: desk.shown(job)["terminal"])
    letter = job.replace("job_", "dl_")
    with desk.stack.api("operator_key") as operator:
        answer = operator.post(f"/v1/dead-letters/{letter}/redrive", json={"reason": "It is back."})
    redriven = answer.raise_for_status().json()["id"]
    page = visitor.open(f"#/jobs/{job}", key=desk.key)
    page.get_by_role("definition").locator(f"a[title={redriven}]").click()

    state(visitor, "Succeeded")
    expect(page.get_by_text("A redrive")).to_be_visible()
    page.get_by_role("definition").locator(f"a[title={job}]").click()
    state(visitor, "Failed")


def test_a_scheduled_job_leads_to_its_schedule(visitor: Visitor, desk: Desk) -> None:
    job = ask(desk, run_key="schedule:new-year")
    desk.stack.d1("UPDATE jobs SET origin = 'schedule' WHERE id = ?1", job)
    page = visitor.open(f"#/jobs/{job}", key=desk.key)

    schedule = page.get_by_role("link", name="new-year", exact=True)
    expect(schedule).to_have_attribute("href", "#/schedules/new-year")
    run_key = page.get_by_role("link", name="schedule:new-year")
    expect(run_key).to_have_attribute("href", "#/jobs?run_key=schedule%3Anew-year")


def test_a_job_of_another_tenant_is_not_there(visitor: Visitor, failed: str) -> None:
    page = visitor.open(f"#/jobs/{failed}", key="tenant_key")

    expect(visitor.heading).to_have_text("No such job")
    expect(page.get_by_text("There is no job of this id that your key may see.")).to_be_visible()


def test_a_waiting_job_is_canceled_after_a_question(visitor: Visitor, desk: Desk) -> None:
    job = ask(desk, AWAY)
    until(lambda: desk.shown(job)["state"] == "retrying")
    page = visitor.open(f"#/jobs/{job}", key=desk.key)
    page.get_by_role("button", name="Cancel the job").click()
    question = page.get_by_role("dialog", name="Cancel this job?")
    expect(question).to_contain_text(job)
    page.keyboard.press("Escape")
    expect(question).to_have_count(0)
    assert desk.shown(job)["state"] == "retrying"
    page.get_by_role("button", name="Cancel the job").click()
    question.get_by_role("button", name="Cancel the job").click()

    state(visitor, "Canceled")
    expect(question).to_have_count(0)
    expect(page.get_by_role("button", name="Cancel the job")).to_have_count(0)
    expect(visitor.heading).to_be_focused()


def test_a_wish_to_cancel_is_shown_until_the_attempt_heeds_it(visitor: Visitor, desk: Desk) -> None:
    job = desk.start(slow(60))
    page = visitor.open(f"#/jobs/{job}", key=desk.key)
    state(visitor, "Running")
    running = desk.shown(job)
    wished = {**running, "cancel_requested_at": running["started_at"]}

    def asked(route: Route) -> None:
        # The attempt may heed the wish before anybody has looked: the page hears of that later.
        answer(visitor, f"/v1/jobs/{job}", wished)
        route.continue_()

    page.route("**/cancel", asked)
    page.get_by_role("button", name="Cancel the job").click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel the job").click()
    expect(standing(page).get_by_text("Cancelling was asked for.").last).to_be_visible()
    page.unroute(f"**/v1/jobs/{job}")

    state(visitor, "Canceled")
    expect(page.get_by_role("listitem").filter(has_text="Cancelling asked for")).to_have_count(1)


def test_cancelling_too_late_is_refused_in_the_apis_words(visitor: Visitor, desk: Desk) -> None:
    job = ask(desk)
    until(lambda: desk.shown(job)["terminal"])
    stale = {"state": "running", "terminal": False, "finished_at": None, "expires_at": None}
    answer(visitor, f"/v1/jobs/{job}", {**desk.shown(job), **stale})
    page = visitor.open(f"#/jobs/{job}", key=desk.key)
    page.get_by_role("button", name="Cancel the job").click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel the job").click()

    expect(page.get_by_role("dialog")).to_contain_text("already_finished")
    page.unroute(f"**/v1/jobs/{job}")
    state(visitor, "Succeeded")
    expect(page.get_by_role("dialog")).to_contain_text("It has ended meanwhile.")


def test_what_a_tenant_writes_stays_text_on_a_narrow_screen(
    browser: Browser, stack: Stack, desk: Desk, waiting: str
) -> None:
    with visiting(browser, stack, width=360, language="ja", colours="dark") as visitor:
        page = visitor.open(f"#/jobs/{waiting}", key=desk.key)
        expect(page.get_by_text("次の試行まで")).to_be_visible()
        expect(page.get_by_role("listitem").filter(has_text="再試行までの待機")).to_be_visible()
        visitor.picture("job-retrying-ja-narrow-dark")

        expect(page.get_by_role("definition").get_by_text(f"m{HOSTILE}")).to_be_visible()
        expect(page.get_by_role("link", name=HOSTILE)).to_be_visible()
        assert page.locator("main img, main script").count() == 0
        assert visitor.hindrances() == []
        assert not visitor.overflows()
