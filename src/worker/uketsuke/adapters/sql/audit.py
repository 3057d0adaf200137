"""The audit: how an act writes its row in its own transaction, and how the rows are read.

The table takes no change and no deletion: its triggers see to that.
"""

from __future__ import annotations

from typing import Final

from uketsuke.adapters.sql import rows
from uketsuke.adapters.sql.database import Database, Param, Row, Statement
from uketsuke.adapters.sql.terms import NOW
from uketsuke.domain.audit import Act, Action, AuditRow
from uketsuke.services.ports.audit import AuditFilter, AuditPage

# How many rows one page looks at to find those that fit.
_STRETCH: Final = 1000
_AFTER_ALL: Final = "au_~"  # sorts after every id


def recording(guard: str = "TRUE") -> str:
    """Return the statement that writes an act's row, if ``guard`` holds.

    It stands in the act's own batch, where the guard can tell that the act happens. The guard is
    SQL in which ?3 is the action, ?4 the target and ?5 the tenant; parameters of its own begin at
    ?9. An id is used once: a second row of it fails the batch, so that no act goes without its row.
    """
    return f"""
INSERT INTO audit (id, at, actor, action, target, tenant_id, reason, request_id, detail)
SELECT ?1, {NOW}, ?2, ?3, ?4, ?5, ?6, ?7, ?8
 WHERE {guard}
"""


RECORD: Final = recording()


def record(
    act: Act,
    *,
    action: Action,
    target: str,
    tenant_id: str | None,
    text: str = RECORD,
    guarded_by: tuple[Param, ...] = (),
) -> Statement:
    """Return ``text``, a statement of ``recording``, with an act's values.

    ``tenant_id`` is whose the target is, and None if nobody's.
    """
    row = (
        act.id, act.actor, action, target, tenant_id, act.reason, act.request_id,
        rows.dump(dict(act.detail)),
    )  # fmt: skip
    return Statement(text, (*row, *guarded_by))


def _select(who: str) -> str:
    """Fitting rows of a stretch.

    ?1 tenant, ?2 the id before which to look, ?3 action, ?4 target, ?5 actor, ?6 page, ?7 stretch
    """
    return f"""
    SELECT *
      FROM (SELECT * FROM audit WHERE {who} AND id < ?2 ORDER BY id DESC LIMIT ?7)
     WHERE (?3 IS NULL OR action = ?3)
       AND (?4 IS NULL OR target = ?4)
       AND (?5 IS NULL OR actor = ?5)
     ORDER BY id DESC
     LIMIT ?6
    """


def _select_end(who: str) -> str:
    """Where a full stretch ends. ?1 tenant, ?2 the id before which to look, ?3 stretch - 1"""
    return f"SELECT id FROM audit WHERE {who} AND id < ?2 ORDER BY id DESC LIMIT 1 OFFSET ?3"


_OF_A_TENANT: Final = "tenant_id = ?1"
_OF_ALL: Final = "?1 IS NULL"
AUDIT_OF_A_TENANT: Final = _select(_OF_A_TENANT)
AUDIT_OF_ALL: Final = _select(_OF_ALL)
AUDIT_END_OF_A_TENANT: Final = _select_end(_OF_A_TENANT)
AUDIT_END_OF_ALL: Final = _select_end(_OF_ALL)


class SqlAudit:
    """``services.ports.Audit`` on any ``Database``."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def page(self, wanted: AuditFilter, *, before: str | None, limit: int) -> AuditPage:
        whole, end = (AUDIT_OF_ALL, AUDIT_END_OF_ALL)
        if wanted.tenant_id is not None:
            whole, end = (AUDIT_OF_A_TENANT, AUDIT_END_OF_A_TENANT)
        tenant, start = wanted.tenant_id, before or _AFTER_ALL
        fitting = (tenant, start, wanted.action, wanted.target, wanted.actor, limit, _STRETCH)
        found, ends = await self._database.batch(
            [Statement(whole, fitting), Statement(end, (tenant, start, _STRETCH - 1))]
        )
        if len(found) == limit:
            return AuditPage(rows=[_to_row(row) for row in found], cursor=found[-1]["id"])
        cursor = ends[0]["id"] if ends else None
        return AuditPage(rows=[_to_row(row) for row in found], cursor=cursor)


def _to_row(row: Row) -> AuditRow:
    act = Act(
        id=row["id"],
        actor=row["actor"],
        reason=row["reason"],
        request_id=row["request_id"],
        detail=rows.load(row["detail"]),
    )
    return AuditRow(
        act=act,
        at=rows.to_time(row["at"]),
        action=row["action"],
        target=row["target"],
        tenant_id=row["tenant_id"],
    )
