"""Lists of jobs on both drivers: newest first, one's own, a bounded stretch a page."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from tests.contract.factories import Store, ending
from uketsuke.adapters.sql import listing as listing_module
from uketsuke.adapters.sql import stretch as module
from uketsuke.adapters.sql.database import Statement
from uketsuke.adapters.sql.listing import SqlListing
from uketsuke.adapters.sql.terms import NOW
from uketsuke.domain.lifecycle import JobState
from uketsuke.services.ports import JobFilter

pytestmark = pytest.mark.anyio


async def pages(
    store: Store, wanted: JobFilter, *, limit: int, tenant_id: str | None = ""
) -> list[list[str]]:
    """Follow a list to its end and return the ids of each page."""
    tenant = store.tenant if tenant_id == "" else tenant_id
    listing, cursor, found = SqlListing(store.database), None, []
    while True:
        page = await listing.page(wanted, tenant_id=tenant, before=cursor, limit=limit)
        found.append([job.id for job in page.jobs if job.tenant_id == store.tenant])
        cursor = page.cursor
        if cursor is None:
            return found


async def test_a_list_is_newest_first_and_whole_over_its_pages(store: Store) -> None:
    ids = [(await store.accepted()).job_id for _ in range(7)]

    found = await pages(store, JobFilter(), limit=3)

    assert [id_ for page in found for id_ in page] == ids[::-1]
    assert [len(page) for page in found] == [3, 3, 1]


async def test_a_filter_leaves_out_what_does_not_fit(store: Store) -> None:
    done = await store.leased(await store.accepted(run_key="nightly"))
    await store.jobs.settle([ending(done)])
    live = (await store.accepted(run_key="nightly", kind="embed")).job_id
    await store.accepted()

    async def found(wanted: JobFilter) -> list[str]:
        return [id_ for page in await pages(store, wanted, limit=50) for id_ in page]

    assert await found(JobFilter(run_key="nightly")) == [live, done.job.id]
    assert await found(JobFilter(state=JobState.SUCCEEDED)) == [done.job.id]
    assert await found(JobFilter(kind="embed", run_key="nightly")) == [live]
    assert await found(JobFilter(kind="report")) == []


async def test_a_rare_job_is_found_over_short_pages(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "STRETCH", 4)
    rare = (await store.accepted(kind="embed")).job_id
    for _ in range(9):
        await store.accepted()

    found = await pages(store, JobFilter(kind="embed"), limit=50)

    assert [id_ for page in found for id_ in page] == [rare]
    assert len(found) == 3


async def test_an_operator_sees_every_tenants_jobs(store: Store) -> None:
    key = await store.accepted()

    page = await SqlListing(store.database).page(
        JobFilter(), tenant_id=None, before=None, limit=200
    )

    assert key in {job.key for job in page.jobs}


async def test_a_live_job_is_on_the_first_page_however_many_newer_ones_have_ended(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "STRETCH", 2)
    stuck, _ = await store.in_state(JobState.RUNNING)
    for _ in range(5):
        await store.in_state(JobState.SUCCEEDED)
    await store.in_state(JobState.RETRYING)

    assert await pages(store, JobFilter(state=JobState.RUNNING), limit=50) == [[stuck.job_id]]


async def test_live_jobs_are_newest_first_and_whole_over_their_pages(store: Store) -> None:
    ids = []
    for _ in range(5):
        ids.append((await store.accepted()).job_id)
        await store.in_state(JobState.RUNNING)

    found = await pages(store, JobFilter(state=JobState.ACCEPTED), limit=2)

    assert [id_ for page in found for id_ in page] == ids[::-1]
    assert [len(page) for page in found] == [2, 2, 1]


async def waiting(store: Store) -> dict[str, str]:
    """Jobs that wait, due and not due, and one that runs; all were due long ago at first."""
    hour = timedelta(hours=1)
    made = {}
    for name, state, by in (
        ("due", JobState.ACCEPTED, -hour),
        ("later", JobState.ACCEPTED, hour),
        ("retry", JobState.RETRYING, -hour),
        ("retry_later", JobState.RETRYING, hour),
        ("runs", JobState.RUNNING, -hour),
    ):
        key, _ = await store.in_state(state)
        sql = f"UPDATE jobs SET due_at = {NOW} + ?3 WHERE tenant_id = ?1 AND id = ?2"  # noqa: S608
        due = Statement(sql, (*key, by // timedelta(milliseconds=1)))
        await store.database.batch([due])
        made[name] = key.job_id
    return made


async def test_jobs_that_wait_are_due_or_not(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    made = await waiting(store)
    await store.in_state(JobState.SUCCEEDED)

    async def names(**wanted: Any) -> list[str]:
        found = [id_ for page in await pages(store, JobFilter(**wanted), limit=2) for id_ in page]
        return [next(name for name in made if made[name] == id_) for id_ in found]

    for live_at_most in (listing_module.LIVE_AT_MOST, 1):
        monkeypatch.setattr(listing_module, "LIVE_AT_MOST", live_at_most)
        assert await names(due=True) == ["retry", "due"]
        assert await names(due=False) == ["retry_later", "later"]
        assert await names(due=True, state=JobState.ACCEPTED) == ["due"]
        assert await names(due=False, state=JobState.RETRYING) == ["retry_later"]
        assert await names(due=True, kind="report") == []


async def test_a_due_job_is_on_the_first_page_however_many_newer_ones_have_ended(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "STRETCH", 2)
    stuck = (await store.accepted()).job_id
    for _ in range(5):
        await store.in_state(JobState.SUCCEEDED)

    assert await pages(store, JobFilter(due=True), limit=50) == [[stuck]]


async def test_live_jobs_are_ones_own_and_fit(store: Store) -> None:
    mine = (await store.accepted(kind="embed", run_key="nightly")).job_id
    await store.accepted(kind="embed")
    await store.accepted(run_key="weekly")
    wanted = JobFilter(state=JobState.ACCEPTED, kind="embed", run_key="nightly")
    listing = SqlListing(store.database)

    async def found(tenant_id: str | None) -> list[str]:
        page = await listing.page(wanted, tenant_id=tenant_id, before=None, limit=200)
        return [job.id for job in page.jobs if job.tenant_id == store.tenant]

    assert await found(store.tenant) == [mine]
    assert await found(None) == [mine]
    assert await found("somebody else") == []


async def test_if_too_many_live_the_list_goes_on_by_stretches_from_the_same_place(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "STRETCH", 3)
    ids = [(await store.accepted()).job_id for _ in range(4)]
    listing, wanted = SqlListing(store.database), JobFilter(state=JobState.ACCEPTED)
    first = await listing.page(wanted, tenant_id=store.tenant, before=None, limit=1)
    monkeypatch.setattr(listing_module, "LIVE_AT_MOST", 1)

    rest, cursor = [], first.cursor
    while cursor is not None:
        page = await listing.page(wanted, tenant_id=store.tenant, before=cursor, limit=1)
        rest += [job.id for job in page.jobs]
        cursor = page.cursor

    assert [first.jobs[0].id, *rest] == ids[::-1]
