"""Duties that would find nothing each minute: they were half of all transactions.

No history has schedules, and what the conditions, the alerts and the figures over time say changes
nothing. And nothing is past its retention before that has passed.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from uketsuke.adapters.sql.database import Database
from uketsuke.adapters.sql.repository import Retention
from uketsuke.adapters.sql.sweeping import SqlSweeping
from uketsuke.settings import Settings

_NEVER: Final = frozenset({"start_due", "occurrences", "conditions", "alerts", "roll_up"})


def idle_duties(settings: Settings, *, age: timedelta) -> frozenset[str]:
    """Return the duties that have nothing to do in a history that is so old."""
    jobs = {"purge_jobs"} if age < settings.keep_results else set()
    inputs = {"purge_inputs"} if age < settings.keep_inputs else set()
    letters = {"purge_letters"} if age < settings.keep_dead_letters else set()
    return _NEVER | jobs | inputs | letters


class UnscheduledSweeping(SqlSweeping):
    """``services.ports.Sweeping`` where the ``idle`` duties are always another sweep's."""

    def __init__(self, database: Database, retention: Retention, idle: frozenset[str]) -> None:
        super().__init__(database, retention)
        self._idle = idle

    async def claim_duty(self, name: str, *, token: str, lease: timedelta) -> bool:
        return name not in self._idle and await super().claim_duty(name, token=token, lease=lease)
