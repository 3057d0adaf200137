"""Lists and groups of dead letters. A page looks at a bounded stretch and counts nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from uketsuke.adapters.sql import rows
from uketsuke.adapters.sql.database import Database, Param, Row, Statement
from uketsuke.adapters.sql.dead_letters import to_dead_letter
from uketsuke.adapters.sql.letter_terms import LETTER, WITH_JOB
from uketsuke.adapters.sql.terms import NOW
from uketsuke.domain.dead_letter import LetterStatus
from uketsuke.domain.failure import ErrorClass
from uketsuke.domain.lane import parse_lane
from uketsuke.domain.letter_group import LetterGroup
from uketsuke.services.ports import LetterFilter, LetterPage, LetterPlace

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

_OF_OPEN: Final = "status = 'open'"
_OF_ALL: Final = "true"
_NEWEST_FIRST: Final = "ORDER BY last_failed_at DESC, id DESC"
# As the column of that name, which would ask for more than the index holds.
_FINGERPRINT: Final = (
    "coalesce(kind, '') || ':' || class || ':' || code || ':' || coalesce(model, '')"
)
# ?1 fingerprint, ?2 tenant, ?3 kind, ?4 class, ?5 status
_FITS: Final = f"""(?1 IS NULL OR {_FINGERPRINT} = ?1)
         AND (?2 IS NULL OR tenant_id = ?2)
         AND (?3 IS NULL OR kind = ?3)
         AND (?4 IS NULL OR class = ?4)
         AND (?5 IS NULL OR status = ?5)"""


def _select_page(which: str) -> str:
    """Fitting letters of a stretch.

    ?1 to ?5 what fits, ?6 when the letter before failed last and ?7 its id, ?8 stretch, ?9 page
    """
    stretch = f"""SELECT id, last_failed_at, kind, class, code, model, tenant_id, status
                    FROM dead_letters
                   WHERE {which} AND (last_failed_at, id) < (?6, ?7)
                   {_NEWEST_FIRST}
                   LIMIT ?8"""
    return f"""
    SELECT{LETTER}
      FROM (SELECT id FROM ({stretch}) WHERE {_FITS} {_NEWEST_FIRST} LIMIT ?9) AS page
           CROSS JOIN dead_letters AS d ON d.id = page.id
           {WITH_JOB}
     ORDER BY d.last_failed_at DESC, d.id DESC
    """


def _select_end(which: str) -> str:
    """Where a full stretch ends. ?1 and ?2 the letter before, ?3 stretch - 1"""
    return f"""
    SELECT last_failed_at, id
      FROM dead_letters
     WHERE {which} AND (last_failed_at, id) < (?1, ?2)
     {_NEWEST_FIRST}
     LIMIT 1 OFFSET ?3
    """


def _select_groups(letters: str) -> str:
    """?1 to ?5 what fits, ?6 how many groups"""
    return f"""
    SELECT {_FINGERPRINT} AS fingerprint, kind, class, code, model, count(*) AS letters,
           count(DISTINCT tenant_id) AS tenants, min(first_failed_at) AS first_failed_at,
           max(last_failed_at) AS last_failed_at
      FROM {letters}
     WHERE {_FITS}
     GROUP BY kind, class, code, model
     ORDER BY letters DESC, max(last_failed_at) DESC, fingerprint
     LIMIT ?6
    """


PAGE_OF_OPEN: Final = _select_page(_OF_OPEN)
PAGE_OF_ALL: Final = _select_page(_OF_ALL)
END_OF_OPEN: Final = _select_end(_OF_OPEN)
END_OF_ALL: Final = _select_end(_OF_ALL)
GROUPS_OF_OPEN: Final = _select_groups(f"(SELECT * FROM dead_letters WHERE {_OF_OPEN})")
# ?7 how many letters are looked at
GROUPS_OF_ALL: Final = _select_groups(f"(SELECT * FROM dead_letters {_NEWEST_FIRST} LIMIT ?7)")
# There are as many as models that trouble us.
SELECT_PARKED: Final = f"""
SELECT lane FROM lanes WHERE forget_at > {NOW} AND parked_until > {NOW} LIMIT 1000
"""


class SqlTriage:
    """``services.ports.Triage`` on any ``Database``."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def page(
        self, wanted: LetterFilter, *, before: LetterPlace | None, limit: int
    ) -> LetterPage:
        whole, end, stretch = PAGE_OF_ALL, END_OF_ALL, _STRETCH
        if wanted.status is LetterStatus.OPEN:
            whole, end, stretch = PAGE_OF_OPEN, END_OF_OPEN, _OPEN_STRETCH
        if wanted in _FIT_ALL:
            stretch = limit
        start = before or _AFTER_ALL
        found, ends = await self._database.batch(
            [
                Statement(whole, (*_fitting(wanted), *start, stretch, limit)),
                Statement(end, (*start, stretch - 1)),
            ]
        )
        letters = [to_dead_letter(row) for row in found]
        last = found if len(found) == limit else ends
        return LetterPage(letters=letters, cursor=_place(last[-1]) if last else None)

    async def groups(self, wanted: LetterFilter, *, limit: int) -> Sequence[LetterGroup]:
        of_open = wanted.status is LetterStatus.OPEN
        group = GROUPS_OF_OPEN if of_open else GROUPS_OF_ALL
        bound = () if of_open else (_GROUPED,)
        found, parked = await self._database.batch(
            [Statement(group, (*_fitting(wanted), limit, *bound)), Statement(SELECT_PARKED)]
        )
        models = {parse_lane(row["lane"]).model for row in parked}
        return [_to_group(row, parked=models) for row in found]


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
