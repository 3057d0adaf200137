"""The doctor in the console: what does not hold first, mended for a reason, looked at if asked."""

from __future__ import annotations

import json
from typing import Any

from playwright.sync_api import Browser, Page, Route, expect

from tests.console.visitor import Visitor, visiting
from tests.support.letters import letters_of
from tests.support.running import Stack, until

NAMED = [f"job_{number:026d}" for number in range(20)]
SOUND: dict[str, Any] = {
    "description": "It must hold.",
    "ok": True,
    "count": 0,
    "rows": [],
    "looked_at": "all",
    "repair": None,
    "by_hand": None,
}
ILL: list[dict[str, Any]] = [
    {**SOUND, "check": "first_sound"},
    {
        **SOUND,
        "check": "many_offenders",
        "ok": False,
        "count": 10_001,
        "rows": NAMED,
        "repair": "Mends them.",
        "by_hand": "Look at what stays.",
    },
    {**SOUND, "check": "not_looked_at", "ok": False, "by_hand": "Ask again."},
    {**SOUND, "check": "of_names", "ok": False, "count": 1, "rows": ["<b>demo</b>/" + "n" * 90]},
]


def diagnosed(page: Page, items: list[dict[str, Any]]) -> None:
    """Answer in the doctor's place: what the shared stack's rows are like is other tests' doing."""

    def answer(route: Route) -> None:
        ok = all(item["ok"] for item in items)
        route.fulfill(json={"ok": ok, "items": items})

    page.route("**/v1/doctor", answer)


def looked_at(visitor: Visitor, *, ask: str = "Look now") -> Page:
    page = visitor.open("#/doctor", key="operator_key")
    page.get_by_role("button", name=ask).click()
    return page


def test_what_does_not_hold_comes_first_and_says_what_helps(visitor: Visitor) -> None:
    diagnosed(visitor.page, ILL)
    page = looked_at(visitor)

    expect(page.get_by_role("status")).to_contain_text("3 checks do not hold.")
    many = page.get_by_role("region", name="many_offenders")
    expect(many).to_contain_text("Over 10,000 offenders")
    expect(many).to_contain_text("20 of them")
    expect(many.get_by_role("link")).to_have_count(20)
    expect(many.get_by_title(NAMED[7])).to_have_attribute("href", f"#/jobs/{NAMED[7]}")
    expect(many).to_contain_text("Mends them.")
    expect(many).to_contain_text("Look at what stays.")
    unknown = page.get_by_role("region", name="not_looked_at")
    expect(unknown).to_contain_text("Nobody could look")
    expect(unknown.get_by_role("button")).to_have_count(0)
    expect(page.get_by_role("region", name="of_names")).to_contain_text("<b>demo</b>/nnn")
    expect(page.get_by_text("first_sound")).to_be_hidden()
    page.get_by_text("1 check that holds").click()
    expect(page.get_by_text("first_sound")).to_be_visible()


def test_it_is_looked_at_when_asked_and_keeps_what_was_seen_when_that_fails(
    visitor: Visitor,
) -> None:
    diagnosed(visitor.page, ILL[:1])
    visitor.page.clock.install()
    page = visitor.open("#/doctor", key="operator_key")
    page.clock.run_for(600_000)
    assert looks(visitor) == 0  # a look reads much
    page.get_by_role("button", name="Look now").click()
    expect(page.get_by_role("status")).to_contain_text("The one check holds.")
    page.clock.run_for(600_000)
    assert looks(visitor) == 1
    diagnosed(page, ILL)
    page.get_by_role("button", name="Look again").click()
    expect(page.get_by_role("status")).to_contain_text("3 checks do not hold.")
    assert looks(visitor) == 2
    page.route("**/v1/doctor", lambda route: route.abort())
    page.get_by_role("button", name="Look again").click()

    expect(page.get_by_role("alert")).to_contain_text("cannot be reached")
    expect(page.get_by_role("region", name="many_offenders")).to_be_visible()
    visitor.complaints.clear()  # of the call that was cut off


def looks(visitor: Visitor) -> int:
    return sum(request.url.endswith("/v1/doctor") for request in visitor.requests)


def test_a_repair_asks_why_and_shows_what_is_true_then(visitor: Visitor) -> None:
    stack = visitor.stack
    tenant = stack.tenant_of(stack.tenant())
    put = [{"sql": each.sql, "params": list(each.params)} for each in letters_of(tenant, 1)]
    stack.post("/d1", {"batch": put})
    (letter,) = stack.d1("SELECT id, job_id FROM dead_letters WHERE tenant_id = ?1", tenant)
    stack.d1("DELETE FROM dead_letters WHERE id = ?1", letter["id"])
    page = looked_at(visitor)

    check = page.get_by_role("region", name="failed_without_letter")
    check.get_by_role("button", name="Repair failed_without_letter").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Writes the dead letter from the job's row")
    repair = dialog.get_by_role("button", name="Repair")
    expect(repair).to_be_disabled()
    dialog.get_by_label("Reason").fill("deleted by hand in a test")
    repair.click()

    expect(check.get_by_role("status")).to_contain_text("mended")
    expect(check).to_contain_text("Holds")
    assert stack.d1("SELECT status FROM dead_letters WHERE id = ?1", letter["id"])
    with stack.api("operator_key") as api:
        acts = api.get("/v1/audit?action=doctor.repaired&target=failed_without_letter").json()
    assert letter["job_id"] in json.dumps(acts["items"][0]["detail"])
    assert acts["items"][0]["reason"] == "deleted by hand in a test"


def test_two_repairs_at_once_each_leave_the_others_word(visitor: Visitor) -> None:
    ill = [{**ILL[1], "check": name, "count": 1} for name in ("first", "second")]
    diagnosed(visitor.page, ill)
    page = looked_at(visitor)
    done = {"count": 1, "rows": [], "left": 0}
    page.route("**/v1/doctor/repair", lambda route: route.fulfill(json=done))
    held: list[Route] = []
    page.route("**/v1/doctor?check=*", lambda route: held.append(route))
    for item in ill:
        page.get_by_role("button", name=f"Repair {item['check']}").click()
        page.get_by_label("Reason").fill("at once")
        page.get_by_role("dialog").get_by_role("button", name="Repair").click()
        expect(page.get_by_role("dialog")).to_have_count(0)
    until(lambda: page.evaluate("1") and len(held) == 2)
    for route, item in zip(held, ill, strict=True):
        sound = {**item, "ok": True, "count": 0, "rows": []}
        route.fulfill(json={"ok": True, "items": [sound]})

    for name in ("second", "first"):  # the last to be told might undo the one before
        expect(page.get_by_role("region", name=name)).to_contain_text("Holds")


def test_a_refused_repair_says_why_in_the_apis_words(visitor: Visitor) -> None:
    diagnosed(visitor.page, [{**ILL[1], "check": "run_key_held_twice"}])
    page = looked_at(visitor)
    page.get_by_role("button", name="Repair run_key_held_twice").click()
    page.get_by_label("Reason").fill("to see")
    page.get_by_role("dialog").get_by_role("button", name="Repair").click()

    expect(page.get_by_role("dialog").get_by_role("alert")).to_contain_text("not_repairable")


def test_a_tenant_has_no_such_page(visitor: Visitor) -> None:
    page = visitor.open("#/doctor", key="tenant_key")

    expect(page.get_by_text("This page needs a key of an operator.")).to_be_visible()
    expect(page.get_by_role("link", name="Doctor")).to_have_count(0)


def test_it_is_fit_for_a_narrow_window_in_japanese(browser: Browser, stack: Stack) -> None:
    with visiting(browser, stack, width=360, language="ja", colours="dark") as visitor:
        diagnosed(visitor.page, ILL)
        page = looked_at(visitor, ask="今すぐ検査")
        page.get_by_text("合格した検査 1件").click()
        expect(page.get_by_role("status")).to_contain_text("3件の検査が不合格です。")
        assert visitor.hindrances() == []
        assert not visitor.overflows()
