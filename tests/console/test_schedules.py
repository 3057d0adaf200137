"""Schedules in the console: the list, one of them, the form, and each act with its question."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.console.modules import run_module
from tests.console.visitor import Visitor, visiting
from tests.support.running import Stack

SOUND: dict[str, Any] = {
    "cron": "30 7 * * *",
    "timezone": "Europe/Berlin",
    "kind": "summarize",
    "input": {"text": "<script>alert(1)</script> The reception desk takes each request once. " * 9},
    "params": {"max_words": 50},
    "enabled": False,
}


@dataclass(frozen=True, kw_only=True)
class Owner:
    """A tenant of the test's own: its key, its id, and its client."""

    key: str
    tenant: str
    api: httpx.Client

    def put(self, name: str, **members: Any) -> None:
        answer = self.api.put(f"/v1/schedules/{name}", json={**SOUND, **members})
        assert answer.is_success, answer.text

    def read(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = self.api.get(f"/v1/schedules/{name}").json()
        return found


@pytest.fixture
def owner(stack: Stack) -> Iterator[Owner]:
    key = stack.tenant()
    with stack.api(key) as api:
        yield Owner(key=key, tenant=stack.tenant_of(key), api=api)


def test_the_list_shows_each_schedule_with_its_next_time_in_both_zones(
    visitor: Visitor, owner: Owner
) -> None:
    owner.put("digest", enabled=True)
    owner.put("idle", overlap="allow", timezone="Asia/Tokyo")
    page = visitor.open("#/schedules", key=owner.key)

    on = page.get_by_role("row").filter(has=page.get_by_role("link", name="digest"))
    expect(on).to_contain_text("7:30 AM Europe/Berlin")
    expect(on).to_contain_text("Asia/Tokyo")
    expect(on).to_contain_text("Never yet")
    expect(on).to_contain_text("Skip")
    off = page.get_by_role("row").filter(has=page.get_by_role("link", name="idle"))
    expect(off).to_contain_text("Not while it is off")
    on.get_by_role("link", name="digest").click()
    expect(visitor.heading).to_have_text("digest")
    page.get_by_text("Text (").click()
    expect(page.get_by_text("<script>alert(1)</script>")).to_be_visible()


def test_an_operator_sees_whose_it_is_and_nothing_of_its_content(
    visitor: Visitor, owner: Owner
) -> None:
    owner.put("digest")
    page = visitor.open(f"#/schedules?tenant={owner.tenant}", key="operator_key")
    page.get_by_role("link", name="digest").click()

    expect(page.get_by_text("hidden from operators")).to_be_visible()
    expect(page.get_by_text(owner.tenant)).to_be_visible()
    expect(page.get_by_role("button", name="Start now")).to_have_count(0)
    expect(page.get_by_role("link", name="Edit")).to_have_count(0)


def test_starting_one_asks_first_and_leads_to_its_job(visitor: Visitor, owner: Owner) -> None:
    owner.put("digest")
    page = visitor.open("#/schedules/digest", key=owner.key)
    page.get_by_role("button", name="Start now").click()
    dialog = page.get_by_role("dialog", name="Start digest now?")
    expect(dialog).to_contain_text("It costs what any other costs")
    dialog.get_by_role("button", name="Start now").click()

    page.wait_for_url("**/#/jobs/job_*")
    (job,) = owner.api.get("/v1/jobs").json()["items"]
    assert page.url.endswith(job["id"])
    assert job["run_key"] == "schedule:digest"


def test_while_its_job_is_live_starting_it_leads_to_that_one(
    visitor: Visitor, owner: Owner
) -> None:
    owner.put("digest")
    trace = f"00-{'5' * 32}-{'6' * 16}-01"
    visitor.stack.order(count=1, seconds=30, match={"traceparent": trace})
    live = owner.api.post("/v1/schedules/digest/trigger", headers={"traceparent": trace}).json()
    page = visitor.open("#/schedules/digest", key=owner.key)
    page.get_by_role("button", name="Start now").click()
    page.get_by_role("dialog").get_by_role("button", name="Start now").click()

    refusal = page.get_by_role("dialog").get_by_role("alert")
    expect(refusal).to_contain_text("run_in_progress")
    link = refusal.get_by_role("link")
    expect(link).to_have_attribute("href", f"#/jobs/{live['id']}")
    owner.api.post(f"/v1/jobs/{live['id']}/cancel")


def test_turning_it_on_keeps_what_another_has_changed_meanwhile(
    visitor: Visitor, owner: Owner
) -> None:
    owner.put("digest")
    page = visitor.open("#/schedules/digest", key=owner.key)
    page.get_by_role("button", name="Turn on").click()
    owner.put("digest", cron="0 9 * * *", params={"max_words": 99})
    page.get_by_role("dialog").get_by_role("button", name="Turn on").click()

    expect(page.get_by_role("button", name="Turn off")).to_be_visible()
    now = owner.read("digest")
    assert (now["enabled"], now["cron"], now["params"]) == (True, "0 9 * * *", {"max_words": 99})
    assert now["input"] == SOUND["input"]


def test_deleting_it_says_what_goes_and_can_be_left(visitor: Visitor, owner: Owner) -> None:
    owner.put("digest")
    page = visitor.open("#/schedules/digest", key=owner.key)
    page.get_by_role("button", name="Delete").click()
    expect(page.get_by_role("dialog")).to_contain_text("The jobs that it has started live on")
    page.keyboard.press("Escape")
    assert owner.read("digest")["name"] == "digest"
    page.get_by_role("button", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()

    expect(page.get_by_text("There is no schedule.")).to_be_visible()
    assert owner.api.get("/v1/schedules/digest").status_code == 404


def fill(page: Page, **fields: str) -> None:
    for label, text in fields.items():
        page.get_by_label(label.replace("_", " "), exact=True).fill(text)


def test_one_is_made_with_a_look_at_its_next_times(visitor: Visitor, owner: Owner) -> None:
    page = visitor.open("#/schedules", key=owner.key)
    page.get_by_role("link", name="New schedule").click()
    fill(page, Name="digest", Cron="0 9 1 1 *", Time_zone="UTC", Input="Words to be summarized.")
    fill(page, Parameters='{"max_words": 60}')

    preview = page.locator(".preview")
    expect(preview).to_contain_text("It would come true next")
    expect(preview.get_by_role("listitem")).to_have_count(3)
    expect(preview).to_contain_text("9:00 AM UTC")
    expect(preview).to_contain_text("6:00 PM Asia/Tokyo")
    page.get_by_role("button", name="Save").click()
    expect(visitor.heading).to_have_text("digest")
    made = owner.read("digest")
    told = {name: made[name] for name in ("cron", "timezone", "kind", "params", "run_key")}
    assert told == {
        "cron": "0 9 1 1 *",
        "timezone": "UTC",
        "kind": "summarize",
        "params": {"max_words": 60},
        "run_key": "schedule:digest",
    }


def test_each_refusal_stands_at_its_field(visitor: Visitor, owner: Owner) -> None:
    page = visitor.open("#/schedules/-", key=owner.key)
    fill(page, Name="-x", Parameters="[]")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_label("Name", exact=True)).to_be_focused()
    expect(page.get_by_text("That is no JSON object.")).to_be_visible()

    fill(page, Name="x", Parameters='{"max_wordz": 1}', Cron="61 * * * *", Time_zone="Mars/Base")
    expect(page.locator(".preview")).to_contain_text("The minute takes 0-59")
    page.get_by_role("button", name="Save").click()
    cron = page.get_by_label("Cron", exact=True)
    expect(cron).to_be_focused()
    for label in ("Cron", "Time zone", "Input", "Parameters"):
        expect(page.get_by_label(label, exact=True)).to_have_attribute("aria-invalid", "true")
    expect(page.get_by_text("/params/max_wordz")).to_be_visible()
    fill(page, Cron="1 * * * *")
    expect(page.get_by_label("Cron", exact=True)).not_to_have_attribute("aria-invalid", "true")
    expect(page.get_by_label("Cron", exact=True)).to_be_focused()
    assert owner.api.get("/v1/schedules").json()["items"] == []


def test_a_name_that_is_taken_is_not_put_over(visitor: Visitor, owner: Owner) -> None:
    owner.put("digest")
    page = visitor.open("#/schedules/-", key=owner.key)
    fill(page, Name="digest", Cron="0 0 * * *", Input="Other words.")
    page.get_by_role("button", name="Save").click()

    expect(page.get_by_role("alert")).to_contain_text("of this name already")
    assert owner.read("digest")["cron"] == SOUND["cron"]


def test_what_another_has_changed_is_shown_before_it_is_put_over(
    visitor: Visitor, owner: Owner
) -> None:
    owner.put("digest")
    page = visitor.open("#/schedules/digest/edit", key=owner.key)
    fill(page, Run_key="mine")
    owner.put("digest", cron="0 9 * * *")
    page.get_by_role("button", name="Save").click()
    clash = page.get_by_role("alert")
    expect(clash.get_by_role("listitem")).to_have_text(["cron"])
    clash.get_by_role("button", name="Show theirs, and drop mine").click()
    expect(page.get_by_label("Cron", exact=True)).to_have_value("0 9 * * *")
    expect(page.get_by_label("Run key", exact=True)).to_have_value("")

    fill(page, Run_key="mine")
    owner.put("digest", cron="0 10 * * *", params={})
    page.get_by_role("button", name="Save").click()
    expect(clash.get_by_role("listitem")).to_have_text(["cron", "params"])
    clash.get_by_role("button", name="Save mine all the same").click()
    expect(visitor.heading).to_have_text("digest")
    now = owner.read("digest")
    assert (now["run_key"], now["cron"], now["params"]) == ("mine", "0 9 * * *", SOUND["params"])


def test_each_form_of_input_comes_back_as_it_was() -> None:
    """What was not touched in the form is put as it was read."""
    usual = {**SOUND, "name": "x", "run_key": "schedule:x", "overlap": "skip"}
    known = [
        usual,
        {**usual, "input": {"texts": ["a\nb", " c ", "<b>"]}, "kind": "embed", "params": {}},
        {**usual, "input": {"ref": "in_1"}, "enabled": True},
        {**usual, "input": {"refs": ["in_1", "job_2"]}, "params": {"title": "受付", "n": [1, {}]}},
        {**usual, "overlap": "allow", "run_key": None, "input": {"text": " \n two lines\n"}},
        {**usual, "run_key": "shared by several", "timezone": "Australia/Lord_Howe"},
    ]
    script = """
    const { draftOf, readDraft } = await load("schedules/draft.js");
    tell(given.known.map((each) => readDraft(draftOf(each))));
    """

    for read, schedule in zip(run_module(script, known=known), known, strict=True):
        asked = {member: value for member, value in schedule.items() if member != "name"}
        assert read == {"wanted": asked, "faults": []}


def test_all_of_it_is_fit_for_a_narrow_window_in_japanese(
    browser: Browser, stack: Stack, owner: Owner
) -> None:
    owner.put("a" * 100, enabled=True, run_key="鍵" * 200)
    with visiting(browser, stack, width=360, language="ja", colours="dark") as visitor:
        for place, shown in (
            ("#/schedules", "次回"),
            (f"#/schedules/{'a' * 100}", "依頼の内容"),
            (f"#/schedules/{'a' * 100}/edit", "次回以降の予定"),
        ):
            page = visitor.open(place, key=owner.key)
            expect(page.get_by_text(shown).first).to_be_visible()
            assert visitor.hindrances() == []
            assert not visitor.overflows()
