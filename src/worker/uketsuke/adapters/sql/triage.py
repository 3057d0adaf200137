"""Lists and groups of dead letters. A page looks at a bounded stretch and counts nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from uketsuke.adapters.sql import letter_lists as sql
from uketsuke.adapters.sql import rows
from uketsuke.adapters.sql.database import Database, Param, Row, Statement
from uketsuke.adapters.sql.dead_letters import to_dead_letter
from uketsuke.adapters.sql.letter_lists import FINGERPRINT, FITS, NEWEST_FIRST, OF_OPEN
from uketsuke.adapters.sql.letter_terms import Ages
from uketsuke.adapters.sql.terms import NOW
from uketsuke.domain.dead_letter import LetterStatus
from uketsuke.domain.failure import ErrorClass
from uketsuke.domain.lane import parse_lane
from uketsuke.domain.letter_group import LetterGroup
from uketsuke.services.ports import LetterFilter, LetterPage, LetterPlace, RedrivenPage

# How many letters one page looks at to find those that fit; what is further back is on a later
# page. Open ones are found in their index alone, which makes them cheap.
_STRETCH: Final = 1000
_OPEN_STRETCH: Final = 5000
# Resolved letters have no index of their own: so many of the last to fail make their groups.
_GROUPED: Final = 10_000
# With these, whatever is looked at fits: a page looks at no more than it shows.
_FIT_ALL: Final = (LetterFilter(), LetterFilter(status=LetterStatus.OPEN))
# (The runtime hands an integer of 2**53 - 1 and more over as a BigInt, which D1 refuses.)
_AFTER_ALL: Final = LetterPlace(10**15, "")
_AFTER_ALL_JOBS: Final = "job_~"


def _select_groups(letters: str) -> str:
    """?1 to ?5 what fits, ?6 how many groups"""
    return f"""
    SELECT {FINGERPRINT} AS fingerprint, kind, class, code, model, count(*) AS letters,
           count(DISTINCT tenant_id) AS tenants, min(first_failed_at) AS first_failed_at,
           max(last_failed_at) AS last_failed_at
      FROM {letters}
     WHERE {FITS}
     GROUP BY kind, class, code, model
     ORDER BY letters DESC, max(last_failed_at) DESC, fingerprint
     LIMIT ?6
    """


GROUPS_OF_OPEN: Final = _select_groups(f"(SELECT * FROM dead_letters WHERE {OF_OPEN})")
# ?7 how many letters are looked at
GROUPS_OF_ALL: Final = _select_groups(f"(SELECT * FROM dead_letters {NEWEST_FIRST} LIMIT ?7)")
# There are as many as models that trouble us.
SELECT_PARKED: Final = f"""
SELECT lane FROM lanes WHERE forget_at > {NOW} AND parked_until > {NOW} LIMIT 1000
"""


class SqlTriage:
    """``services.ports.Triage`` on any ``Database``."""

    def __init__(self, database: Database, ages: Ages) -> None:
        self._database = database
        self._ages = ages

    async def page(
        self, wanted: LetterFilter, *, before: LetterPlace | None, limit: int
    ) -> LetterPage:
        look = self._expiring_page if wanted.expiring else _page
        found, ends = await self._database.batch(look(wanted, before or _AFTER_ALL, limit))
        letters = [to_dead_letter(row) for row in found]
        last = found if len(found) == limit else ends
        return LetterPage(letters=letters, cursor=_place(last[-1]) if last else None)

    async def redriven_by(
        self, redrive_id: str, wanted: LetterFilter, *, before: str | None, limit: int
    ) -> RedrivenPage:
        start = (redrive_id, before or _AFTER_ALL_JOBS)
        found, ends = await self._database.batch(
            [
                Statement(sql.PAGE_OF_REDRIVE, (*_fitting(wanted), *start, _STRETCH, limit)),
                Statement(sql.END_OF_REDRIVE, (*start, _STRETCH - 1)),
            ]
        )
        letters = [to_dead_letter(row) for row in found]
        last = found if len(found) == limit else ends
        return RedrivenPage(letters=letters, cursor=last[-1]["redriven_to"] if last else None)

    async def groups(self, wanted: LetterFilter, *, limit: int) -> Sequence[LetterGroup]:
        of_open = wanted.status is LetterStatus.OPEN
        group = GROUPS_OF_OPEN if of_open else GROUPS_OF_ALL
        bound = () if of_open else (_GROUPED,)
        found, parked = await self._database.batch(
            [Statement(group, (*_fitting(wanted), limit, *bound)), Statement(SELECT_PARKED)]
        )
        models = {parse_lane(row["lane"]).model for row in parked}
        return [_to_group(row, parked=models) for row in found]

    def _expiring_page(
        self, wanted: LetterFilter, place: LetterPlace, limit: int
    ) -> tuple[Statement, Statement]:
        """As ``_page``. To ask for an input takes more than to look at a letter: fewer are."""
        asked = (*_fitting(wanted), *place, _STRETCH, limit, int(wanted.past_triage), *self._ages)
        end = (*place, _STRETCH - 1, self._ages.youngest, self._ages.oldest)
        return Statement(sql.PAGE_OF_EXPIRING, asked), Statement(sql.END_OF_EXPIRING, end)


def _page(wanted: LetterFilter, place: LetterPlace, limit: int) -> tuple[Statement, Statement]:
    """Return the statements of a page, and of where its stretch ends."""
    of_open = wanted.status is LetterStatus.OPEN or wanted.past_triage
    stretch = _OPEN_STRETCH if of_open else _STRETCH
    if wanted in _FIT_ALL:
        stretch = limit
    asked, end = (*_fitting(wanted), *place, stretch, limit), (*place, stretch - 1)
    if of_open:
        whole = (*asked, int(wanted.past_triage))
        return Statement(sql.PAGE_OF_OPEN, whole), Statement(sql.END_OF_OPEN, end)
    return Statement(sql.PAGE_OF_ALL, asked), Statement(sql.END_OF_ALL, end)


def _fitting(wanted: LetterFilter) -> tuple[Param, ...]:
    return (
        wanted.fingerprint, wanted.tenant_id, wanted.kind, wanted.error_class, wanted.status
    )  # fmt: skip


def _place(row: Row) -> LetterPlace:
    return LetterPlace(int(row["last_failed_at"]), row["id"])


def _to_group(row: Row, *, parked: set[str]) -> LetterGroup:
    return LetterGroup(
        fingerprint=row["fingerprint"],
        kind=row["kind"],
        error_class=rows.to_error_class(row["class"]) or ErrorClass.UNKNOWN,
        code=row["code"],
        model=row["model"],
        count=int(row["letters"]),
        tenants=int(row["tenants"]),
        first_failed_at=rows.to_time(row["first_failed_at"]),
        last_failed_at=rows.to_time(row["last_failed_at"]),
        parked=row["model"] in parked,
    )
