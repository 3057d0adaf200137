"""The store of API keys, read only: keys are minted by an administrator."""

from __future__ import annotations

from typing import Final

from uketsuke.adapters.sql.database import Database, Statement
from uketsuke.domain.api_key import StoredKey

# ?1 key id
SELECT_KEY: Final = """
SELECT id, tenant_id, scopes, secret_hash, revoked_at FROM api_keys WHERE id = ?1
"""


class SqlKeys:
    """Keys by their public id."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def find(self, key_id: str) -> StoredKey | None:
        (found,) = await self._database.batch([Statement(SELECT_KEY, (key_id,))])
        if not found:
            return None
        (row,) = found
        return StoredKey(
            key_id=row["id"],
            tenant_id=row["tenant_id"],
            scopes=frozenset(row["scopes"].split()),
            secret_hash=row["secret_hash"],
            revoked=row["revoked_at"] is not None,
        )
