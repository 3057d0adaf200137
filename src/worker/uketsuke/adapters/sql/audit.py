"""The audit: how an act writes its row in its own transaction, and how the rows are read.

The table takes no change and no deletion: its triggers see to that.
"""

from __future__ import annotations

from typing import Final

from uketsuke.adapters.sql import rows
from uketsuke.adapters.sql.database import Database, Param, Row, Statement
from uketsuke.adapters.sql.stretch import list_of, page_of
from uketsuke.adapters.sql.terms import NOW
from uketsuke.domain.audit import Act, Action, AuditRow
from uketsuke.services.ports.audit import AuditFilter, AuditPage


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


AUDIT = list_of("audit", columns="*", fits=("action", "target", "actor"))
AUDIT_OF_A_TENANT, AUDIT_OF_ALL, AUDIT_END_OF_A_TENANT, AUDIT_END_OF_ALL = AUDIT


class SqlAudit:
    """``services.ports.Audit`` on any ``Database``."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def page(self, wanted: AuditFilter, *, before: str | None, limit: int) -> AuditPage:
        found, cursor = await page_of(
            AUDIT,
            (wanted.action, wanted.target, wanted.actor),
            tenant_id=wanted.tenant_id,
            before=before,
            limit=limit,
            database=self._database,
        )
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
