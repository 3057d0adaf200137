"""What looking at jobs costs with 100,000 of them: rows that D1 says it has read, and their bound.

The bounds are in ``bench/budget.json``. A row that is found by an index other than its table's own
is read twice.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.contract.factories import Store
from tests.contract.test_cost import BUDGET, Spent, fill
from uketsuke.adapters.sql.database import Statement
from uketsuke.adapters.sql.listing import SqlListing
from uketsuke.services.ports import JobFilter

pytestmark = pytest.mark.anyio


@pytest.fixture
async def full(d1_store: Store) -> AsyncIterator[Store]:
    """A tenant with 100,000 jobs that have ended."""
    await fill(d1_store, 100_000)
    yield d1_store
    await d1_store.database.batch(
        [Statement("DELETE FROM jobs WHERE tenant_id = ?1", (d1_store.tenant,))]
    )


async def test_looking_at_many_jobs_reads_a_bounded_part_of_them(full: Store) -> None:
    listing, spent = SqlListing(full.database), Spent(full.database)
    for tenant in (full.tenant, None):
        for wanted in (JobFilter(), JobFilter(kind="report")):
            spent.reset()
            await listing.counts(wanted, tenant_id=tenant)
            assert spent.calls == 1
            assert spent.read <= BUDGET["counts"]["rows_read"]
