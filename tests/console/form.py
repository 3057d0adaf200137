"""The form of the console that asks for work, as somebody fills it in."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import FilePayload, Locator, Page, expect

from tests.console.visitor import Visitor


def opened(visitor: Visitor, *, kind: str, key: str) -> Page:
    page = visitor.open(f"#/submit?kind={kind}", key=key)
    expect(button(page)).to_be_visible()
    return page


def button(page: Page, name: str = "Submit") -> Locator:
    return page.get_by_role("button", name=name, exact=True)


def sent(page: Page) -> dict[str, Any]:
    """Press the button, and return the document that asks for the job."""
    with page.expect_request(lambda request: request.method == "POST") as asked:
        button(page).click()
    document: dict[str, Any] | None = asked.value.post_data_json
    assert document is not None
    return document


def file(name: str, content: bytes) -> FilePayload:
    return {"name": name, "mimeType": "application/octet-stream", "buffer": content}


def drop(page: Page, *, name: str, content: str) -> None:
    """Drop a file onto the page, beside the place for it."""
    page.evaluate(
        """({name, content}) => {
          const carried = new DataTransfer();
          carried.items.add(new File([content], name));
          document.querySelector("h1").dispatchEvent(
            new DragEvent("drop", {dataTransfer: carried, bubbles: true, cancelable: true}));
        }""",
        {"name": name, "content": content},
    )
