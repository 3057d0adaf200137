"""Dead letters for the store's tests, written as they lie."""

from __future__ import annotations

import itertools
import secrets
from collections.abc import Mapping
from typing import Any

from tests.contract.factories import Store
from uketsuke.adapters.sql.database import Statement

# Far from any clock, so that a list of all letters begins with these.
LATE_MS = 5_000_000_000_000
_numbers = itertools.count()


def letter_id() -> str:
    return f"dl_{next(_numbers):010d}{secrets.token_hex(8)}"


async def put_letter(store: Store, **columns: object) -> str:
    """Write an open letter of the store's tenant and return its id; ``columns`` say the rest."""
    (letter,) = await put_letters(store, 1, **columns)
    return letter


async def put_letters(store: Store, count: int, **columns: object) -> list[str]:
    """Write so many of them at once."""
    rows = [_row(store, columns) for _ in range(count)]
    names = ", ".join(rows[0])
    marks = ", ".join(f"?{number}" for number, _ in enumerate(rows[0], 1))
    sql = f"INSERT INTO dead_letters ({names}) VALUES ({marks})"  # noqa: S608 - our own names
    await store.database.batch([Statement(sql, tuple(row.values())) for row in rows])
    return [row["id"] for row in rows]


def _row(store: Store, columns: Mapping[str, object]) -> Mapping[str, Any]:
    at = columns.get("last_failed_at", LATE_MS)
    values: Mapping[str, Any] = {
        "id": letter_id(),
        "tenant_id": store.tenant,
        "job_id": "job_" + secrets.token_hex(13),
        "kind": "summarize",
        "road": "exhausted",
        "class": "timeout",
        "code": "provider_timed_out",
        "model": "m",
        "attempts": 1,
        "schema_version": 1,
        "first_failed_at": at,
        "last_failed_at": at,
        "triage_due_at": at,
        **columns,
    }
    if values.get("status", "open") != "open":
        values = {"resolved_at": at, "resolved_by": "key", "reason": "why", **values}
    return values
