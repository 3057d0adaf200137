"""A database as the store needs it: batches that are transactions, and rows as mappings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

# What a parameter may be: D1 binds these and no others faithfully (whole numbers below 2**53).
Param = str | int | float | None
Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement and its parameters, ``?1`` first."""

    sql: str
    params: tuple[Param, ...] = ()


class Database(Protocol):
    """D1, or SQLite: the driver is the only thing that differs."""

    async def batch(self, statements: Sequence[Statement]) -> Sequence[Sequence[Row]]:
        """Run the statements in order, as one transaction; return each one's rows.

        Raises ``services.ports.Unavailable`` when the answer did not come, which for a write
        leaves open whether it happened.
        """
        ...
