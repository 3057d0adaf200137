"""Lists of jobs by time on both drivers: from a moment on, before another, and their end."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime, timedelta

import pytest

from tests.contract.factories import Store, ending
from tests.contract.test_listing import pages
from uketsuke.adapters.sql import stretch as module
from uketsuke.adapters.sql.database import Statement
from uketsuke.domain.ids import time_sorted_id
from uketsuke.domain.job import JobKey
from uketsuke.domain.lifecycle import JobState, Origin
from uketsuke.services.ports import JobFilter

pytestmark = pytest.mark.anyio
NOON = datetime(2026, 11, 29, 12, tzinfo=UTC)
MS = timedelta(milliseconds=1)


def ms(time: datetime) -> int:
    return int(time.timestamp() * 1000)


async def created(
    store: Store, at: datetime, *, named: datetime | None = None, origin: Origin = Origin.API
) -> str:
    """Accept a job at a time; it was ``named`` at another, if that is given."""
    name = time_sorted_id("job", now_ms=ms(named or at), entropy=secrets.token_bytes(10))
    key = await store.accepted(key=JobKey(store.tenant, name), origin=origin)
    await dated(store, key, "created_at", at)
    return key.job_id


async def dated(store: Store, key: JobKey, column: str, at: datetime) -> None:
    sql = f"UPDATE jobs SET {column} = ?3 WHERE tenant_id = ?1 AND id = ?2"  # noqa: S608 - ours
    await store.database.batch([Statement(sql, (*key, ms(at)))])


async def finished(store: Store, at: datetime) -> str:
    leased = await store.leased()
    await store.jobs.settle([ending(leased)])
    await dated(store, leased.job.key, "finished_at", at)
    return leased.job.id


async def found(store: Store, wanted: JobFilter, *, limit: int = 50) -> list[str]:
    return [id_ for page in await pages(store, wanted, limit=limit) for id_ in page]


async def test_a_time_of_creation_is_in_from_after_on_and_out_from_before_on(store: Store) -> None:
    _, first, second, _ = [
        await created(store, NOON + offset) for offset in (-MS, 0 * MS, 9 * MS, 10 * MS)
    ]

    span = JobFilter(created_after=NOON, created_before=NOON + 10 * MS)

    assert await found(store, span) == [second, first]
    assert await found(store, span, limit=1) == [second, first]


async def test_a_part_of_a_millisecond_counts(store: Store) -> None:
    at_noon = await created(store, NOON)

    within = timedelta(microseconds=1)

    assert await found(store, JobFilter(created_after=NOON + within)) == []
    assert await found(store, JobFilter(created_before=NOON + within)) == [at_noon]


async def test_the_time_of_the_row_counts_and_not_that_of_the_name(store: Store) -> None:
    """A request names its job, and the database dates it, a moment later by another clock."""
    early = await created(store, NOON, named=NOON - timedelta(seconds=20))
    late = await created(store, NOON - MS, named=NOON + timedelta(seconds=20))

    assert await found(store, JobFilter(created_after=NOON)) == [early]
    assert await found(store, JobFilter(created_before=NOON)) == [late]


async def test_an_occurrence_that_started_late_is_where_it_was_due(store: Store) -> None:
    hour = timedelta(hours=1)
    late = await created(store, NOON + hour, named=NOON, origin=Origin.SCHEDULE)

    assert await found(store, JobFilter(created_after=NOON, created_before=NOON + MS)) == [late]
    assert await found(store, JobFilter(created_before=NOON)) == []
    assert await found(store, JobFilter(created_after=NOON + MS)) == []


async def test_a_list_ends_where_nothing_can_fit_any_more(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "STRETCH", 2)
    for hours in range(1, 9):
        await created(store, NOON - timedelta(hours=hours))
    new = await created(store, NOON)

    async def seen(wanted: JobFilter) -> list[list[str]]:
        return await pages(store, wanted, limit=50)

    assert await seen(JobFilter(created_after=NOON)) == [[new]]
    assert len(await seen(JobFilter())) == 5


async def test_a_list_begins_where_something_can_fit(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = await created(store, NOON)
    monkeypatch.setattr(module, "STRETCH", 2)
    for hours in range(1, 9):
        await created(store, NOON + timedelta(hours=hours))

    assert await pages(store, JobFilter(created_before=NOON + MS), limit=50) == [[old]]
    assert await pages(store, JobFilter(finished_before=NOON + MS), limit=50) == [[]]


async def test_a_time_of_ending_is_in_from_after_on_and_out_from_before_on(store: Store) -> None:
    at = datetime(2030, 1, 1, tzinfo=UTC)  # after the factories name their jobs
    first = await finished(store, at)
    second = await finished(store, at + 9 * MS)
    await finished(store, at + 10 * MS)
    await store.accepted()

    span = JobFilter(finished_after=at, finished_before=at + 10 * MS)

    assert await found(store, span) == [second, first]
    assert first not in await found(store, JobFilter(finished_after=at + MS))
    assert await found(store, JobFilter(finished_before=at + MS)) == [first]


async def test_of_live_jobs_times_are_the_same(store: Store) -> None:
    await created(store, NOON - MS)
    first = await created(store, NOON)
    await created(store, NOON + MS)
    span = JobFilter(state=JobState.ACCEPTED, created_after=NOON, created_before=NOON + MS)

    assert await found(store, span) == [first]
    assert await found(store, JobFilter(state=JobState.ACCEPTED, finished_after=NOON)) == []


async def test_the_ends_of_the_calendar_are_times_too(store: Store) -> None:
    first = datetime(1, 1, 1, tzinfo=UTC)
    last = datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)
    job = await created(store, NOON)

    assert await found(store, JobFilter(created_after=first, created_before=last)) == [job]
    assert await found(store, JobFilter(created_after=last)) == []
    assert await found(store, JobFilter(created_before=first)) == []
    assert await found(store, JobFilter(finished_after=first, finished_before=last)) == []
