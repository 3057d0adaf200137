"""How a page stays live: polite to the server, still in a hidden tab, true to what it is asked.

The audit stands for all pages that follow something. Its answers are given here, and its clock is
ours, so that a test tells to the second when the page looks again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Final

import pytest
from playwright.sync_api import Error, Page, Route, expect

from tests.console.visitor import Visitor
from tests.support.running import until

AUDIT: Final = re.compile(r"/v1/audit(\?.*)?$")
NOON: Final = "2026-11-30T12:00:00Z"
EVERY: Final = 10.0  # as the page asks for
# Notes when the page looks, by its own clock, and whether an answer is still on its way; and lets
# the tab be hidden, which a headless one never is.
WATCH: Final = """
window.looks = [];
window.pending = 0;
window.away = false;
const real = window.fetch;
window.fetch = async (path, options) => {
  if (!/^\\/v1\\/audit([?]|$)/.test(path)) return real(path, options);
  looks.push({ at: Date.now(), path, tag: options.headers["If-None-Match"] ?? null });
  pending += 1;
  try {
    const response = await real(path, options);
    await response.clone().text();
    return response;
  } finally {
    pending -= 1;
  }
};
Object.defineProperty(document, "hidden", { get: () => away });
"""
Answer = Callable[[Route], None]


def act(reason: str) -> dict[str, Any]:
    return {
        "id": f"au_{reason:0>26}",
        "at": NOON,
        "actor": "k1",
        "action": "doctor.repaired",
        "target": "wake_overdue",
        "tenant_id": None,
        "reason": reason,
        "request_id": "req_1",
        "detail": {},
    }


def listing(*reasons: str, tag: str = '"a"') -> Answer:
    def answer(route: Route) -> None:
        items = [act(reason) for reason in reasons]
        route.fulfill(json={"items": items, "next": None}, headers={"ETag": tag})

    return answer


def unchanged(route: Route) -> None:
    route.fulfill(status=304)


def cut(route: Route) -> None:
    route.abort()


def refused(status: int, *, retry_after: int) -> Answer:
    def answer(route: Route) -> None:
        headers = {"Retry-After": str(retry_after), "Content-Type": "application/problem+json"}
        body = '{"status": 0, "code": "unavailable", "detail": "Later, please."}'
        route.fulfill(status=status, headers=headers, body=body)

    return answer


@dataclass(kw_only=True)
class Watched:
    """The page, and the answers that it gets in turn; the last one stands for all that come."""

    page: Page
    answers: list[Answer] = field(default_factory=list)

    def answer(self, route: Route) -> None:
        self.answers.pop(0)(route) if len(self.answers) > 1 else self.answers[0](route)

    def looks(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.page.evaluate("looks")
        return found

    def pass_time(self, seconds: float) -> None:
        """Let time pass, each second of it when the answers of the one before have been read."""
        for _ in range(round(seconds)):
            self.page.clock.run_for(1_000)
            self.settle()

    def settle(self) -> None:
        until(lambda: self.page.evaluate("pending") == 0, every=0.01)
        self.page.evaluate("Promise.resolve()")  # what follows on an answer is done before

    def gaps(self, seconds: float) -> list[float]:
        """Let time pass and return the seconds between looks, from the last one before on."""
        before = len(self.looks())
        self.pass_time(seconds)
        times = [look["at"] for look in self.looks()[before - 1 :]]
        return [(later - earlier) / 1000 for earlier, later in pairwise(times)]

    def turn(self, *, away: bool) -> None:
        """Hide the tab, or show it again."""
        script = "away => { window.away = away; document.dispatchEvent(new Event('%s')); }"
        self.page.evaluate(script % "visibilitychange", away)


@pytest.fixture
def watched(visitor: Visitor) -> Iterator[Watched]:
    page = visitor.page
    watched = Watched(page=page, answers=[listing("known before")])
    page.add_init_script(WATCH)
    page.route(AUDIT, watched.answer)
    page.clock.install(time=NOON)
    visitor.open("#/audit", key="operator_key")
    expect(page.get_by_text("known before")).to_be_visible()
    page.clock.pause_at("2026-11-30T12:05:00Z")  # from here on its clock moves when we say
    watched.settle()
    yield watched
    visitor.complaints = [each for each in visitor.complaints if "net::ERR_FAILED" not in each]


def about(*seconds: float) -> list[Any]:
    """Time passes here in steps of a second."""
    return [pytest.approx(each, abs=1) for each in seconds]


def test_what_does_not_change_is_asked_for_ever_less_often(watched: Watched) -> None:
    watched.answers = [unchanged]
    assert watched.gaps(100)[1:] == about(15, 22.5, 33.75)
    assert watched.looks()[-1]["tag"] == '"a"'
    watched.answers = [listing("second", tag='"b"')]
    watched.pass_time(61)

    expect(watched.page.get_by_text("second")).to_be_visible()
    assert watched.gaps(25)[-1:] == about(EVERY)


def test_failures_back_off_and_keep_what_was_known(watched: Watched) -> None:
    page = watched.page
    watched.answers = [cut, cut, refused(503, retry_after=90), refused(429, retry_after=75)]
    watched.answers.append(listing("mended"))

    assert watched.gaps(50)[1:] == about(15, 22.5)
    expect(page.get_by_text("The server answers 503 unavailable; shown as of")).to_be_visible()
    expect(page.get_by_text("known before")).to_be_visible()
    assert watched.gaps(172) == about(90, 75)
    expect(page.get_by_text("mended")).to_be_visible()
    expect(page.get_by_text("shown as of")).to_have_count(0)


def test_only_what_gave_no_answer_cannot_be_reached(watched: Watched) -> None:
    page = watched.page
    watched.answers = [cut]
    watched.pass_time(11)
    expect(page.get_by_text("Cannot be reached; shown as of")).to_be_visible()
    watched.answers = [refused(403, retry_after=0)]
    watched.pass_time(16)

    expect(page.get_by_text("The server answers 403 unavailable; shown as of")).to_be_visible()
    expect(page.get_by_text("known before")).to_be_visible()
    expect(page.get_by_text("Cannot be reached")).to_have_count(0)


def test_a_hidden_tab_asks_for_nothing_and_looks_at_once_when_it_is_seen(watched: Watched) -> None:
    watched.turn(away=True)
    before = len(watched.looks())
    watched.page.clock.run_for(3_600_000)
    assert len(watched.looks()) == before
    watched.answers = [listing("meanwhile", tag='"b"')]
    watched.turn(away=False)

    expect(watched.page.get_by_text("meanwhile")).to_be_visible()
    assert len(watched.looks()) == before + 1
    watched.answers = [listing("shown anew", tag='"c"')]
    watched.page.get_by_role("button", name="Refresh").click()
    expect(watched.page.get_by_text("shown anew")).to_be_visible()


def test_an_answer_that_comes_late_is_never_shown_under_another_address(
    watched: Watched,
) -> None:
    page = watched.page
    held: list[Route] = []
    watched.answers = [held.append]
    page.get_by_label("Act", exact=True).select_option("doctor.repaired")
    page.clock.run_for(500)
    expect(page.get_by_text("Loading…")).to_be_visible()
    expect(page.get_by_text("known before")).to_have_count(0)

    watched.answers = [listing("of the newest question")]
    page.get_by_label("Act", exact=True).select_option("redrive.started")
    page.clock.run_for(500)
    expect(page.get_by_text("of the newest question")).to_be_visible()
    (late,) = held
    with suppress(Error):  # the page may have let go of it
        listing("of the question before")(late)
    watched.settle()
    expect(page.get_by_text("of the newest question")).to_be_visible()
    expect(page.get_by_text("of the question before")).to_have_count(0)
