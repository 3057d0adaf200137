"""The statements of lists of dead letters: each looks through a bounded stretch of one index.

What fits is sought among what the index holds as far as it goes; the rest is read of a page's
letters only.
"""

from __future__ import annotations

from typing import Final

from uketsuke.adapters.sql.letter_terms import GOES_SOON, LETTER, PAST_TRIAGE, WITH_JOB
from uketsuke.adapters.sql.terms import NOW

NEWEST_FIRST: Final = "ORDER BY last_failed_at DESC, id DESC"
# As the column of that name, which would ask for more than the index holds.
FINGERPRINT: Final = (
    "coalesce(kind, '') || ':' || class || ':' || code || ':' || coalesce(model, '')"
)
# ?1 fingerprint, ?2 tenant, ?3 kind, ?4 class, ?5 status
FITS: Final = f"""(?1 IS NULL OR {FINGERPRINT} = ?1)
         AND (?2 IS NULL OR tenant_id = ?2)
         AND (?3 IS NULL OR kind = ?3)
         AND (?4 IS NULL OR class = ?4)
         AND (?5 IS NULL OR status = ?5)"""
OF_OPEN: Final = "status = 'open'"

_COLUMNS: Final = "id, last_failed_at, kind, class, code, model, tenant_id, status"
_LAST_FIRST: Final = "ORDER BY d.last_failed_at DESC, d.id DESC"
# Whether the time to look at it is over, if that is asked for: ?10 is 1 then.
_FITS_OPEN: Final = f"{FITS} AND (?10 = 0 OR {PAST_TRIAGE})"


def _behind(at: str, name: str) -> str:
    return f"(last_failed_at, id) < ({at}, {name})"


def _open_of_age(at: str, name: str, *, youngest: str, oldest: str) -> str:
    """Open letters of the age at which an input may be about to go, see ``Ages``."""
    start = f"min({at}, {NOW} - {youngest} + 1)"
    return f"{OF_OPEN} AND last_failed_at >= {NOW} - {oldest} AND {_behind(start, name)}"


def _select_page(which: str, *, columns: str, fits: str) -> str:
    """Fitting letters of a stretch.

    ?1 to ?5 what fits, ?6 when the letter before failed last and ?7 its id, ?8 stretch, ?9 page
    """
    return f"""
    SELECT{LETTER}
      FROM (SELECT id
              FROM (SELECT {columns} FROM dead_letters WHERE {which} {NEWEST_FIRST} LIMIT ?8)
             WHERE {fits} {NEWEST_FIRST} LIMIT ?9) AS page
           CROSS JOIN dead_letters AS d ON d.id = page.id
           {WITH_JOB}
     {_LAST_FIRST}
    """


def _select_end(which: str) -> str:
    """Where a full stretch ends. ?1 and ?2 the letter before, ?3 stretch - 1"""
    return f"""
    SELECT last_failed_at, id
      FROM dead_letters
     WHERE {which}
     {NEWEST_FIRST}
     LIMIT 1 OFFSET ?3
    """


_OPEN_COLUMNS: Final = f"{_COLUMNS}, triage_due_at"
PAGE_OF_ALL: Final = _select_page(_behind("?6", "?7"), columns=_COLUMNS, fits=FITS)
END_OF_ALL: Final = _select_end(_behind("?1", "?2"))
PAGE_OF_OPEN: Final = _select_page(
    f"{OF_OPEN} AND {_behind('?6', '?7')}", columns=_OPEN_COLUMNS, fits=_FITS_OPEN
)
END_OF_OPEN: Final = _select_end(f"{OF_OPEN} AND {_behind('?1', '?2')}")

# Each that fits is asked for its input. As of open ones, and ?11 to ?13 the ages
PAGE_OF_EXPIRING: Final = f"""
    SELECT{LETTER}
      FROM (SELECT id
              FROM (SELECT {_OPEN_COLUMNS}
                      FROM dead_letters
                     WHERE {_open_of_age("?6", "?7", youngest="?11", oldest="?12")}
                     {NEWEST_FIRST}
                     LIMIT ?8)
             WHERE {_FITS_OPEN}) AS page
           CROSS JOIN dead_letters AS d ON d.id = page.id
           CROSS JOIN jobs AS j ON j.tenant_id = d.tenant_id AND j.id = d.job_id
     WHERE {GOES_SOON.format(ahead="?13")}
     {_LAST_FIRST}
     LIMIT ?9
    """
# ?1 and ?2 the letter before, ?3 stretch - 1, ?4 and ?5 the youngest and the oldest age
END_OF_EXPIRING: Final = _select_end(_open_of_age("?1", "?2", youngest="?4", oldest="?5"))

_BY_REDRIVE: Final = "redrive_id = {redrive} AND redriven_to < {before}"
_LATEST_FIRST: Final = "ORDER BY redriven_to DESC"
# The last to be redriven first: so they lie in their index.
# ?1 to ?5 what fits, ?6 bulk redrive, ?7 the new job before which to look, ?8 stretch, ?9 page
PAGE_OF_REDRIVE: Final = f"""
    SELECT{LETTER}
      FROM (SELECT id, redriven_to
              FROM (SELECT {_COLUMNS}, redriven_to
                      FROM dead_letters
                     WHERE {_BY_REDRIVE.format(redrive="?6", before="?7")}
                     {_LATEST_FIRST}
                     LIMIT ?8)
             WHERE {FITS} {_LATEST_FIRST} LIMIT ?9) AS page
           CROSS JOIN dead_letters AS d ON d.id = page.id
           {WITH_JOB}
     ORDER BY d.redriven_to DESC
    """
# ?1 bulk redrive, ?2 the new job before which to look, ?3 stretch - 1
END_OF_REDRIVE: Final = f"""
    SELECT redriven_to
      FROM dead_letters
     WHERE {_BY_REDRIVE.format(redrive="?1", before="?2")}
     {_LATEST_FIRST}
     LIMIT 1 OFFSET ?3
    """
