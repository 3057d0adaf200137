"""Results in the console: each shape is read as what it is, and what stands in it stays harmless.

The job is a real one; what its result holds is put in its place on the way to the page.
"""

from __future__ import annotations

import re
import struct
from typing import Any, Final

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.console.visitor import Visitor, visiting
from tests.support.jobs import ended, submit
from tests.support.running import Stack

SCRIPT: Final = "<script>document.title = 'taken'</script>"
EVIL: Final = f"""# Head {SCRIPT}

{SCRIPT}

<img src=x onerror=alert(1)> <b onclick="alert(1)">bold</b>
&lt;i&gt; &#x3c;u&#62; &unknown; `a &lt; b`

[web](https://example.com/a "title") [mail](mailto:a@example.com) [js](javascript:alert(1))
[data](data:text/html,x) [odd](jAvAscript&colon;alert(1)) [own](#/jobs) ![picture](https://example.com/p.png)
<https://example.com/auto> <javascript:alert(1)> \\<escaped\\>

- [x] done
- one
  1. **two** ~~three~~ *four*

> quoted

| left | right |
|---|---|
| {SCRIPT} | ![x](javascript:alert(1)) |

```html
<script>code</script>
```
"""
HEADING: Final = re.compile("^(Result|結果)$")
LONG: Final = "\u202e長" + "w" * 2_000


@pytest.fixture(scope="module")
def done(stack: Stack) -> tuple[str, str]:
    """A key, and the id of a job under it that has succeeded."""
    key = stack.tenant()
    with stack.api(key) as api:
        return key, str(ended(api, submit(api))["id"])


def shown(visitor: Visitor, done: tuple[str, str], result: object, **answer: Any) -> Page:
    """Open the job's page, with this as its result."""
    key, job = done

    def answered(route: Route) -> None:
        route.fulfill(**answer) if answer else route.fulfill(json=result)

    visitor.page.route("**/result", answered)
    page = visitor.open(f"#/jobs/{job}", key=key)
    expect(page.get_by_role("heading", level=2, name=HEADING)).to_be_visible()
    return page


def test_markdown_is_shown_as_such_and_nothing_in_it_acts(
    visitor: Visitor, done: tuple[str, str]
) -> None:
    page = shown(visitor, done, {"markdown": EVIL, "sources": [{"ref": SCRIPT, "missing": SCRIPT}]})
    prose = page.locator(".prose")

    expect(prose.get_by_role("heading", level=3)).to_have_text(f"Head {SCRIPT}")
    expect(prose).to_contain_text('<b onclick="alert(1)">bold</b> <i> <u> &unknown; a &lt; b')
    expect(prose.get_by_role("cell").first).to_have_text(SCRIPT)
    expect(prose.locator("pre")).to_have_text("<script>code</script>")
    expect(prose.locator("ul ol strong")).to_have_text("two")
    links = prose.get_by_role("link")
    assert links.evaluate_all("all => all.map(one => one.getAttribute('href'))") == [
        "https://example.com/a",
        "mailto:a@example.com",
        "https://example.com/p.png",
        "https://example.com/auto",
    ]
    assert links.first.get_attribute("rel") == "noopener noreferrer"
    assert page.locator("main :is(script, img, iframe, [onclick], [onerror])").count() == 0
    assert visitor.hindrances() == []


def test_markdown_without_measure_ends(visitor: Visitor) -> None:
    page = visitor.open()

    shown_as = page.evaluate("""async () => {
      const {h, render} = await import("preact");
      const {nodesOf} = await import("/console/results/markdown.js");
      const read = (markdown) => {
        const nodes = nodesOf(markdown);
        const place = document.createElement("div");
        if (nodes) render(h("div", null, nodes), place);
        return nodes && place.textContent.trim().slice(-4);
      };
      return [read("> ".repeat(20000) + "deep"), read("> ".repeat(100) + "deep"),
        read("- ".repeat(200) + "list"), read("a ".repeat(300000))];
    }""")

    assert shown_as == [None, "deep", "list", None]


def test_a_transcript_has_times_and_can_be_searched(
    visitor: Visitor, done: tuple[str, str]
) -> None:
    segments = [
        {"start": 0.0, "end": 2.5, "text": "What (a) day."},
        {"start": 3725.4, "end": 3730.0, "text": f"A DAY, {SCRIPT}"},
        {"start": 3730.0, "end": 3731.0, "text": "Good night."},
    ]
    page = shown(
        visitor,
        done,
        {"text": "What a day.", "language": "en", "segments": segments, "duration_seconds": 3731},
    )
    said = page.get_by_role("list", name="What is said when").get_by_role("listitem")

    expect(said).to_have_text([
        "0:00.0 – 0:02.5What (a) day.",
        f"1:02:05.4 – 1:02:10.0A DAY, {SCRIPT}",
        "1:02:10.0 – 1:02:11.0Good night.",
    ])  # fmt: skip
    expect(page.get_by_text("Language: English · 1 hr 2 min recorded")).to_be_visible()
    page.get_by_label("Search", exact=True).fill("day")
    expect(page.get_by_text("2 passages")).to_be_visible()
    expect(said.locator("mark")).to_have_text(["day", "DAY"])
    page.get_by_label("Search", exact=True).fill("(a)")
    expect(said).to_have_count(1)
    assert visitor.hindrances() == []


def test_vectors_come_as_floats_and_the_nearest_are_told(
    visitor: Visitor, done: tuple[str, str]
) -> None:
    rows = [(1, 0), (0, 1), (2, 0.2), (0, 0), (-1, 0)]
    floats = b"".join(struct.pack("<2f", *row) for row in rows)
    headers = {"x-dimensions": "2", "x-model": "%3Cb%3E"}
    page = shown(
        visitor, done, None, body=floats, headers=headers, content_type="application/octet-stream"
    )
    near = page.get_by_role("list", name="Nearest to passage 1").get_by_role("listitem")

    expect(page.get_by_text("<b>", exact=True)).to_be_visible()
    expect(near).to_have_text([
        "0.995 Passage 3", "0.000 Passage 2", "0.000 Passage 4", "-1.000 Passage 5"
    ])  # fmt: skip
    page.get_by_label("Passage (1 to 5)").fill("2")
    again = page.get_by_role("list", name="Nearest to passage 2").get_by_role("listitem")
    expect(again.first).to_have_text("0.100 Passage 3")
    expect(page.get_by_text("The texts are known only to the tab")).to_be_visible()
    assert visitor.hindrances() == []


def test_of_very_many_vectors_only_so_many_are_compared(visitor: Visitor) -> None:
    page = visitor.open()

    found = page.evaluate("""async () => {
      const {comparable, nearest} = await import("/console/results/nearest.js");
      const rows = comparable(4_000_000) + 5;
      const floats = new Float32Array(rows * 4).fill(1);
      return [comparable(4_000_000), comparable(1e12),
        nearest(floats, {dimensions: 4, row: 2, most: 3}).map(({row}) => row)];
    }""")

    assert found == [10, 1, [0, 1, 3]]


def test_a_large_result_is_loaded_when_it_is_wanted_and_can_be_had_as_a_file(
    visitor: Visitor, done: tuple[str, str]
) -> None:
    result = {"unknown": ["x" * 100] * 25_000}
    page = shown(visitor, done, result)
    expect(page.get_by_text("The result has 2.6 MB.")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download .json").click()
    page.get_by_role("button", name="Show it all the same").click()

    expect(page.get_by_text("Only the first 100,000 characters are shown")).to_be_visible()
    assert download.value.suggested_filename == f"{done[1]}.json"
    assert download.value.path().stat().st_size > 2_500_000


def test_a_result_that_is_gone_is_told_in_words(visitor: Visitor, done: tuple[str, str]) -> None:
    problem = {"code": "expired", "status": 410, "detail": "Gone."}
    page = shown(
        visitor, done, None, status=410, json=problem, content_type="application/problem+json"
    )

    expect(page.get_by_text("The result was kept for its time and is gone.")).to_be_visible()


def test_long_words_of_strangers_have_room_on_a_narrow_screen_in_japanese(
    browser: Browser, stack: Stack, done: tuple[str, str]
) -> None:
    table = f"| {LONG} | b |\n|---|---|\n| {LONG} | c |"
    sources = [{"ref": LONG, "summary": LONG}]
    segments = [{"start": 0, "end": 1, "text": LONG}]
    results = [
        {"markdown": f"# {LONG}\n\n{LONG}\n\n{table}", "sources": sources},
        {"model": LONG, "dimensions": 1, "vectors": [[1], [2]]},
        {"text": LONG * 50, "language": LONG, "segments": segments, "duration_seconds": 1},
    ]
    with visiting(browser, stack, width=360, language="ja", colours="dark") as visitor:
        for result in results:
            visitor.page.goto("about:blank")  # else the same address is no new page
            page = shown(visitor, done, result)
            expect(page.locator(".result")).to_be_visible()
            assert not visitor.overflows()
            assert result is results[-1] or visitor.hindrances() == []  # axe would read for long
