"""What a form finds wrong itself is told in the language that is shown, also when that changes."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.console.form import button, opened
from tests.console.visitor import Visitor


def test_the_form_of_a_job_tells_its_faults_anew(visitor: Visitor) -> None:
    page = opened(visitor, kind="summarize", key="tenant_key")
    button(page).click()
    expect(page.get_by_role("alert")).to_contain_text("There is nothing to work on yet.")
    expect(page.get_by_role("alert")).to_be_focused()
    language = page.locator(".preferences").get_by_label("Language")
    language.focus()
    language.select_option("ja")

    expect(page.get_by_role("alert")).not_to_contain_text("nothing to work on")
    expect(page.get_by_role("alert")).not_to_be_focused()


def test_the_form_of_a_schedule_tells_its_faults_anew(visitor: Visitor) -> None:
    page = visitor.open("#/schedules/-", key="tenant_key")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("A name has up to 100 letters")).to_be_visible()
    page.locator(".preferences").get_by_label("Language").select_option("ja")

    expect(page.locator(".faults").first).not_to_contain_text("A name has")


def test_the_way_in_tells_its_refusal_anew(visitor: Visitor) -> None:
    page = visitor.open()
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_have_text("Paste a key first.")
    page.get_by_label("Language").select_option("ja")

    expect(page.get_by_role("alert")).to_have_text("キーを貼り付けてください。")
