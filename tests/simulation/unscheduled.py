"""Duties that no history needs: each minute they would find nothing, or only count.

No history has schedules, none lasts until a resolved dead letter goes, and what the conditions say
changes nothing.

They are apart because they were a quarter of all transactions; whoever lets histories have
schedules takes this away.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from uketsuke.adapters.sql.sweeping import SqlSweeping

_DUTIES: Final = ("start_due", "occurrences", "purge_letters", "conditions")


class UnscheduledSweeping(SqlSweeping):
    """``services.ports.Sweeping`` where those duties are always another sweep's."""

    async def claim_duty(self, name: str, *, token: str, lease: timedelta) -> bool:
        return name not in _DUTIES and await super().claim_duty(name, token=token, lease=lease)
