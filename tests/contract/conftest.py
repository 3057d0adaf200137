"""The store's contract is one suite over both drivers: D1 in the running stack, and SQLite."""

from __future__ import annotations

import secrets
from collections.abc import Sequence

import httpx
import pytest

from tests.contract.factories import Store
from tests.support.running import Stack
from tests.support.sqlite import SqliteDatabase, connect
from uketsuke.adapters.sql.database import Row, Statement


class RemoteD1:
    """``adapters.sql.database.Database`` on the stack's D1, through its control server.

    What was read and written is summed up from what D1 returns with each call.
    """

    def __init__(self, stack: Stack) -> None:
        self._stack = stack
        self.calls = self.rows_read = self.rows_written = 0

    async def batch(self, statements: Sequence[Statement]) -> Sequence[Sequence[Row]]:
        document = {"batch": [{"sql": s.sql, "params": list(s.params)} for s in statements]}
        headers = {"x-control-token": self._stack.ready["control_token"]}
        url = self._stack.ready["control_url"] + "/d1"
        async with httpx.AsyncClient(timeout=60, verify=False) as client:
            answer = await client.post(url, json=document, headers=headers)
        if answer.status_code != 200:
            raise AssertionError(answer.text)
        answers = answer.json()
        self.calls += 1
        self.rows_read += sum(a["meta"]["rows_read"] for a in answers)
        self.rows_written += sum(a["meta"]["rows_written"] for a in answers)
        return [a["results"] for a in answers]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(params=["sqlite", "d1"])
def store(request: pytest.FixtureRequest) -> Store:
    """A store with a tenant of the test's own."""
    tenant = f"t-{secrets.token_hex(6)}"
    if request.param == "sqlite":
        return Store(SqliteDatabase(connect()), tenant)
    return Store(RemoteD1(request.getfixturevalue("stack")), tenant)


@pytest.fixture
def d1_store(stack: Stack) -> Store:
    """A store on D1 only, for what only D1 can tell: rows read and written."""
    return Store(RemoteD1(stack), f"t-{secrets.token_hex(6)}")
