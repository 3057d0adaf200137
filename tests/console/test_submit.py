"""Asking for work in the console: the form, what it refuses, and what is sent for it."""

from __future__ import annotations

import json
import secrets
from typing import Any, Final

from playwright.sync_api import Browser, Request, Route, expect

from tests.acceptance.runs import Desk, slow
from tests.acceptance.test_sources import COFFEE
from tests.console.form import button, drop, file, opened, sent
from tests.console.visitor import Visitor, visiting
from tests.support.jobs import ended, submit
from tests.support.running import Stack

TEXT: Final = "The reception desk takes each request once. Nothing is lost. " * 4
SCRIPT: Final = "<script>document.title = 'taken'</script><img src=x onerror=alert(1)>"
LONG: Final = "\u202e長" + "w" * 500


def jobs_of(stack: Stack, key: str) -> list[dict[str, Any]]:
    with stack.api(key) as api:
        items: list[dict[str, Any]] = api.get("/v1/jobs").json()["items"]
    return items


def test_a_text_is_submitted_and_the_page_follows_the_id_that_it_got(visitor: Visitor) -> None:
    key = visitor.stack.tenant()
    page = opened(visitor, kind="summarize", key=key)
    page.get_by_label("Text", exact=True).fill(TEXT + SCRIPT)
    page.get_by_label("Words at most").fill("20")
    page.get_by_label("Style").select_option("bullets")
    page.locator("summary").click()
    page.get_by_label("Run key", exact=True).fill(SCRIPT)
    page.get_by_role("button", name="Add a pair").click()
    page.get_by_label("Name 1").fill("__proto__")
    page.get_by_label("Value 1").fill(SCRIPT)

    asked = sent(page)

    expect(visitor.heading).to_have_text("Summary")
    (job,) = jobs_of(visitor.stack, key)
    assert page.url.endswith(f"/console/#/jobs/{job['id']}")
    assert asked == {
        "kind": "summarize",
        "input": {"text": TEXT + SCRIPT},
        "params": {"max_words": 20, "style": "bullets"},
        "run_key": SCRIPT,
        "metadata": {"__proto__": SCRIPT},
    }
    assert job["metadata"] == {"__proto__": SCRIPT}
    expect(page.locator(".result")).to_contain_text("reception desk")
    expect(page.get_by_text(SCRIPT).first).to_be_visible()
    assert page.locator("main script, main img").count() == 0


def test_the_form_is_what_the_api_describes(visitor: Visitor) -> None:
    def with_a_new_kind(route: Route) -> None:
        described = route.fetch().json()
        schemas = described["components"]["schemas"]
        schemas["ComposeParams"] = {
            "description": SCRIPT,
            "properties": {
                "bars": {"type": "integer", "minimum": 4, "maximum": 64, "default": 8},
                "mood": {"enum": ["merry", "sad"], "default": "sad"},
                "aloud": {"type": "boolean", "default": False},
                "notes": {"type": "array", "items": {"type": "string"}},
                "sung/by": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
            },
        }
        new = {
            "properties": {
                "kind": {"const": "compose"},
                "params": {"$ref": "#/components/schemas/ComposeParams"},
                "input": {"oneOf": [{"required": ["text"]}]},
            }
        }
        schemas["Submission"]["allOf"][1]["oneOf"].append(new)
        route.fulfill(json=described)

    visitor.page.route("**/openapi.json", with_a_new_kind)
    page = opened(visitor, kind="compose", key="tenant_key")
    expect(page.get_by_role("radio", name="compose")).to_be_checked()
    expect(page.get_by_text(SCRIPT)).to_be_visible()
    expect(page.get_by_label("mood").locator("option").first).to_have_text("sad")
    page.get_by_label("Text", exact=True).fill("la")
    page.get_by_label("bars").fill("16")
    page.get_by_label("mood").select_option("merry")
    page.get_by_label("aloud").select_option("true")
    page.get_by_label("notes").fill('["c", "e"]')
    page.get_by_label("sung/by").fill("all")

    asked = sent(page)

    assert asked["params"] == {
        "bars": 16, "mood": "merry", "aloud": True, "notes": ["c", "e"], "sung/by": "all"
    }  # fmt: skip
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("This deployment knows the kinds")
    alert.get_by_role("link").first.click()
    expect(page.get_by_role("group", name="Kind")).to_be_focused()


def test_each_fault_stands_at_its_field_and_the_list_of_them_leads_there(visitor: Visitor) -> None:
    page = opened(visitor, kind="summarize", key="tenant_key")
    page.get_by_label("Text", exact=True).fill(TEXT)
    page.get_by_label("Words at most").fill("many")
    page.locator("summary").click()
    page.get_by_label("Deadline").fill("0")
    page.locator("summary").click()
    button(page).click()

    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("2 things must be mended")
    expect(alert).to_be_focused()
    words = page.get_by_label("Words at most")
    expect(words).to_have_attribute("aria-invalid", "true")
    expect(words).to_have_accessible_description("10 to 1,000 Give a whole number here.")
    alert.get_by_role("link", name="/deadline_seconds").click()
    expect(page.get_by_label("Deadline")).to_be_focused()
    assert visitor.hindrances() == []


def test_an_answer_that_is_lost_and_a_double_click_start_one_job(visitor: Visitor) -> None:
    key = visitor.stack.tenant()
    page = opened(visitor, kind="embed", key=key)
    keys: list[str] = []

    def lose_the_first(route: Route, request: Request) -> None:
        if request.method != "POST":
            route.fallback()
            return
        keys.append(request.headers["idempotency-key"])
        answer = route.fetch()
        if len(keys) == 1:
            route.abort("connectionreset")
        else:
            route.fulfill(response=answer)

    page.route("**/v1/jobs", lose_the_first)
    page.get_by_label("Texts", exact=True).fill("one\ntwo")
    button(page).dblclick()
    expect(page.get_by_text("sending the same again starts it once")).to_be_visible()
    visitor.complaints.clear()  # Chromium tells of the connection
    button(page, "Send it again").dblclick()

    expect(visitor.heading).to_have_text("Embedding")
    (job,) = jobs_of(visitor.stack, key)
    assert page.url.endswith(job["id"])
    assert len(keys) == 2
    assert keys[0] == keys[1]


def test_a_run_key_that_is_taken_leads_to_the_live_job(visitor: Visitor) -> None:
    with Desk.open(visitor.stack) as desk:
        live = desk.start(slow(20), run_key="nightly")
        page = opened(visitor, kind="summarize", key=desk.key)
        page.get_by_label("Text", exact=True).fill(TEXT)
        page.locator("summary").click()
        page.get_by_label("Run key", exact=True).fill("nightly")
        button(page).click()

        link = page.get_by_role("link", name=live)
        expect(link).to_have_attribute("href", f"#/jobs/{live}")
        desk.api.post(f"/v1/jobs/{live}/cancel")


def test_a_file_that_is_dropped_is_uploaded_and_its_passages_are_compared(visitor: Visitor) -> None:
    key = visitor.stack.tenant()
    passages = ["The desk takes a request.", "A request is taken at the desk.", f"{SCRIPT} {LONG}"]
    page = opened(visitor, kind="embed", key=key)
    drop(page, name=f"{SCRIPT}.jsonl", content="\n".join(map(json.dumps, passages)))
    expect(page.get_by_role("list", name="Chosen files")).to_contain_text(f"{SCRIPT}.jsonl")
    button(page).click()

    near = page.get_by_role("list", name="Nearest to passage 1")
    expect(near.get_by_role("listitem").first).to_contain_text(passages[1])
    near.get_by_role("button", name="Passage 3").click()
    expect(page.get_by_role("list", name="Nearest to passage 3")).to_be_visible()
    expect(page.get_by_role("blockquote")).to_have_text(passages[2])
    assert page.locator("main script, main img").count() == 0
    page.reload()
    expect(page.get_by_text("The texts are known only to the tab")).to_be_visible()


def test_a_recording_is_uploaded_and_its_end_is_followed(visitor: Visitor) -> None:
    trace = f"00-{secrets.token_hex(16)}-{secrets.token_hex(8)}-01"
    visitor.trace(trace)
    match = {"traceparent": trace}
    visitor.stack.order(count=1, route="transcriptions", status=422, match=match)
    page = opened(visitor, kind="transcribe", key=visitor.stack.tenant())
    page.get_by_label("File", exact=True).set_input_files([file("coffee.ogg", COFFEE)])
    button(page).click()

    expect(visitor.heading).to_have_text("Transcript")
    expect(page.get_by_text("Failed", exact=True).first).to_be_visible()


def test_files_and_earlier_jobs_become_one_report(visitor: Visitor) -> None:
    key = visitor.stack.tenant()
    with visitor.stack.api(key) as api:
        earlier = ended(api, submit(api))["id"]
    page = opened(visitor, kind="report", key=key)
    page.get_by_role("radio", name="Files").check()
    one = file("a.txt", f"{TEXT}\n[a](javascript:b)".encode())
    page.get_by_label("Files", exact=True).last.set_input_files([one, file("b.txt", b"b")])
    page.get_by_role("button", name="Remove b.txt").click()
    page.get_by_label("Ids of earlier jobs or uploads").fill(earlier)
    page.get_by_label("Title").fill(SCRIPT)
    asked = sent(page)

    assert asked["input"]["refs"][0] == earlier
    assert [ref[:3] for ref in asked["input"]["refs"]] == ["job", "in_"]
    expect(page.get_by_role("heading", level=3).first).to_have_text(SCRIPT)
    expect(page.locator(".result")).to_contain_text("2 sources")
    assert page.locator("main script, main img, a[href^=javascript]").count() == 0


def test_a_text_that_is_long_as_json_is_uploaded_first_and_a_refusal_is_told_in_the_apis_words(
    visitor: Visitor,
) -> None:
    page = opened(visitor, kind="summarize", key=visitor.stack.tenant())
    detail = "There is too much work already."
    problem = {"code": "unavailable", "status": 503, "detail": detail}

    def refuse(route: Route, request: Request) -> None:
        if request.method == "POST":
            route.fulfill(status=503, json=problem, content_type="application/problem+json")
        else:
            route.fallback()

    page.route("**/v1/jobs", refuse)
    page.get_by_label("Text", exact=True).fill("\x01" * 90_000)  # in JSON six letters each
    asked = sent(page)
    again = sent(page)

    assert asked["input"]["ref"].startswith("in_")
    assert again == asked
    assert len([r for r in visitor.requests if r.method == "PUT"]) == 1
    expect(page.get_by_role("alert")).to_contain_text(detail)


def test_what_cannot_be_worked_is_told_before_anything_is_sent(visitor: Visitor) -> None:
    page = opened(visitor, kind="transcribe", key="tenant_key")
    expect(page.get_by_label("File", exact=True)).to_have_accessible_description(
        "WAV, MP3, M4A, FLAC or OGG, up to 25 MB where nothing else was set. "
        "An upload may have up to 100 MB."
    )
    button(page).click()
    expect(page.get_by_role("alert")).to_contain_text("No file has been chosen.")
    page.get_by_label("File", exact=True).set_input_files([file("empty.wav", b"")])
    button(page).click()

    expect(page.get_by_role("alert")).to_contain_text("This file is empty: empty.wav")
    assert not [r for r in visitor.requests if r.method in {"PUT", "POST"}]


def test_a_key_that_may_not_write_gets_no_form(visitor: Visitor) -> None:
    page = visitor.open("#/submit", key="operator_key")

    expect(page.get_by_text("This page needs a key of a tenant that may write.")).to_be_visible()
    expect(page.get_by_role("link", name="Submit")).to_have_count(0)


def test_the_form_has_room_on_a_narrow_screen_in_japanese(browser: Browser, stack: Stack) -> None:
    with visiting(browser, stack, width=360, language="ja", colours="dark") as visitor:
        page = visitor.open("#/submit?kind=report", key="tenant_key")
        page.get_by_role("radio", name="ファイル").check()
        page.locator("summary").click()
        page.get_by_role("button", name="組を追加").click()
        page.get_by_label("名前 1").fill(LONG)
        drop(page, name=LONG, content="")
        page.get_by_role("button", name="依頼する").click()
        expect(page.get_by_role("alert")).to_contain_text("空のファイルです")

        assert visitor.hindrances() == []
        assert not visitor.overflows()
        visitor.picture("submit-ja-360")
