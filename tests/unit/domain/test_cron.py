"""When cron expressions come true, held against croniter, against a clock watched minute by minute,
and against what ``docs/schedules.md`` promises for the days on which clocks change.
"""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from croniter import croniter
from hypothesis import given
from hypothesis import strategies as st

from uketsuke.domain.cron import BadCron, Cron, check_expression, find_zone, parse

# Other work on the same machine must not fail a property.
YEAR = timedelta(days=366)
START = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
DAY = timedelta(days=1)

# Days in 2027 on which clocks change, at their start in UTC: north and south, at midnight, by half
# an hour, by two hours, and backwards in winter.
CHANGES = {
    "Europe/Berlin": ("2027-03-28", "2027-10-31"),
    "America/New_York": ("2027-03-14", "2027-11-07"),
    "America/Santiago": ("2027-04-04", "2027-09-05"),
    "America/Havana": ("2027-03-14", "2027-11-07"),
    "Africa/Cairo": ("2027-04-29", "2027-10-28"),
    "Australia/Sydney": ("2027-04-03", "2027-10-02"),
    "Australia/Lord_Howe": ("2027-04-03", "2027-10-02"),
    "Antarctica/Troll": ("2027-03-28", "2027-10-31"),
    "Africa/Casablanca": ("2027-02-07", "2027-03-14"),
}


def field(low: int, high: int) -> st.SearchStrategy[str]:
    numbers = st.integers(low, high)
    # Of one number, croniter makes the range of all.
    pairs = st.lists(numbers, min_size=2, max_size=2, unique=True)
    ranges = pairs.map(lambda pair: f"{min(pair)}-{max(pair)}")
    steps = st.integers(1, high - low)
    return st.one_of(
        st.just("*"),
        numbers.map(str),
        ranges,
        st.lists(numbers, min_size=1, max_size=4).map(lambda many: ",".join(map(str, many))),
        steps.map(lambda step: f"*/{step}"),
        st.tuples(ranges, steps).map(lambda both: f"{both[0]}/{both[1]}"),
    )


# Days to the 28th only, so that each expression comes true soon.
EXPRESSIONS = st.tuples(field(0, 59), field(0, 23), field(1, 28), field(1, 12), field(0, 6)).map(
    " ".join
)
TIMES_OF_DAY = st.tuples(field(0, 59), field(0, 23)).map(lambda both: f"{both[0]} {both[1]} * * *")
INSTANTS = st.integers(0, int(YEAR.total_seconds())).map(lambda s: START + timedelta(seconds=s))


def theirs(expression: str, instant: datetime) -> croniter:
    return croniter(expression, instant, datetime, implement_cron_bug=True)


def shown(instant: datetime, zone: str) -> datetime:
    return instant.astimezone(ZoneInfo(zone)).replace(tzinfo=None, fold=0)


def walk(expression: str, zone: str, after: datetime, until: datetime) -> list[datetime]:
    cron, found = parse(expression, zone), []
    occurrence = cron.next_after(after)
    while occurrence is not None and occurrence <= until:
        found.append(occurrence)
        occurrence = cron.next_after(occurrence)
    return found


@given(expression=EXPRESSIONS, instant=INSTANTS)
def test_in_utc_the_next_occurrence_is_the_one_that_croniter_finds(
    expression: str, instant: datetime
) -> None:
    assert parse(expression, "UTC").next_after(instant) == theirs(expression, instant).get_next()


@given(expression=EXPRESSIONS, instant=INSTANTS, back=st.integers(1, int(YEAR.total_seconds())))
def test_in_utc_the_latest_occurrence_is_the_one_that_croniter_finds(
    expression: str, instant: datetime, back: int
) -> None:
    after = instant - timedelta(seconds=back)

    latest = parse(expression, "UTC").latest_in(after, instant)

    # Croniter looks for what is before an instant; the stretch holds its end.
    before = theirs(expression, instant + timedelta(seconds=1)).get_prev()
    assert latest == (before if before > after else None)


@given(expression=EXPRESSIONS, instant=INSTANTS, zone=st.sampled_from(sorted(CHANGES)))
def test_where_no_clock_changes_a_zone_is_only_another_time_of_day(
    expression: str, instant: datetime, zone: str
) -> None:
    ours = parse(expression, zone).next_after(instant)
    assert ours is not None

    offset = shown(instant, zone) - instant.replace(tzinfo=None)
    ahead = (instant.replace(tzinfo=None) + DAY * n for n in range((ours - instant).days + 3))
    if all(shown(day.replace(tzinfo=UTC), zone) - day == offset for day in ahead):
        assert ours + offset == theirs(expression, instant + offset).get_next()


def times_of(expression: str) -> set[time]:
    """Return the times of day that fit, on a calendar that knows no zones."""
    day = datetime(2027, 1, 1)  # noqa: DTZ001
    calendar = theirs(expression, day - MINUTE)
    days_end = iter(lambda: calendar.get_next() >= day + DAY, True)
    return {calendar.get_current().time() for _ in days_end}


def watched(expression: str, zone: str, after: datetime, until: datetime) -> list[datetime]:
    """Watch a clock minute by minute, and note what the rules of ``docs/schedules.md`` say."""
    minutes = [after + MINUTE * n for n in range(1, (until - after) // MINUTE + 1)]
    minute_field, hour_field, *_ = expression.split()
    named = times_of(expression)
    asks_about_each = minute_field.startswith("*") or hour_field.startswith("*")
    latest = shown(after, zone)
    found = []
    for minute in minutes:
        now = shown(minute, zone)
        if asks_about_each:
            fits = now.time() in named
        else:  # what the clock shows for the first time now, or has just left out
            passed = [latest + MINUTE * n for n in range(1, (now - latest) // MINUTE + 1)]
            fits = any(each.time() in named for each in passed)
        if fits:
            found.append(minute)
        latest = max(latest, now)
    return found


@given(
    expression=TIMES_OF_DAY,
    zone=st.sampled_from(sorted(CHANGES)),
    change=st.sampled_from([0, 1]),
)
def test_on_the_day_of_a_change_each_occurrence_is_one_that_a_watched_clock_gives(
    expression: str, zone: str, change: int
) -> None:
    after = datetime.fromisoformat(CHANGES[zone][change]).replace(tzinfo=UTC) - DAY / 2
    until = after + 2 * DAY

    assert walk(expression, zone, after, until) == watched(expression, zone, after, until)


@pytest.mark.parametrize("zone", sorted(CHANGES))
def test_the_days_of_these_tests_are_days_on_which_a_clock_changes(zone: str) -> None:
    for text in CHANGES[zone]:
        start = datetime.fromisoformat(text).replace(tzinfo=UTC)
        offsets = {shown(at, zone) - at.replace(tzinfo=None) for at in (start, start + DAY)}

        assert len(offsets) == 2


@given(
    expression=TIMES_OF_DAY,
    zone=st.sampled_from(sorted(CHANGES)),
    instant=INSTANTS,
    back=st.integers(1, 2 * 86_400),
)
def test_the_latest_occurrence_is_the_last_of_a_walk(
    expression: str, zone: str, instant: datetime, back: int
) -> None:
    after = instant - timedelta(seconds=back)

    latest = parse(expression, zone).latest_in(after, instant)

    walked = walk(expression, zone, after, instant)
    assert latest == (walked[-1] if walked else None)


# expression, zone, day; the occurrences of that day in local time with the offset
DOCUMENTED = [
    # Spring: what names a time in the gap comes true at its end.
    ("30 2 * * *", "Europe/Berlin", "2027-03-28", ["03:00+02:00"]),
    ("15,45 2 * * *", "Europe/Berlin", "2027-03-28", ["03:00+02:00"]),
    ("0 2,3 * * *", "Europe/Berlin", "2027-03-28", ["03:00+02:00"]),
    ("30 2 * * *", "America/New_York", "2027-03-14", ["03:00-04:00"]),
    ("15 2 * * *", "Australia/Lord_Howe", "2027-10-03", ["02:30+11:00"]),
    ("30 0 * * *", "America/Havana", "2027-03-14", ["01:00-04:00"]),
    # What asks about each hour has none in the gap.
    (
        "30 1-4 * * *",
        "Europe/Berlin",
        "2027-03-28",
        ["01:30+01:00", "03:00+02:00", "03:30+02:00", "04:30+02:00"],
    ),
    (
        "30 */2 * * *",
        "Europe/Berlin",
        "2027-03-28",
        [f"{h:02}:30{o}" for h, o in [(0, "+01:00"), *((h, "+02:00") for h in range(4, 24, 2))]],
    ),
    ("*/20 2 * * *", "Europe/Berlin", "2027-03-28", []),
    ("*/20 2 * * *", "Australia/Lord_Howe", "2027-10-03", ["02:40+11:00"]),
    ("*/30 3 * * *", "Australia/Lord_Howe", "2027-10-03", ["03:00+11:00", "03:30+11:00"]),
    # Autumn: what names a time comes true in the first pass only.
    ("30 2 * * *", "Europe/Berlin", "2027-10-31", ["02:30+02:00"]),
    ("30 1 * * *", "America/New_York", "2027-11-07", ["01:30-04:00"]),
    ("45 1 * * *", "Australia/Lord_Howe", "2027-04-04", ["01:45+11:00"]),
    ("45 2 * * *", "Australia/Sydney", "2027-04-04", ["02:45+11:00"]),
    # What asks about each minute or hour comes true in both.
    (
        "*/30 2 * * *",
        "Europe/Berlin",
        "2027-10-31",
        ["02:00+02:00", "02:30+02:00", "02:00+01:00", "02:30+01:00"],
    ),
    (
        "45 * 4 4 *",
        "Australia/Lord_Howe",
        "2027-04-04",
        ["00:45+11:00", "01:45+11:00", "01:45+10:30", *(f"{h:02}:45+10:30" for h in range(2, 24))],
    ),
    (
        "*/20 2 * * *",
        "Australia/Lord_Howe",
        "2027-04-04",
        ["02:00+10:30", "02:20+10:30", "02:40+10:30"],
    ),
]


@pytest.mark.parametrize(("expression", "zone", "day", "expected"), DOCUMENTED)
def test_a_change_of_the_clock_does_what_the_documentation_says(
    expression: str, zone: str, day: str, expected: list[str]
) -> None:
    start = datetime.fromisoformat(day).replace(tzinfo=ZoneInfo(zone)).astimezone(UTC)
    end = (datetime.fromisoformat(day) + DAY).replace(tzinfo=ZoneInfo(zone)).astimezone(UTC)

    found = walk(expression, zone, start - timedelta(seconds=1), end - timedelta(seconds=1))

    told = [at.astimezone(ZoneInfo(zone)).isoformat(timespec="minutes")[11:] for at in found]
    assert told == expected


@pytest.mark.parametrize("tail", [timedelta(), timedelta(seconds=59, milliseconds=999)])
def test_an_occurrence_is_later_than_the_instant_and_on_the_minute(tail: timedelta) -> None:
    cron = parse("* * * * *", "Europe/Berlin")

    assert cron.next_after(START + tail) == START + MINUTE


def test_the_end_of_a_stretch_belongs_to_it_and_its_start_does_not() -> None:
    cron = parse("0 * * * *", "UTC")

    assert cron.latest_in(START, START) is None
    assert cron.latest_in(START, START + 59 * MINUTE) is None
    assert cron.latest_in(START - MINUTE, START) == START
    assert cron.latest_in(START + MINUTE, START) is None


def test_a_year_of_minutes_is_not_walked(monkeypatch: pytest.MonkeyPatch) -> None:
    cron, looks = parse("* * * * *", "Europe/Berlin"), 0
    look = type(cron).next_after

    def counted(self: object, instant: datetime) -> datetime | None:
        nonlocal looks
        looks += 1
        return look(cron, instant)

    monkeypatch.setattr(type(cron), "next_after", counted)

    assert cron.latest_in(START - YEAR, START + timedelta(seconds=30)) == START
    assert looks < 30


def test_in_the_second_pass_a_time_of_day_has_been_already() -> None:
    second_pass = datetime(2027, 10, 31, 1, 10, tzinfo=UTC)  # 2:10 in Berlin, again

    found = parse("30 2 * * *", "Europe/Berlin").next_after(second_pass)

    assert found == datetime(2027, 11, 1, 1, 30, tzinfo=UTC)


@pytest.mark.parametrize("expression", ["0 0 */20 * 1L", "* * */20 * 1L"])
def test_the_search_for_what_never_comes_true_has_an_end(expression: str) -> None:
    never = Cron(expression=expression, zone=find_zone("Europe/Berlin"))

    assert never.next_after(START) is None
    assert never.latest_in(START - YEAR, START) is None


def test_a_rare_day_is_found_across_many_changes_of_the_clock() -> None:
    cron = parse("30 12 * 2 MON#5", "Europe/Berlin")

    assert cron.next_after(START) == datetime(2044, 2, 29, 11, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("days", "expected"),
    [
        ("L * *", "2026-11-30"),
        ("LW 1 *", "2027-01-29"),
        ("* * MON#2", "2026-12-14"),
        ("* * 5L", "2026-12-25"),
        ("* * 7", "2026-12-06"),
        ("*/2 * MON", "2026-12-07"),
        ("24 12 MON", "2026-12-07"),
        ("1 jan-feb *", "2027-01-01"),
    ],
)
def test_days_are_told_by_the_signs_of_the_documentation(days: str, expected: str) -> None:
    found = parse(f"0 13 {days}", "UTC").next_after(START + DAY / 2)

    assert found
    assert found.date().isoformat() == expected


@pytest.mark.parametrize(
    ("expression", "told"),
    [
        ("", "five fields"),
        ("* * * *", "five fields"),
        ("0 0 * * * *", "five fields"),
        ("@daily", "five fields"),
        ("@ * * * *", "digits"),
        ("* * * * \N{FULLWIDTH DIGIT ONE}", "digits"),
        ("* * * * *\n", "digits"),
        ("60 * * * *", "minute takes 0-59"),
        ("*/0 * * * *", "minute takes 0-59"),
        ("* 24 * * *", "hour takes 0-23"),
        ("* * 0 * *", "day-of-month takes 1-31"),
        ("* * 30 2 *", "as far as the months go"),
        ("* * * 13 *", "month takes 1-12"),
        ("* * * * 8", "day-of-week takes 0-7"),
        ("* * * * MONDAY", "day-of-week takes 0-7"),
        ("5-1 * * * *", "minute takes 0-59"),
        ("* * */20 * 1L", "No day fits"),
    ],
)
def test_an_expression_that_cannot_be_used_is_told_what_to_give(expression: str, told: str) -> None:
    with pytest.raises(BadCron, match=told):
        check_expression(expression)


@pytest.mark.parametrize(
    "name", ["", "Mars/Base", "europe/berlin", "../UTC", "/etc/passwd", "posixrules", "Europe"]
)
def test_a_name_that_is_no_zones_is_refused(name: str) -> None:
    with pytest.raises(BadCron, match="Europe/Berlin"):
        find_zone(name)
