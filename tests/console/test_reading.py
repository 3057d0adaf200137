"""What people read and where they are: times, spans, amounts and addresses, as pure functions say.

They run in Node, whose languages are those of the browsers; the clock there is Tokyo's.
"""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.console.modules import run_module

NOW = "2026-11-30T00:00:00.000Z"


def told(module: str, calls: list[tuple[Any, ...]]) -> list[Any]:
    """Call functions of a module, each with its arguments, and return what they say."""
    script = """
    const module = await load(given.module);
    tell(given.calls.map(([name, ...args]) => module[name](...args) ?? null));
    """
    answers: list[Any] = run_module(script, module=module, calls=calls)
    return [plain(answer) for answer in answers]


def plain(said: Any) -> Any:
    """Return it with common spaces: languages write other ones between numbers and units."""
    return re.sub(r"\s", " ", said) if isinstance(said, str) else said


def test_spans_are_told_by_their_two_largest_units() -> None:
    table = [
        (None, "–", "–"),
        (0, "0 sec", "0 秒"),
        (0.44, "0.4 sec", "0.4 秒"),
        (9.96, "10 sec", "10 秒"),
        (59.4, "59 sec", "59 秒"),
        (59.6, "1 min", "1 分"),
        (185, "3 min 5 sec", "3 分 5 秒"),
        (3_599.5, "1 hr", "1 時間"),
        (7_800, "2 hr 10 min", "2 時間 10 分"),
        (86_400, "1 day", "1 日"),
        (356_400, "4 days 3 hr", "4 日 3 時間"),
    ]
    calls = [("duration", row[0], language) for row in table for language in ("en", "ja")]

    assert told("format.js", calls) == [text for row in table for text in row[1:]]


def test_how_long_ago_is_told_to_one_unit_and_never_rounded_up() -> None:
    now = 1_795_996_800_000
    table = [
        (0, "now"),
        (-59, "59 sec. ago"),
        (-119, "1 min. ago"),
        (-7_199, "1 hr. ago"),
        (-172_799, "yesterday"),
        (30, "in 30 sec."),
        (5_400, "in 1 hr."),
        (86_400, "tomorrow"),
    ]
    calls = [("relativeTime", now + seconds * 1000, "en", now) for seconds, _ in table]

    assert told("format.js", calls) == [text for _, text in table]


def test_a_time_is_told_by_the_clock_of_the_reader_or_of_a_zone() -> None:
    calls = [
        ("fullTime", NOW, "en"),
        ("fullTime", NOW, "ja"),
        ("zonedTime", NOW, "en"),
        ("zonedTime", NOW, "ja", "Europe/Berlin"),
        ("zonedTime", NOW, "en", "Mars/Base"),
        ("ownZone",),
    ]

    assert told("format.js", calls) == [
        "Nov 30, 2026, 9:00:00 AM",
        "2026/11/30 9:00:00",
        "Nov 30, 2026, 9:00 AM",
        "2026/11/30 1:00",
        None,
        "Asia/Tokyo",
    ]


def test_money_is_told_as_exactly_as_it_is_known() -> None:
    table = [
        (None, "–"),
        ("0.000000", "$0.00"),
        ("0.000213", "$0.000213"),
        ("1.500000", "$1.50"),
        ("1234567.100000", "$1234567.10"),
        ("12", "$12.00"),
    ]

    assert told("format.js", [("money", usd) for usd, _ in table]) == [text for _, text in table]


def test_counts_shares_sizes_and_places_in_a_recording() -> None:
    table = [
        (("count", None, "en"), "–"),
        (("count", 10_001, "en"), "10,001"),
        (("percent", None, "en"), "–"),
        (("percent", 0.9876, "en"), "98.8%"),
        (("percent", 1, "ja"), "100%"),
        (("size", 0, "en"), "0 byte"),
        (("size", 999, "en"), "999 byte"),
        (("size", 1_000, "en"), "1 kB"),
        (("size", 1_550_000, "en"), "1.6 MB"),
        (("size", 5e12, "en"), "5,000 GB"),
        (("clock", 0), "0:00.0"),
        (("clock", 59.96), "1:00.0"),
        (("clock", 83.25), "1:23.3"),
        (("clock", 3_723.4), "1:02:03.4"),
    ]

    assert told("format.js", [call for call, _ in table]) == [text for _, text in table]


PLACES: list[tuple[list[str], dict[str, str]]] = [
    ([], {}),
    (["jobs"], {"state": "failed", "run_key": "a b&c=d/#?%"}),
    (["jobs", "job_01"], {}),
    (["schedules", "a/b?c#d e%"], {"tenant": "テナント"}),
    (["<script>", "‮"], {"q": '"><script>'}),
    (["100%", "%zz"], {"x": "%"}),
]


@pytest.mark.parametrize(("path", "query"), PLACES)
def test_a_link_leads_to_the_place_that_it_was_made_for(
    path: list[str], query: dict[str, str]
) -> None:
    script = """
    const { href, readRoute } = await load("router.js");
    const link = href(given.path, given.query);
    const route = readRoute(link);
    tell([link, route.path, Object.fromEntries(route.query)]);
    """
    link, found, asked = run_module(script, path=path, query=query)

    assert (found, asked) == (path, query)
    assert re.fullmatch(r"#/[\w\-.~!*'()%/+=&?]*", link)


def test_an_address_of_any_sort_is_read_without_failing() -> None:
    script = """
    const { readRoute } = await load("router.js");
    tell(given.fragments.map((each) => readRoute(each).path));
    """
    table = [
        ("", []),
        ("#", []),
        ("#/", []),
        ("#jobs", ["jobs"]),
        ("#/jobs//x/", ["jobs", "x"]),
        ("#/%E0%A4%A", ["%E0%A4%A"]),
        ("#/jobs?", ["jobs"]),
        ("#/jobs?a?b=/c", ["jobs"]),
        ("#//evil.example/x", ["evil.example", "x"]),
    ]

    found = run_module(script, fragments=[fragment for fragment, _ in table])

    assert found == [path for _, path in table]


def test_what_is_not_set_is_in_no_link() -> None:
    script = """
    const { href } = await load("router.js");
    tell([href(["jobs"], { a: "", b: null, c: undefined }), href(["jobs"], { a: "0" })]);
    """

    assert run_module(script) == ["#/jobs", "#/jobs?a=0"]


def test_every_page_is_found_by_its_address_and_no_other_is() -> None:
    script = """
    const { PAGES, findPage } = await load("pages.js");
    const fill = (part) => part.replace(/^:.*/, "x1");
    const filled = PAGES.map(({ pattern }) => pattern.split("/").map(fill));
    tell({
      own: PAGES.map((page, at) => findPage(filled[at])?.page === page),
      longer: filled.map((path) => findPage([...path, "y", "z"])),
      none: findPage(["nowhere"]),
      named: findPage(["schedules", "-"]).page.pattern,
    });
    """
    found = run_module(script)

    assert all(found["own"])
    assert set(found["longer"]) == {None}
    assert (found["none"], found["named"]) == (None, "schedules/-")


def test_the_pause_grows_with_what_does_not_change_and_never_beats_the_server() -> None:
    script = """
    const { pause } = await load("poll.js");
    const found = [];
    for (const every of [1, 3, 10, 120])
      for (const slowest of [undefined, 5, 30])
        for (const retryAfter of [null, 0, 2, 90])
          for (let quiet = 0; quiet < 40; quiet += 1) {
            const rest = { every, slowest, retryAfter };
            const unchanged = pause({ ...rest, unchanged: quiet, failures: 0 });
            const failing = pause({ ...rest, unchanged: 0, failures: quiet + 1 });
            found.push({ ...rest, quiet, unchanged, failing });
          }
    tell(found);
    """
    for case in run_module(script):
        floor = case["retryAfter"] or 0
        most = max(case.get("slowest", 60), case["every"])
        assert floor <= case["unchanged"] <= max(most, floor), case
        assert floor <= case["failing"] <= max(60, floor), case
        assert case["failing"] >= min(case["every"], 60), case
        if case["quiet"] == 0:
            assert case["unchanged"] == max(case["every"], floor), case
        if case["quiet"] == 39:
            assert case["unchanged"] == max(most, floor), case
            assert case["failing"] == max(60, floor), case


def test_a_patch_holds_what_was_written_by_whatever_name_it_goes() -> None:
    """The API tells whoever wrote it that there is no such member; left out, it would be lost."""
    script = """
    const { NO_PATCH, readPatch } = await load("letters/patch.js");
    const fields = { ...NO_PATCH, max_attempts: "3", rest: given.rest };
    tell(JSON.stringify(readPatch(fields).patch));
    """
    rest = '{"__proto__":{"params":{}},"constructor":1}'

    assert run_module(script, rest=rest) == '{"max_attempts":3,' + rest[1:]


def test_groups_are_asked_for_by_the_status_that_the_address_says() -> None:
    """All of them is what the list of letters can show alone; the API says so to whoever asks."""
    script = """
    const { GROUP_FILTERS, LETTER_FILTERS, asked } = await load("letters/filters.js");
    const query = new URLSearchParams("status=all");
    tell([GROUP_FILTERS, LETTER_FILTERS].map((names) => asked(names, query).status));
    """

    assert run_module(script) == ["all", None]
