"""All pages, full of hostile text: nothing of it runs, nobody is shut out, nothing overflows.

Each page's picture is kept under ``artefacts/console``, for people to look at.
"""

from __future__ import annotations

from itertools import groupby

import pytest
from playwright.sync_api import Browser

from tests.console.furnished import Furnished, furnish
from tests.console.places import Place, places
from tests.console.visitor import NARROW, WIDE, Colours, Language, Visitor, visiting
from tests.support.running import Stack


@pytest.fixture(scope="module")
def furnished(stack: Stack) -> Furnished:
    return furnish(stack)


def test_the_gallery_shows_every_page(visitor: Visitor, furnished: Furnished) -> None:
    page = visitor.open()
    patterns = page.evaluate(
        "import('/console/pages.js').then(({PAGES}) => PAGES.map(page => page.pattern))"
    )

    assert {place.pattern for place in places(furnished)} == set(patterns)


@pytest.mark.parametrize(
    ("width", "language", "colours"), [(WIDE, "en", "light"), (NARROW, "ja", "dark")]
)
def test_every_page_is_open_to_all_and_harmless(
    browser: Browser,
    stack: Stack,
    furnished: Furnished,
    width: int,
    language: Language,
    colours: Colours,
) -> None:
    faults: list[str] = []
    with visiting(browser, stack, width=width, language=language, colours=colours) as visitor:
        for key, rooms in groupby(places(furnished), key=lambda place: place.key):
            visitor.open(key=key)
            for place in rooms:
                faults += [f"{place.name}: {fault}" for fault in _look(visitor, place)]
                visitor.picture(f"{place.name}-{width}-{language}-{colours}")

    assert faults == []


def _look(visitor: Visitor, place: Place) -> list[str]:
    visitor.open(place.address)
    visitor.settle()
    shown = visitor.page.locator("#content")
    faults = visitor.hindrances()
    if visitor.overflows():
        faults.append("wider than the window")
    if shown.locator("script, img[src='x'], svg[onload], [onerror], [onload]").count():
        faults.append("text became markup")
    if shown.locator("a[href^='javascript:']").count():
        faults.append("a link would run text")
    if shown.get_by_role("alert").count():
        faults.append(f"says {shown.get_by_role('alert').first.inner_text()!r}")
    return faults
