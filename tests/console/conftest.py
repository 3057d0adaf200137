"""The console in a real browser, against the real stack."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.console.browser import browsing
from tests.console.visitor import Visitor, visiting
from tests.support.running import Stack


# A module's, not the session's: while it is open, no other test could run an event loop.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with browsing() as opened:
        yield opened


@pytest.fixture
def visitor(browser: Browser, stack: Stack) -> Iterator[Visitor]:
    """A wide window, in English, in daylight."""
    with visiting(browser, stack) as opened:
        yield opened
