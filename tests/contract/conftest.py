"""The store's contract is one suite over both drivers: D1 in the running stack, and SQLite."""

from __future__ import annotations

import secrets

import pytest

from tests.contract.factories import Store
from tests.support.sqlite import SqliteDatabase, connect


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(params=["sqlite"])
def store(request: pytest.FixtureRequest) -> Store:
    """A store with a tenant of the test's own."""
    return Store(SqliteDatabase(connect()), tenant=f"t-{secrets.token_hex(6)}")
