"""Lists by id, newest first, that look at a bounded stretch a page and count nothing.

A rare value of a filter among many rows must not make one request read them all: what is further
back is on a later page, which may be short, or empty, and still have a next one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from uketsuke.adapters.sql.database import Database, Param, Row, Statement

# How many rows one page looks at to find those that fit.
STRETCH: Final = 1000
AFTER_ALL: Final = "~"  # sorts after every id


class List(NamedTuple):
    """The statements of a list: of one tenant, and of all, each with where its stretch ends.

    ?1 tenant, ?2 the id before which to look, ?3 to ?5 what each filter wants or null, ?6 page, ?7
    stretch, ?8 the lowest id; for the end ?3 stretch - 1, ?4 the lowest id
    """

    of_a_tenant: str
    of_all: str
    end_of_a_tenant: str
    end_of_all: str


def list_of(table: str, *, columns: str, fits: tuple[str, str, str], also: str = "") -> List:
    """Return the list of a table by ``id``, with its three filters.

    ``also`` is what else must hold: it starts with AND, and its parameters with ?9.
    """
    one, other, third = fits

    def fitting(who: str) -> str:
        return f"""
    SELECT {columns}
      FROM (SELECT * FROM {table} WHERE {who} AND id < ?2 AND id >= ?8 ORDER BY id DESC LIMIT ?7)
     WHERE (?3 IS NULL OR {one} = ?3)
       AND (?4 IS NULL OR {other} = ?4)
       AND (?5 IS NULL OR {third} = ?5){also}
     ORDER BY id DESC
     LIMIT ?6
    """

    def end(who: str) -> str:
        return f"""
    SELECT id
      FROM {table}
     WHERE {who} AND id < ?2 AND id >= ?4
     ORDER BY id DESC
     LIMIT 1 OFFSET ?3
    """

    mine, everybodys = "tenant_id = ?1", "?1 IS NULL"
    return List(
        of_a_tenant=fitting(mine),
        of_all=fitting(everybodys),
        end_of_a_tenant=end(mine),
        end_of_all=end(everybodys),
    )


async def page_of(
    statements: List,
    wanted: tuple[str | None, str | None, str | None],
    *,
    tenant_id: str | None,
    before: str | None,
    limit: int,
    database: Database,
    floor: str = "",
    also: tuple[Param, ...] = (),
) -> tuple[Sequence[Row], str | None]:
    """Return the rows of a page, and the id before which the next one looks; None at the end.

    Nothing below the id ``floor`` is looked at.
    """
    whole, end = statements.of_all, statements.end_of_all
    if tenant_id is not None:
        whole, end = statements.of_a_tenant, statements.end_of_a_tenant
    start = before or AFTER_ALL
    found, ends = await database.batch(
        [
            Statement(whole, (tenant_id, start, *wanted, limit, STRETCH, floor, *also)),
            Statement(end, (tenant_id, start, STRETCH - 1, floor)),
        ]
    )
    if len(found) == limit:
        return found, found[-1]["id"]
    return found, ends[0]["id"] if ends else None
