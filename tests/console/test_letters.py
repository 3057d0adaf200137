"""Dead letters in the console: from the groups to one letter, and what is done about it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.console.buried import bury, refuse
from tests.console.visitor import Visitor, visiting
from tests.support.running import Stack
from uketsuke.domain.bulk_redrive import RedriveState, SkipReason, StoppedBecause
from uketsuke.domain.dead_letter import LetterStatus, Verdict
from uketsuke.domain.failure import ErrorClass, Road
from uketsuke.domain.lifecycle import Outcome

EVIL = "<img src=x onerror=alert(1)>\u202eevil"
WORDS = {
    "classes": ErrorClass,
    "roads": Road,
    "verdicts": Verdict,
    "letterStatuses": LetterStatus,
    "outcomes": Outcome,
    "redriveStates": RedriveState,
    "stops": StoppedBecause,
    "skips": SkipReason,
}


@pytest.fixture
def key(stack: Stack) -> str:
    """A tenant of the test's own."""
    return stack.tenant()


@pytest.fixture
def tenant(stack: Stack, key: str) -> str:
    return stack.tenant_of(key)


def see(visitor: Visitor, letter: str) -> Page:
    page = visitor.open(f"#/dead-letters/{letter}", key="operator_key")
    expect(page.get_by_text(letter)).to_be_visible()
    return page


def ask(page: Page, what: str, *, reason: str) -> Locator:
    """Open the dialog of an act and give the reason."""
    page.get_by_role("button", name=f"{what}…").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Reason").fill(reason)
    return dialog


def redriven_to(stack: Stack, letter: str) -> str:
    (row,) = stack.d1("SELECT redriven_to FROM dead_letters WHERE id = ?1", letter)
    return str(row["redriven_to"])


def shown(stack: Stack, letter: str) -> dict[str, Any]:
    with stack.api("operator_key") as operator:
        found: dict[str, Any] = operator.get(f"/v1/dead-letters/{letter}").json()
    return found


def test_every_name_of_the_api_has_words_in_both_languages(visitor: Visitor) -> None:
    page = visitor.open()

    for name, members in WORDS.items():
        told = page.evaluate(
            "name => import('/console/words/names.js').then(all => "
            "[Object.keys(all[name].en), Object.keys(all[name].ja)])",
            name,
        )
        assert [set(each) for each in told] == [set(members), set(members)], name


def test_a_group_leads_to_its_letters_and_a_redrive_to_the_new_job(
    visitor: Visitor, tenant: str
) -> None:
    bury(visitor.stack, tenant, 2)
    (*_, letter) = bury(visitor.stack, tenant, 1, code="storage_unavailable")
    page = visitor.open(f"#/dead-letters?tenant={tenant}", key="operator_key")
    rows = page.get_by_role("row").filter(has_text="Provider unavailable")
    expect(rows.first).to_contain_text("provider_unavailable")
    expect(rows.first).to_contain_text("Redrive once the cause is over")

    rows.filter(has_text="storage_unavailable").get_by_role(
        "link", name="Provider unavailable"
    ).click()
    expect(page.get_by_role("row")).to_have_count(2)  # the head, and the one
    page.get_by_role("link", name=f"dl_…{letter[-8:]}").click()
    expect(page.get_by_text("Every attempt failed")).to_be_visible()
    expect(page.get_by_text("past due")).to_be_visible()
    dialog = ask(page, "Redrive", reason="the outage is over")
    expect(dialog).to_contain_text(f"A new job of \u2068{tenant}\u2069 starts")
    dialog.get_by_role("button", name="Redrive").click()

    expect(page).to_have_url(re.compile(r"#/jobs/job_\w{26}$"))
    assert page.url.endswith(redriven_to(visitor.stack, letter))


def test_a_letter_shows_its_attempts_and_wants_a_patch(
    visitor: Visitor, key: str, tenant: str
) -> None:
    letter = refuse(visitor.stack, key)
    page = see(visitor, letter)
    expect(page.get_by_text("Mend the input with a patch, or discard")).to_be_visible()
    attempt = page.get_by_role("table", name="Attempts").get_by_role("row").nth(1)
    expect(attempt).to_contain_text("Refused by policy")
    expect(attempt).to_contain_text("provider_refused")

    dialog = ask(page, "Redrive", reason="in fewer words")
    verb = dialog.get_by_role("button", name="Redrive")
    expect(verb).to_be_disabled()
    dialog.get_by_label("More, as a JSON merge patch").fill('{"params": {')
    expect(dialog.get_by_text("This is not JSON.")).to_be_visible()
    dialog.get_by_label("More, as a JSON merge patch").fill('{"params": {"max_words": 5}}')
    dialog.get_by_label("Attempts at most").fill("2")
    verb.click()
    expect(dialog.get_by_role("alert")).to_contain_text("/patch/params/max_words")
    dialog.get_by_label("More, as a JSON merge patch").fill('{"params": {"max_words": 50}}')
    verb.click()

    expect(page).to_have_url(re.compile("#/jobs/job_"))
    with visitor.stack.api(key) as api:
        assert api.get(f"/v1/jobs/{redriven_to(visitor.stack, letter)}").json()["max_attempts"] == 2


def test_a_patch_is_held_to_its_bounds_before_it_is_sent(visitor: Visitor, tenant: str) -> None:
    (letter,) = bury(visitor.stack, tenant, 1)
    page = see(visitor, letter)
    dialog = ask(page, "Redrive", reason="with more money")
    dialog.get_by_text("Change what the job was asked with").click()

    dialog.get_by_label("Attempts at most").fill("21")
    dialog.get_by_label("Deadline, in seconds").fill("7200")
    dialog.get_by_label("Cost at most").fill("0.0000001")
    dialog.get_by_label("More, as a JSON").fill('{"deadline_seconds": 60}')

    for said in ("from 1 to 20", "that is 2 hr", "an amount above 0", "deadline_seconds is given"):
        expect(dialog.get_by_text(said)).to_be_visible()
    expect(dialog.get_by_role("button", name="Redrive")).to_be_disabled()


def test_a_line_that_was_redriven_often_is_forced_only_where_the_api_asks_for_it(
    visitor: Visitor, tenant: str
) -> None:
    (letter,) = bury(visitor.stack, tenant, 1, redrives=3)
    page = see(visitor, letter)
    dialog = ask(page, "Redrive", reason="it is really over")
    force = dialog.get_by_label("Redrive it all the same")
    expect(dialog).to_contain_text("redriven 3 times already")
    expect(force).to_have_count(0)
    dialog.get_by_role("button", name="Redrive").click()
    expect(dialog.get_by_role("alert")).to_contain_text("Its line was redriven 3 times already")

    force.check()
    dialog.get_by_role("button", name="Redrive").click()

    expect(page).to_have_url(re.compile("#/jobs/job_"))


def test_who_comes_second_is_led_to_the_job_of_the_first(visitor: Visitor, tenant: str) -> None:
    (letter,) = bury(visitor.stack, tenant, 1)
    page = see(visitor, letter)
    dialog = ask(page, "Redrive", reason="too late")
    with visitor.stack.api("operator_key") as operator:
        body = {"reason": "quicker"}
        operator.post(f"/v1/dead-letters/{letter}/redrive", json=body).raise_for_status()
    dialog.get_by_role("button", name="Redrive").click()

    expect(dialog.get_by_role("alert")).to_contain_text("It is redriven once.")
    link = dialog.get_by_role("link", name="Go to the job of the first redrive")
    expect(link).to_have_attribute("href", f"#/jobs/{redriven_to(visitor.stack, letter)}")
    expect(dialog.get_by_role("button", name="Redrive")).to_be_disabled()
    page.keyboard.press("Escape")
    expect(page.get_by_role("region", name="What was done")).to_contain_text("quicker")


def test_an_input_that_is_gone_is_said_and_offers_no_redrive_as_it_was(
    visitor: Visitor, tenant: str
) -> None:
    (letter,) = bury(visitor.stack, tenant, 1)
    job = letter.replace("dl_", "job_")
    page = see(visitor, letter)
    visitor.stack.d1("DELETE FROM submissions WHERE tenant_id = ?1 AND job_id = ?2", tenant, job)
    dialog = ask(page, "Redrive", reason="the outage is over")
    dialog.get_by_role("button", name="Redrive").click()

    expect(dialog.get_by_role("alert")).to_contain_text("A patch may bring another.")
    assert shown(visitor.stack, letter)["status"] == "open"


def test_a_letter_is_discarded_for_a_reason_that_stays_text(visitor: Visitor, tenant: str) -> None:
    (letter,) = bury(visitor.stack, tenant, 1)
    page = see(visitor, letter)
    page.get_by_role("button", name="Discard…").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("there is no way back")
    expect(dialog.get_by_role("button", name="Discard")).to_be_disabled()
    dialog.get_by_label("Reason").fill(EVIL)
    dialog.get_by_role("button", name="Discard").click()
    expect(dialog.get_by_role("alert")).to_contain_text("as one line, without control characters")
    dialog.get_by_label("Reason").fill(f"{EVIL[:-5]}\nand a line")
    dialog.get_by_role("button", name="Discard").click()

    done = page.get_by_role("region", name="What was done")
    expect(done).to_contain_text("<img src=x onerror=alert(1)> and a line")
    expect(page.get_by_role("button", name="Redrive…")).to_have_count(0)
    assert shown(visitor.stack, letter)["status"] == "discarded"


def test_a_message_of_no_job_shows_its_shape_and_can_only_be_discarded(visitor: Visitor) -> None:
    (name,), _ = visitor.stack.deliver("uketsuke-jobs", [{"<b>who": ["knows", 1]}])
    (row,) = visitor.stack.d1("SELECT id FROM dead_letters WHERE message_id = ?1", name)
    page = see(visitor, row["id"])

    expect(page.get_by_role("region", name="The message")).to_contain_text(name)
    expect(page.get_by_text("Find out who sends it and mend that, then discard")).to_be_visible()
    expect(page.get_by_role("button", name="Redrive…")).to_have_count(0)
    dialog = ask(page, "Discard", reason="nobody sends it any more")
    dialog.get_by_role("button", name="Discard").click()
    expect(page.get_by_role("region", name="What was done")).to_contain_text("nobody sends it")


def test_a_redrive_is_asked_for_by_keyboard_alone(visitor: Visitor, tenant: str) -> None:
    (letter,) = bury(visitor.stack, tenant, 1)
    page = see(visitor, letter)
    button = page.get_by_role("button", name="Redrive…")
    button.focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_be_visible()
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(button).to_be_focused()
    page.keyboard.press("Enter")
    expect(dialog).to_be_visible()
    reason = dialog.get_by_label("Reason")
    until_focused(page, reason)
    page.keyboard.type("it is over")
    until_focused(page, dialog.get_by_role("button", name="Redrive"))
    page.keyboard.press("Enter")

    expect(page).to_have_url(re.compile("#/jobs/job_"))


def until_focused(page: Page, wanted: Locator) -> None:
    for _ in range(12):
        if wanted.evaluate("element => element === document.activeElement"):
            return
        page.keyboard.press("Tab")
    raise AssertionError("it is not reached by Tab")


@contextmanager
def odd_tenant(stack: Stack) -> Iterator[str]:
    """A tenant whose name is an attack; nothing of it stays in the shared stack."""
    name = EVIL + "x" * 3_000
    try:
        yield name
    finally:
        for table in ("dead_letters", "submissions", "jobs"):
            stack.d1(f"DELETE FROM {table} WHERE tenant_id = ?1", name)  # noqa: S608


def test_what_others_named_stays_text_and_wraps(browser: Browser, stack: Stack) -> None:
    with odd_tenant(stack) as tenant, visiting(browser, stack, width=360) as visitor:
        (letter,) = bury(stack, tenant, 1, code="c" * 2_000)
        page = see(visitor, letter)
        expect(page.get_by_text(tenant)).to_be_visible()
        assert not visitor.overflows()
        page.get_by_role("button", name="Redrive…").click()
        expect(page.get_by_role("dialog")).to_contain_text(
            f"A new job of \u2068{tenant}\u2069 starts"
        )
        visitor.open("#/dead-letters/list")
        expect(page.get_by_text(tenant)).to_be_visible()
        assert not visitor.overflows()
        assert page.locator("img").count() == 0


def test_the_pages_are_narrow_and_japanese_too(browser: Browser, stack: Stack, key: str) -> None:
    tenant = stack.tenant_of(key)
    letter = refuse(stack, key)
    bury(stack, tenant, 1)
    with visiting(browser, stack, width=360, language="ja", colours="dark") as visitor:
        page = visitor.open(f"#/dead-letters?tenant={tenant}", key="operator_key")
        expect(page.get_by_text("パッチで入力を直して再実行、または破棄")).to_be_visible()
        assert (visitor.hindrances(), visitor.overflows()) == ([], False)
        visitor.picture("letters-groups-ja-360-dark")
        visitor.open(f"#/dead-letters/list?tenant={tenant}")
        expect(page.get_by_role("heading", name="デッドレター一覧")).to_be_visible()
        expect(page.get_by_text("provider_refused")).to_be_visible()
        assert (visitor.hindrances(), visitor.overflows()) == ([], False)
        visitor.open(f"#/dead-letters/{letter}")
        expect(page.get_by_text("試行の履歴").first).to_be_visible()
        assert (visitor.hindrances(), visitor.overflows()) == ([], False)
        visitor.picture("letters-one-ja-360-dark")
        page.get_by_role("button", name="再実行…").click()
        expect(page.get_by_role("dialog")).to_contain_text("このままでは再実行できません")
        assert (visitor.hindrances(), visitor.overflows()) == ([], False)
        visitor.picture("letters-redrive-ja-360-dark")


def test_a_tenants_key_finds_no_dead_letters(visitor: Visitor) -> None:
    page = visitor.open("#/dead-letters", key="tenant_key")

    expect(page.get_by_text("This page needs a key of an operator.")).to_be_visible()
    expect(page.get_by_role("link", name="Dead letters")).to_have_count(0)
