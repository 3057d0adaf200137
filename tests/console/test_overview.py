"""The overview: what needs a person comes first, and numbers and charts lead to what they count."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.acceptance.runs import Desk
from tests.console.answers import Document, answer, answer_alerts, refuse, told
from tests.console.visitor import Visitor, visiting
from tests.support.running import Stack, until

METRICS: Final = "/v1/metrics"
ALERTS: Final = "/v1/alerts"
SERIES: Final = "/v1/metrics/series?range=hour"
CALM: Final = "Nothing needs you."
LONG_AGO: Final = "2020-01-01T00:00:00.000Z"
HOSTILE: Final = '<img src=x onerror="document.title=1">\u202e' + "x" * 500
# How many pixels of a canvas have a colour, between two shares of its width.
INK: Final = """([canvas, colour, from, to]) => {
  const wanted = colour.match(/\\d+/g).map(Number);
  const [left, right] = [from, to].map((share) => Math.round(share * canvas.width));
  const copy = new OffscreenCanvas(right - left, canvas.height);
  const context = copy.getContext("2d", { willReadFrequently: true });
  context.drawImage(canvas, -left, 0);
  const { data } = context.getImageData(0, 0, copy.width, copy.height);
  let found = 0;
  for (let at = 0; at < data.length; at += 4)
    found += data[at + 3] > 200 && wanted.every((value, n) => Math.abs(data[at + n] - value) < 12);
  return found;
}"""

# Notes what is written on canvases.
WRITTEN: Final = """
window.written = [];
const write = CanvasRenderingContext2D.prototype.fillText;
CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
  written.push(text);
  return write.call(this, text, ...rest);
};
"""


@pytest.fixture(scope="module")
def desk(stack: Stack) -> Iterator[Desk]:
    with Desk.open(stack) as opened:
        yield opened


@pytest.fixture(scope="module")
def jobs(stack: Stack, desk: Desk) -> dict[str, str]:
    """A job that succeeded and one that failed, both just now."""
    text = "The desk takes each request once."
    asked = {"succeeded": desk.post(text=text), "failed": desk.post({"status": 422}, text=text)}
    ids = {state: str(each.json()["id"]) for state, each in asked.items()}
    until(lambda: all(desk.shown(job)["terminal"] for job in ids.values()))
    assert {state: desk.shown(job)["state"] for state, job in ids.items()} == {
        state: state for state in ids
    }
    return ids


def calm(visitor: Visitor) -> Document:
    """The figures as they would be if nothing were wrong."""
    metrics = told(visitor, METRICS)
    at = metrics["at"]
    condition = {"value": 0, "limit": 5, "compared_to": None, "subject": None, "holds": False}
    name = {"name": "oldest_due_seconds", "since": None, "computed_at": at}
    live: dict[str, Any] = dict.fromkeys(("accepted", "running", "retrying", "ready", "delayed"), 0)
    return {
        **metrics,
        "rolled_at": at,
        "backlog": {**live, "at": at, "by_kind": {}},
        "oldest_waiting_seconds": None,
        "oldest_due_seconds": None,
        "oldest_running_seconds": None,
        "dead_letters": {"open": 0, "past_triage": 0, "expiring": 0, "last_hour": 0},
        "sweep_lag_seconds": 5,
        "outbox_lag_seconds": 0,
        "queues": {},
        "conditions": [{**condition, **name}],
    }


def alert(name: str, **members: Any) -> Document:
    delivery = {"pending": False, "tries": 0, "last_at": LONG_AGO, "error_class": None}
    times = {"since": LONG_AGO, "fired_at": LONG_AGO, "resolved_at": None, "computed_at": LONG_AGO}
    base = {"name": name, "state": "firing", "value": 7, "limit": 5, "subject": None}
    return {**base, **times, "delivery": delivery, **members}


def answer_calmly(visitor: Visitor) -> Document:
    metrics = calm(visitor)
    answer(visitor, METRICS, metrics)
    answer_alerts(visitor, [])
    return metrics


def wave(*, unknown: range = range(0)) -> Document:
    """An hour in which each minute has as many jobs as its number."""
    end = datetime.now(UTC).replace(second=0, microsecond=0)
    counts = ("canceled", "attempts", "retried")
    points = [
        {
            "at": (end - timedelta(minutes=59 - n)).strftime("%Y-%m-%dT%H:%M:%S.000Z"),
            **dict.fromkeys(counts, 0),
            "accepted": n,
            "succeeded": n,
            "failed": 0,
            "success_rate": 0.5,
            "retry_rate": None,
            "cost_usd": "0.001",
            "failed_cost_usd": None,
            "waiting_seconds": None if n in unknown else 120.0 + n,
            "queue_seconds_p95": None,
            "run_seconds_p95": None,
        }
        for n in range(60)
    ]
    return {"range": "hour", "step_seconds": 60, "points": points}


def needs(page: Page) -> Locator:
    return page.get_by_role("region", name="What needs you")


def figure(page: Page, card: str, label: str) -> Locator:
    """The number under a label of a card."""
    tiles = page.get_by_role("region", name=card, exact=True).locator(".figures > div")
    return tiles.filter(has=page.get_by_text(label, exact=True)).locator("dd")


def chart(page: Page, title: str) -> Locator:
    return page.get_by_role("figure").filter(has=page.get_by_role("heading", name=title))


def refresh(page: Page) -> None:
    page.get_by_role("button", name="Refresh").click()


def test_letters_past_their_time_need_somebody_and_lead_to_the_letters(
    visitor: Visitor, stack: Stack, desk: Desk, jobs: dict[str, str]
) -> None:
    mine = "UPDATE dead_letters SET triage_due_at = ?1 WHERE job_id = ?2 RETURNING triage_due_at"
    due = stack.d1(
        "SELECT triage_due_at AS due FROM dead_letters WHERE job_id = ?1", jobs["failed"]
    )
    stack.d1(mine, 1, jobs["failed"])
    try:
        page = visitor.open("#/overview", key="operator_key")
        link = needs(page).get_by_role("link", name=re.compile("past (its|their) time"))
        expect(needs(page)).not_to_contain_text(CALM)
        number = figure(page, "Dead letters", "Past their time").get_by_role("link")
        expect(number).to_have_attribute("href", "#/dead-letters/list?past_triage=true")
        soon = figure(page, "Dead letters", "Input goes soon").get_by_role("link")
        expect(soon).to_have_attribute("href", "#/dead-letters/list?expiring=true")
        visitor.open(f"{link.get_attribute('href')}&tenant={stack.tenant_of(desk.key)}")
        letter = f"dl_{jobs['failed'].removeprefix('job_')}"
        expect(page.locator("tbody a.id")).to_have_attribute("title", letter)
    finally:
        stack.d1(mine, due[0]["due"], jobs["failed"])


def test_what_fires_comes_before_what_is_only_above_its_limit(visitor: Visitor) -> None:
    metrics = answer_calmly(visitor)
    metrics["dead_letters"].update(open=3)
    metrics.update(oldest_due_seconds=1200, oldest_running_seconds=7200)
    metrics["conditions"].append({**metrics["conditions"][0], "name": "novel", "value": 9})
    untold = {"pending": True, "tries": 2, "last_at": None, "error_class": "refused"}
    budget = alert("budget_used_percent", value=90, limit=80, subject=HOSTILE, delivery=untold)
    over = alert("failed_per_mille", value=0, limit=100)
    opened = {**metrics["conditions"][0], "name": "dead_letters_open", "limit": 0}
    metrics["conditions"].append(opened)
    answer_alerts(visitor, [budget, over])
    page = visitor.open("#/overview", key="operator_key")

    items = needs(page).get_by_role("listitem")
    expect(items).to_have_text(
        [
            re.compile(r"^\s*Now\s*1 alert could not be delivered \(refused by the receiver\)"),
            re.compile(r"^\s*Now\s*Share of failed jobs still fires, and is within its limit"),
            re.compile(r"^\s*Now\s*<img src=x.*… has used 90% of what it may spend today", re.S),
            re.compile(r"^\s*Soon\s*A job has been due for 20 min, and nobody takes it"),
            re.compile(r"^\s*Soon\s*novel is 9"),
            re.compile(r"^\s*Later\s*3 dead letters are open"),
            re.compile(r"^\s*Later\s*An attempt has been running for 2 hr"),
        ]
    )


def test_nothing_needs_anybody_only_while_the_figures_say_so(visitor: Visitor) -> None:
    answer_calmly(visitor)
    page = visitor.open("#/overview", key="operator_key")
    expect(needs(page).locator(".calm")).to_contain_text(re.compile(f"{CALM}.*Checked at", re.S))

    metrics = calm(visitor)
    old = [{**metrics["conditions"][0], "computed_at": LONG_AGO}]
    for change, doubt in (
        ({"rolled_at": None}, "has never rolled up"),
        ({"rolled_at": LONG_AGO}, "is it running? What it tells is that old"),
        ({"conditions": []}, "has reckoned no condition yet"),
        ({"conditions": old}, "nobody watches the limits"),
        ({"backlog": None}, "More jobs live than can be counted"),
    ):
        answer(visitor, METRICS, {**metrics, **change})
        refresh(page)
        expect(needs(page)).to_contain_text(doubt)
        expect(needs(page)).not_to_contain_text(CALM)
    answer(visitor, METRICS, metrics)
    refresh(page)
    expect(needs(page).locator(".calm")).to_be_visible()
    answer_alerts(visitor, [], at=LONG_AGO)
    refresh(page)
    expect(needs(page)).to_contain_text("older than the figures. One may be firing.")
    expect(needs(page)).not_to_contain_text(CALM)
    refuse(visitor, ALERTS)
    refresh(page)
    expect(needs(page)).to_contain_text("The alerts cannot be fetched")
    refuse(visitor, METRICS)
    refresh(page)
    expect(needs(page)).to_contain_text("The figures cannot be fetched")
    expect(needs(page)).not_to_contain_text(CALM)
    expect(page.get_by_text("The server answers 503 unavailable; shown as of")).to_be_visible()
    expect(figure(page, "Live jobs", "Running")).to_have_text("0")


def test_the_numbers_of_the_hour_lead_to_the_jobs_that_they_count(
    visitor: Visitor, desk: Desk, jobs: dict[str, str]
) -> None:
    page = visitor.open("#/overview", key="operator_key")
    numbers = {
        label: figure(page, "Last hour", label).get_by_role("link")
        for label in ("Accepted", "Succeeded", "Failed")
    }
    for number in numbers.values():
        expect(number).to_have_text(re.compile(r"^[1-9]"))
    links = {label: number.get_attribute("href") for label, number in numbers.items()}
    counted = {
        "Accepted": ["failed", "succeeded"],
        "Succeeded": ["succeeded"],
        "Failed": ["failed"],
    }

    for label, link in links.items():
        # Others' jobs may fill the page.
        visitor.open(f"{link}&tenant={desk.stack.tenant_of(desk.key)}")
        shown = page.locator("td a.id")
        expect(shown).to_have_count(len(counted[label]))
        titles = {each.get_attribute("title") for each in shown.all()}
        assert titles == {jobs[state] for state in counted[label]}


def test_the_numbers_of_dead_letters_lead_to_groups_and_letters(
    visitor: Visitor, desk: Desk, jobs: dict[str, str]
) -> None:
    page = visitor.open("#/overview", key="operator_key")
    links = [
        figure(page, "Dead letters", label).get_by_role("link").get_attribute("href")
        for label in ("Open", "In the last hour")
    ]
    links.append(
        page.get_by_role("link", name=re.compile(r"^Invalid input \d+$")).get_attribute("href")
    )

    assert ["failed_after=" in (link or "") for link in links] == [False, True, True]
    for link in links:
        visitor.open(f"{link}&tenant={desk.stack.tenant_of(desk.key)}")
        expect(page.locator("tbody tr")).to_have_count(1)


def test_every_number_has_a_list_behind_it(visitor: Visitor, jobs: dict[str, str]) -> None:
    wait = {"oldest_waiting_seconds": 90, "oldest_waiting_job_id": jobs["succeeded"]}
    metrics = {**told(visitor, METRICS), **wait}
    metrics["backlog"].update(ready=3, delayed=2)
    answer(visitor, METRICS, metrics)
    page = visitor.open("#/overview", key="operator_key")
    for name, place in (("3 due", "true"), ("2 not due yet", "false")):
        link = page.get_by_role("link", name=name, exact=True)
        expect(link).to_have_attribute("href", f"#/jobs?due={place}")
    oldest = figure(page, "Live jobs", "Longest wait").get_by_role("link", name="1 min 30 sec")
    expect(oldest).to_have_attribute("href", f"#/jobs/{jobs['succeeded']}")
    page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true })")

    numbers = page.locator(".figures dd, .key-figures td.numeric").all_inner_texts()
    links = page.locator(".figures dd a, .key-figures td.numeric a")
    assert len([number for number in numbers if number != "–"]) == links.count()
    kinds = page.locator(".key-figures td.numeric a[href*='kind=summarize']")
    assert kinds.count() >= 8
    places = {re.sub(r"\?.*", "", link.get_attribute("href") or "") for link in links.all()}
    assert {"#/jobs", "#/dead-letters", "#/usage"} <= places


def test_a_charts_table_tells_what_the_api_tells(visitor: Visitor, jobs: dict[str, str]) -> None:
    page = visitor.page
    with page.expect_response(re.compile(r"/v1/metrics/series\?range=hour")) as answered:
        visitor.open("#/overview", key="operator_key")
    points = answered.value.json()["points"]
    throughput = chart(page, "Jobs")
    throughput.get_by_role("button", name="Show as a table").click()

    told_of = throughput.get_by_role("row").locator("td:nth-child(2)").all_inner_texts()
    assert [int(number.replace(",", "")) for number in told_of] == [
        point["accepted"] for point in reversed(points)
    ]
    total = sum(point["accepted"] for point in points)
    expect(throughput.get_by_role("listitem").first).to_contain_text(f"in all {total:,}")


def test_what_nobody_knows_stays_a_gap_and_colours_follow_the_scheme(visitor: Visitor) -> None:
    answer(visitor, SERIES, wave(unknown=range(24, 40)))
    page = visitor.open("#/overview", key="operator_key")
    waiting = chart(page, "Longest wait")
    canvas = waiting.locator("canvas").element_handle()

    def ink(colour: str, start: float, end: float) -> int:
        found: int = page.evaluate(INK, [canvas, colour, start, end])
        return found

    def colour() -> str:
        found: str = waiting.locator(".swatch").evaluate("swatch => getComputedStyle(swatch).color")
        return found

    by_day = colour()
    until(lambda: ink(by_day, 0.2, 0.4) > 50)
    assert ink(by_day, 0.5, 0.6) == 0
    assert ink(by_day, 0.8, 0.95) > 20
    page.get_by_label("Colours").select_option("dark")
    by_night = colour()
    canvas = waiting.locator("canvas").element_handle()
    until(lambda: ink(by_night, 0.2, 0.4) > 50)
    assert by_night != by_day
    assert ink(by_day, 0.2, 0.4) == 0


def test_a_point_is_chosen_by_key_or_pointer_and_leads_to_its_jobs(visitor: Visitor) -> None:
    series = wave()
    at = [point["at"].replace(":", "%3A") for point in series["points"]]
    answer(visitor, SERIES, series)
    page = visitor.open("#/overview", key="operator_key")
    slider = page.get_by_role("slider", name="Jobs")
    expect(slider).to_have_attribute("aria-valuetext", re.compile("Accepted 59, Succeeded 59"))
    slider.press("PageUp")
    slider.press("ArrowLeft")
    expect(slider).to_have_attribute("aria-valuetext", re.compile("Accepted 48, Succeeded 48"))
    expect(chart(page, "Longest wait")).to_contain_text("2 min 48 sec")  # all charts are one time
    slider.press("Enter")
    expect(visitor.heading).to_have_text("Jobs")
    assert page.url.endswith(f"#/jobs?finished_after={at[48]}&finished_before={at[49]}")

    page.go_back()
    chart(page, "Cost").locator(".u-over").click(position={"x": 2, "y": 60})
    expect(visitor.heading).to_have_text("Jobs")
    assert page.url.endswith(f"#/jobs?finished_after={at[0]}&finished_before={at[1]}")


def test_the_range_is_in_the_address(visitor: Visitor) -> None:
    page = visitor.open("#/overview", key="operator_key")
    with page.expect_request(re.compile(r"/v1/metrics/series\?range=week$")):
        page.get_by_role("button", name="Last week").click()
    assert page.url.endswith("#/overview?range=week")
    page.reload()

    expect(page.get_by_role("button", name="Last week", pressed=True)).to_be_visible()
    expect(page.get_by_text("A point is 60 minutes")).to_be_visible()
    expect(page.locator("canvas")).to_have_count(5)


def test_a_range_that_there_is_not_is_told_as_such(visitor: Visitor) -> None:
    page = visitor.open("#/overview?range=month", key="operator_key")
    expect(page.get_by_text("There is no range “\u2068month\u2069”")).to_be_visible()
    page.get_by_role("button", name="Last day").click()

    expect(page.get_by_text("There is no range")).to_have_count(0)


def test_the_last_hour_of_a_week_is_asked_for_before_it_is_over(visitor: Visitor) -> None:
    page = visitor.page
    page.clock.install()
    visitor.open("#/overview?range=week", key="operator_key")
    visitor.settle()
    with page.expect_request(re.compile(r"/v1/metrics/series\?range=week$")):
        page.clock.run_for(121_000)


@pytest.mark.parametrize("days", [6, 400])
def test_an_axis_has_numbers_however_long_the_wait_is(visitor: Visitor, days: int) -> None:
    told = wave()
    told["points"][-1] |= {"waiting_seconds": days * 86_400, "accepted": 10**9 * days}
    answer(visitor, SERIES, told)
    visitor.page.add_init_script(WRITTEN)
    page = visitor.open("#/overview", key="operator_key")
    expect(page.locator("canvas")).to_have_count(5)

    until(lambda: any("day" in each for each in page.evaluate("written")))
    until(lambda: any(",000,000" in each for each in page.evaluate("written")))


def test_what_never_came_says_so_and_is_no_calm(visitor: Visitor) -> None:
    for path in (METRICS, ALERTS, SERIES):
        refuse(visitor, path)
    page = visitor.open("#/overview", key="operator_key")
    expect(needs(page)).to_contain_text("Whether something is wrong now, nobody knows")
    expect(needs(page).get_by_role("alert")).to_contain_text("The database is away.")
    expect(needs(page)).not_to_contain_text(CALM)
    charts = page.get_by_role("region", name="Over time")
    expect(charts.get_by_role("alert")).to_contain_text("The database is away.")

    answer(visitor, SERIES, wave())
    charts.get_by_role("button", name="Try again").click()
    expect(charts.locator("canvas")).to_have_count(5)
    refuse(visitor, SERIES)
    refresh(page)
    expect(charts).to_contain_text("Cannot be fetched; shown as of")
    expect(charts.locator("canvas")).to_have_count(5)


def test_the_overview_fits_a_narrow_dark_japanese_screen(browser: Browser, stack: Stack) -> None:
    with visiting(browser, stack, width=360, language="ja", colours="dark") as visitor:
        metrics = answer_calmly(visitor)
        metrics["last_hour"]["by_kind"][HOSTILE] = {
            name: value for name, value in metrics["last_hour"].items() if name != "by_kind"
        }
        firing = alert("budget_used_percent", value=90, limit=80, subject=HOSTILE)
        answer_alerts(visitor, [firing, alert("lanes_denied")])
        answer(visitor, SERIES, wave())
        page = visitor.open("#/overview", key="operator_key")
        expect(page.get_by_role("listitem").filter(has_text="今すぐ")).to_have_count(2)
        page.get_by_text("種類ごと").first.click()
        page.get_by_role("button", name="表で表示").first.click()
        expect(page.locator("canvas")).to_have_count(5)
        visitor.picture("overview-360-ja-dark")

        assert visitor.hindrances() == []
        assert not visitor.overflows()
