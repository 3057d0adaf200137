"""When a cron expression comes true: as instants in UTC, told by the clock of a time zone.

``cronsim`` reads the fields and walks a calendar that knows no zones. What daylight saving does to
that calendar is decided here, as Debian's cron decides it (``docs/schedules.md``). An expression
whose minute or hour starts with ``*`` asks about each minute that the clock shows: it leaves out
what the clock leaves out, and comes true in both passes of what the clock shows twice. Any other
expression names times of day: each comes true once a day, in the first of two passes, or at the end
of the gap that swallowed it.

What takes long to import is imported where it is used (``docs/decisions/0008-cron-library.md``).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Final
from zoneinfo import ZoneInfo

_TAKES: Final = {
    "minute": "0-59",
    "hour": "0-23",
    "day-of-month": "1-31, as far as the months go, L or LW",
    "month": "1-12 or JAN-DEC",
    "day-of-week": "0-7 or SUN-SAT",
}
_CHARACTERS: Final = re.compile(r"[0-9A-Za-z*,/#\- ]+")
_SECOND: Final = timedelta(seconds=1)
_MINUTE: Final = timedelta(minutes=1)
# No zone changes its offset and changes it back within this time, so a look at its ends tells of a
# change in between. (The closest since 1940: just under 7 days, in Gaza, in 2040.)
_STRIDE: Final = timedelta(days=5)
# Whatever comes true does so within 40 years of any day (a fifth Monday in February takes longest);
# cronsim looks 50 years ahead.
_SOME_DAY: Final = datetime(2000, 1, 1)  # noqa: DTZ001 - of the calendar, which knows no zones


class BadCron(ValueError):
    """An expression or a zone that cannot be used; the message says what to give instead."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cron:
    """A sound expression in a zone; ``parse`` makes it."""

    expression: str
    zone: ZoneInfo

    def next_after(self, instant: datetime) -> datetime | None:
        """Return the first occurrence later than ``instant``; None if 50 years have none."""
        instant = instant.astimezone(UTC).replace(microsecond=0)
        return self._named_after(instant) if self._names_times else self._shown_after(instant)

    def latest_in(self, after: datetime, until: datetime) -> datetime | None:
        """Return the last occurrence later than ``after`` and not later than ``until``.

        The stretch is halved, not walked: a year of minutes takes some 20 looks.
        """
        latest, high = self.next_after(after), until
        if latest is None or latest > until:
            return None
        # There is always none later than `high`, and occurrences are whole minutes apart.
        while high - latest >= _MINUTE:
            middle = latest + (high - latest) / 2
            found = self.next_after(middle)
            if found is not None and found <= high:
                latest = found
            else:
                high = middle
        return latest

    @property
    def _names_times(self) -> bool:
        minute, hour, *_ = self.expression.split()
        return not (minute.startswith("*") or hour.startswith("*"))

    def _named_after(self, instant: datetime) -> datetime | None:
        named = _calendar_after(self.expression, _shown(instant, self.zone))
        while named is not None:
            occurrence = _first_shown(named, self.zone)
            # In the second pass of a time that is shown twice, what is next was true in the first.
            if occurrence > instant:
                return occurrence
            named = _calendar_after(self.expression, named)
        return None

    def _shown_after(self, instant: datetime) -> datetime | None:
        """Ask the calendar about each stretch in which the clock runs beside UTC, in turn."""
        start, asked, named = instant + _SECOND, None, None
        while True:
            before = _shown(start, self.zone) - _SECOND
            if asked is None or named is None or not asked <= before < named:
                asked, named = before, _calendar_after(self.expression, before)
            if named is None:
                return None
            candidate = named.replace(tzinfo=UTC) - _offset(start, self.zone)
            change = _first_change(start, candidate, self.zone)
            if change is None:
                return candidate
            start = change


def parse(expression: str, timezone: str) -> Cron:
    """Return the cron of an expression in a zone. Raises ``BadCron``."""
    check_expression(expression)
    return Cron(expression=expression, zone=find_zone(timezone))


def check_expression(expression: str) -> None:
    """Raise ``BadCron`` unless this has five fields that are sound, and comes true some day."""
    if len(expression.split()) != len(_TAKES):
        raise BadCron(
            "Give five fields: minute, hour, day-of-month, month and day-of-week, "
            "such as 30 7 * * 1-5 for 7:30 from Monday to Friday."
        )
    if not _CHARACTERS.fullmatch(expression):
        raise BadCron("Write the fields with digits, names of months and days, and * , - / # only.")
    from cronsim import CronSimError

    try:
        named = _calendar_after(expression, _SOME_DAY)
    except CronSimError as error:
        field = str(error).removeprefix("Bad ")
        takes = _TAKES.get(field, "something else")
        raise BadCron(
            f"The {field} takes {takes}; also lists 1,3, ranges 1-3, steps */3."
        ) from None
    if named is None:
        raise BadCron("No day fits this day-of-month, month and day-of-week. Loosen one of them.")


def find_zone(name: str) -> ZoneInfo:
    """Return the zone of that name. Raises ``BadCron`` if IANA has none."""
    if name not in _zones():
        raise BadCron("Give the name of an IANA time zone, such as UTC or Europe/Berlin.")
    return ZoneInfo(name)


@lru_cache(maxsize=1)
def _zones() -> frozenset[str]:
    from importlib import resources

    # A look-up by any other name would search files that a machine may have beside these.
    return frozenset(resources.files("tzdata").joinpath("zones").read_text().split())


def _calendar_after(expression: str, named: datetime) -> datetime | None:
    from cronsim import CronSim

    return next(CronSim(expression, named), None)


def _shown(instant: datetime, zone: ZoneInfo) -> datetime:
    """Return what a clock in the zone shows."""
    return instant.astimezone(zone).replace(tzinfo=None, fold=0)


def _offset(instant: datetime, zone: ZoneInfo) -> timedelta:
    return _shown(instant, zone) - instant.replace(tzinfo=None)


def _first_shown(named: datetime, zone: ZoneInfo) -> datetime:
    """Return when the clock first shows a time, or first shows a later one if it leaves it out."""
    earlier, later = (named.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1))
    if _shown(earlier, zone) == named:
        return earlier
    # In a gap the first reading goes by the offset before it, so it lies behind the change.
    return _first_change(later, earlier, zone) or earlier


def _first_change(after: datetime, until: datetime, zone: ZoneInfo) -> datetime | None:
    """Return when the zone's offset first changes later than ``after``, but not than ``until``."""
    offset = _offset(after, zone)
    while after < until:
        ahead = min(after + _STRIDE, until)
        if _offset(ahead, zone) != offset:
            return _bisect(after, ahead, zone)
        after = ahead
    return None


def _bisect(before: datetime, behind: datetime, zone: ZoneInfo) -> datetime:
    """Return the second at which the offset of ``before`` ends."""
    offset = _offset(before, zone)
    while behind - before > _SECOND:
        middle = before + (behind - before) // _SECOND // 2 * _SECOND
        if _offset(middle, zone) == offset:
            before = middle
        else:
            behind = middle
    return behind
