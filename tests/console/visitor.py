"""Somebody in front of the console: signs in, opens pages, looks at them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

from playwright.sync_api import (
    Browser,
    ConsoleMessage,
    Dialog,
    Error,
    Locator,
    Page,
    Request,
    Route,
    expect,
)

from tests.console.browser import ROOT
from tests.support.running import Stack, until

Language = Literal["en", "ja"]
Colours = Literal["light", "dark"]
WIDE: Final = 1280
NARROW: Final = 360
AXE: Final = ROOT / "node_modules" / "axe-core" / "axe.min.js"
PICTURES: Final = Path(os.environ.get("CONSOLE_PICTURES", ROOT / "artefacts" / "console"))
# Chromium reports each answer of 4xx or 5xx on its console; those are the API's own, and shown.
_REPORTED: Final = re.compile(r"Failed to load resource: the server responded with a status of")

_TWO_FRAMES: Final = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"


@dataclass(kw_only=True)
class Visitor:
    """One tab. Whatever it complains about on its console makes the test fail at its end."""

    stack: Stack
    page: Page
    complaints: list[str] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)
    open_requests: set[Request] = field(default_factory=set)

    def broke(self, error: Error) -> None:
        self.complaints.append(str(error))

    def said(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"} and not _REPORTED.match(message.text):
            self.complaints.append(message.text)

    def alarmed(self, dialog: Dialog) -> None:
        self.complaints.append(f"a dialog opened: {dialog.message}")
        dialog.dismiss()

    def asked(self, request: Request) -> None:
        self.requests.append(request)
        self.open_requests.add(request)

    def answered(self, request: Request) -> None:
        self.open_requests.discard(request)

    def open(self, place: str = "", *, key: str | None = None) -> Page:
        """Go to a place of the console (``#/…``); with ``key``, sign in there first."""
        if key is not None:
            secret = self.stack.ready.get(key, key)
            self.page.goto(f"{self.stack.ready['url']}/console/icon.svg")
            self.page.evaluate("key => sessionStorage.setItem('uketsuke.key', key)", secret)
        self.page.goto(f"{self.stack.ready['url']}/console/{place}")
        self.page.wait_for_selector("h1")
        return self.page

    def settle(self) -> None:
        """Wait until what the page has asked for is there, and shown."""
        self.page.evaluate(_TWO_FRAMES)
        expect(self.page.locator(".loading")).to_have_count(0)
        until(self._has_all, every=0)
        self.page.evaluate(_TWO_FRAMES)

    def _has_all(self) -> bool:
        self.page.evaluate("0")  # lets what has come be told
        return not self.open_requests

    @property
    def heading(self) -> Locator:
        return self.page.get_by_role("heading", level=1)

    def trace(self, traceparent: str) -> None:
        """Send ``traceparent`` with every call from here on: faults are ordered for it."""

        def traced(route: Route, request: Request) -> None:
            route.continue_(headers={**request.headers, "traceparent": traceparent})

        self.page.route("**/v1/**", traced)

    def picture(self, name: str) -> None:
        """Keep the whole page as it is now; people look at these."""
        PICTURES.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=PICTURES / f"{name}.png", full_page=True)

    def hindrances(self) -> list[str]:
        """What axe finds that is serious: each rule with the first element that breaks it."""
        # Read in as a test, past the page's policy, which lets no such script in.
        self.page.evaluate(AXE.read_text())
        found: list[dict[str, Any]] = self.page.evaluate(
            "axe.run().then(({violations}) => violations)"
        )
        return [
            f"{each['id']}: {each['help']}: {each['nodes'][0]['html'][:300]}"
            for each in found
            if each["impact"] in {"serious", "critical"}
        ]

    def overflows(self) -> bool:
        """Whether the page is wider than the window."""
        wide: bool = self.page.evaluate(
            "document.documentElement.scrollWidth > document.documentElement.clientWidth"
        )
        return wide


@contextmanager
def visiting(
    browser: Browser,
    stack: Stack,
    *,
    width: int = WIDE,
    language: Language = "en",
    colours: Colours = "light",
) -> Iterator[Visitor]:
    """Open a tab of a fresh browser profile, and close it."""
    context = browser.new_context(
        viewport={"width": width, "height": 900},
        locale=language,
        color_scheme=colours,
        timezone_id="Asia/Tokyo",
        reduced_motion="reduce",
    )
    context.set_default_timeout(20_000)
    page = context.new_page()
    visitor = Visitor(stack=stack, page=page)
    page.on("pageerror", visitor.broke)
    page.on("dialog", visitor.alarmed)
    page.on("request", visitor.asked)
    page.on("requestfinished", visitor.answered)
    page.on("requestfailed", visitor.answered)
    page.on("console", visitor.said)
    try:
        yield visitor
        assert visitor.complaints == []
    finally:
        context.close()
