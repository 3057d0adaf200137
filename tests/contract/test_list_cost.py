"""What looking at jobs costs with 100,000 of them: the rows that D1 says it has read, bounded.

The bounds are in ``bench/budget.json``, and hold however many jobs live. D1 counts a row that is
found by another index than its table's own twice, and again what it sorts.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from datetime import UTC, datetime
from functools import partial

import pytest

from tests.contract.factories import Store
from tests.contract.test_cost import BUDGET, Spent, fill
from uketsuke.adapters.sql.database import Statement
from uketsuke.adapters.sql.listing import LIVE_AT_MOST, SqlListing
from uketsuke.domain.lifecycle import JobState
from uketsuke.services.ports import JobFilter

pytestmark = pytest.mark.anyio
Reader = Callable[[], Awaitable[object]]
NOON = datetime(2026, 11, 29, 12, tzinfo=UTC)
LIVE = (JobState.ACCEPTED, JobState.RUNNING, JobState.RETRYING)
ENDED = (
    JobFilter(),
    JobFilter(kind="report"),
    JobFilter(state=JobState.FAILED),
    JobFilter(created_after=NOON, created_before=NOON),
    JobFilter(finished_after=NOON),
)

# Older than all that ended; the oldest runs. ?1 tenant, ?2 how many
LIVING = """
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ?2 - 1)
INSERT INTO jobs (tenant_id, id, request_key, kind, engine, origin, state, params, metadata, input,
                  max_attempts, created_at, due_at, wake_at, deadline_at, leased_at, leased_until,
                  lease_token)
SELECT ?1, 'job_' || printf('-%025d', i), i, 'embed', 'queue', 'api',
       CASE i WHEN 0 THEN 'running' ELSE 'accepted' END, '{}', '{}',
       '{"form": "text", "bytes": 1}', 5, 1, 9000000000000, 9000000000000, 9000000000000,
       CASE i WHEN 0 THEN 1 END, CASE i WHEN 0 THEN 9000000000000 END, CASE i WHEN 0 THEN 't' END
  FROM n
"""


@pytest.fixture
async def full(d1_store: Store) -> AsyncIterator[Store]:
    """A tenant with 100,000 jobs that have ended."""
    await fill(d1_store, 100_000)
    yield d1_store
    await d1_store.database.batch(
        [Statement("DELETE FROM jobs WHERE tenant_id = ?1", (d1_store.tenant,))]
    )


def readers(store: Store) -> Iterator[tuple[str, Reader]]:
    """Yield what pages ask for, each with the name of its budget."""
    listing = SqlListing(store.database)
    for tenant in (store.tenant, None):
        page = partial(listing.page, tenant_id=tenant, before=None, limit=200)
        yield "counts", partial(listing.counts, JobFilter(), tenant_id=tenant)
        yield "counts", partial(listing.counts, JobFilter(kind="report"), tenant_id=tenant)
        yield from (("page", partial(page, wanted)) for wanted in ENDED)
        yield from (("live_page", partial(page, JobFilter(state=state))) for state in LIVE)
        yield from (("live_page", partial(page, JobFilter(due=due))) for due in (True, False))


async def live_now(store: Store, jobs: int) -> None:
    ended = Statement("DELETE FROM jobs WHERE tenant_id = ?1 AND wake_at > 0", (store.tenant,))
    await store.database.batch([ended, Statement(LIVING, (store.tenant, jobs))])


async def test_looking_at_many_jobs_reads_a_bounded_part_of_them(full: Store) -> None:
    spent = Spent(full.database)

    for living in (1, LIVE_AT_MOST // 2, LIVE_AT_MOST + 1):
        await live_now(full, living)
        for name, read in readers(full):
            spent.reset()
            await read()
            budget = BUDGET[name]
            many = name == "live_page" and living > LIVE_AT_MOST
            assert spent.calls == budget["calls"] + many, (name, living, read)
            assert spent.read <= budget["rows_read"], (name, living, read)


async def test_a_live_job_that_is_older_than_100000_others_is_on_the_first_page(
    full: Store,
) -> None:
    await live_now(full, 1000)

    page = await SqlListing(full.database).page(
        JobFilter(state=JobState.RUNNING), tenant_id=full.tenant, before=None, limit=50
    )

    assert [job.id for job in page.jobs] == [f"job_-{0:025d}"]
    assert page.cursor is None
