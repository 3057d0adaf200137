"""D1 as the store's database."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from uketsuke.adapters.cloudflare import ffi
from uketsuke.adapters.sql.database import Row, Statement


class D1Database:
    """``adapters.sql.database.Database`` on a raw D1 binding. A batch is D1's transaction."""

    def __init__(self, binding: Any) -> None:
        self._binding = binding

    async def batch(self, statements: Sequence[Statement]) -> Sequence[Sequence[Row]]:
        try:
            answers = await ffi.patiently(
                self._binding.batch(ffi.to_object([self._bind(s) for s in statements]))
            )
            return [ffi.from_json(answer.results) for answer in answers]
        except ffi.JsError as error:
            raise ffi.translate(error) from None

    def _bind(self, statement: Statement) -> Any:
        prepared = self._binding.prepare(statement.sql)
        if not statement.params:
            return prepared
        return prepared.bind(*map(ffi.or_null, statement.params))
