"""What the services need of the store for the audit. Each act's own row is written with the act."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from uketsuke.domain.audit import AuditRow


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditFilter:
    """What of the audit is asked for; None is all. ``tenant_id`` is the target's."""

    action: str | None = None
    target: str | None = None
    actor: str | None = None
    tenant_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditPage:
    """Rows, newest first. ``cursor`` is the id before which the next page begins, if there is one.

    A page looks at a bounded stretch: it may be short, or empty, and still have a next one.
    """

    rows: Sequence[AuditRow]
    cursor: str | None


class Audit(Protocol):
    """What operators and administrators did. It can be read, and added to by the acts alone."""

    async def page(self, wanted: AuditFilter, *, before: str | None, limit: int) -> AuditPage: ...
