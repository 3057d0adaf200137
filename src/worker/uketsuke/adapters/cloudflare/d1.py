"""D1 as the store's database."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from uketsuke.adapters.cloudflare import ffi
from uketsuke.adapters.sql.database import Row, Statement
from uketsuke.services.ports import DatabaseUse


class D1Database:
    """``adapters.sql.database.Database`` on a raw D1 binding. A batch is D1's transaction.

    What each batch used is added to ``use``.
    """

    def __init__(self, binding: Any, use: DatabaseUse) -> None:
        self._binding = binding
        self._use = use

    async def batch(self, statements: Sequence[Statement]) -> Sequence[Sequence[Row]]:
        try:
            answers = await ffi.patiently(
                self._binding.batch(ffi.to_object([self._bind(s) for s in statements]))
            )
            self._count(answers)
            return [ffi.from_json(answer.results) for answer in answers]
        except ffi.JsError as error:
            raise ffi.translate(error) from None

    def _count(self, answers: Sequence[Any]) -> None:
        self._use.calls += 1
        self._use.rows_read += sum(_told(answer, "rows_read") for answer in answers)
        self._use.rows_written += sum(_told(answer, "rows_written") for answer in answers)

    def _bind(self, statement: Statement) -> Any:
        prepared = self._binding.prepare(statement.sql)
        if not statement.params:
            return prepared
        return prepared.bind(*map(ffi.or_null, statement.params))


def _told(answer: Any, figure: str) -> int:
    """Return what D1 tells of an answer, 0 if nothing: what was done must not fail for a figure."""
    return int(getattr(getattr(answer, "meta", None), figure, 0) or 0)
