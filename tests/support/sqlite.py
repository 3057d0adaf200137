"""The store's second driver: stdlib SQLite, with the same migrations and a clock under control."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from uketsuke.adapters.sql.database import Row, Statement

MIGRATIONS = Path(__file__).parents[2] / "migrations"
_UNIX_EPOCH_JULIAN = 2440587.5
_DAY_MS = 86_400_000


def connect(now_ms: Callable[[], float] | None = None) -> sqlite3.Connection:
    """Open a migrated database in memory; ``now_ms`` replaces its clock."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.row_factory = sqlite3.Row
    for path in sorted(MIGRATIONS.glob("*.sql")):
        connection.executescript(path.read_text())
    if now_ms is not None:
        # The half millisecond keeps the statements' truncation from landing one below.
        connection.create_function(
            "julianday", 1, lambda _: _UNIX_EPOCH_JULIAN + (now_ms() + 0.5) / _DAY_MS
        )
    return connection


class SqliteDatabase:
    """``adapters.sql.database.Database`` on stdlib SQLite."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection

    async def batch(self, statements: Sequence[Statement]) -> Sequence[Sequence[Row]]:
        return self.run(statements)

    def run(self, statements: Sequence[Statement]) -> list[list[Row]]:
        """Run as one transaction, as D1 does."""
        if len(statements) == 1:  # is one by itself
            return [self._one(statements[0])]
        self.connection.execute("BEGIN IMMEDIATE")
        try:
            answers = [self._one(statement) for statement in statements]
        except BaseException:
            self.connection.execute("ROLLBACK")
            raise
        self.connection.execute("COMMIT")
        return answers

    def _one(self, statement: Statement) -> list[Row]:
        # D1 binds numbers as REAL: bind them so here too, lest a difference hide.
        params: list[Any] = [
            float(param) if isinstance(param, int) else param for param in statement.params
        ]
        named = {str(number): param for number, param in enumerate(params, 1)}
        return [dict(row) for row in self.connection.execute(statement.sql, named)]
