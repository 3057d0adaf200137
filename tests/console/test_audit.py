"""The audit in the console: who did what, to what and why, and where each of that leads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, expect

from tests.console.visitor import Visitor, visiting
from tests.support.letters import letters_of
from tests.support.running import Stack

REASON = "<img src=x onerror=alert(1)> " + "w" * 400


@dataclass(frozen=True, kw_only=True)
class Acts:
    """What an operator did about two dead letters of a tenant of the test's own."""

    tenant: str
    key: str
    redriven: str
    job: str
    discarded: str


@pytest.fixture
def acts(stack: Stack) -> Acts:
    key = stack.tenant()
    tenant = stack.tenant_of(key)
    put = [{"sql": each.sql, "params": list(each.params)} for each in letters_of(tenant, 2)]
    stack.post("/d1", {"batch": put})
    with stack.api("operator_key") as api:
        one, other = api.get(f"/v1/dead-letters?tenant={tenant}").json()["items"]
        answers: list[Any] = [
            api.post(f"/v1/dead-letters/{one['id']}/redrive", json={"reason": "it is over"}),
            api.post(f"/v1/dead-letters/{other['id']}/discard", json={"reason": REASON}),
        ]
    assert [answer.status_code for answer in answers] == [202, 200], answers[1].text
    job = answers[0].json()["id"]
    return Acts(tenant=tenant, key=key, redriven=one["id"], job=job, discarded=other["id"])


def row(visitor: Visitor, text: str) -> Locator:
    return visitor.page.get_by_role("row").filter(has_text=text)


def test_an_operator_sees_each_act_and_is_led_to_what_it_was_about(
    visitor: Visitor, acts: Acts
) -> None:
    page = visitor.open(f"#/audit?tenant={acts.tenant}", key="operator_key")

    expect(page.get_by_role("row")).to_have_count(3)
    expect(page.get_by_role("row").nth(1)).to_contain_text("Dead letter discarded")  # the newest
    redriven = row(visitor, "Dead letter redriven")
    expect(redriven).to_contain_text("it is over")
    expect(redriven.get_by_title(acts.redriven)).to_have_attribute(
        "href", f"#/dead-letters/{acts.redriven}"
    )
    redriven.get_by_text("Details").click()
    expect(redriven.get_by_title(acts.job)).to_have_attribute("href", f"#/jobs/{acts.job}")
    expect(row(visitor, "Dead letter discarded")).to_contain_text(REASON)


def test_filters_are_in_the_url_and_narrow_the_list(visitor: Visitor, acts: Acts) -> None:
    page = visitor.open(f"#/audit?tenant={acts.tenant}", key="operator_key")
    page.get_by_label("Act", exact=True).select_option("dead_letter.discarded")
    expect(page.get_by_role("row")).to_have_count(2)
    page.get_by_label("Target").fill(acts.redriven)
    page.keyboard.press("Enter")
    expect(page.get_by_text("Nothing that fits was done.")).to_be_visible()
    page.reload()

    expect(page.get_by_label("Target")).to_have_value(acts.redriven)
    expect(page.get_by_text("Nothing that fits was done.")).to_be_visible()
    page.get_by_role("button", name="Clear the filters").click()
    expect(page.get_by_label("Tenant")).to_have_value("")


def test_a_tenant_sees_its_own_in_a_narrow_window_and_is_led_to_its_jobs(
    browser: Browser, stack: Stack, acts: Acts
) -> None:
    with visiting(browser, stack, width=360, language="ja", colours="dark") as visitor:
        page = visitor.open("#/audit", key=acts.key)
        redriven = row(visitor, "デッドレターの再実行")
        expect(redriven.get_by_title(acts.redriven)).to_have_attribute(
            "href", f"#/jobs/job_{acts.redriven[3:]}"
        )
        expect(page.get_by_label("テナント")).to_have_count(0)
        assert visitor.hindrances() == []
        assert not visitor.overflows()
