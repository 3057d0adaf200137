"""Counts of jobs by state on both drivers: exact where all was seen, and never too high."""

from __future__ import annotations

import pytest

from tests.contract.factories import Store
from uketsuke.adapters.sql import job_counts as module
from uketsuke.adapters.sql.listing import SqlListing
from uketsuke.domain.lifecycle import JobState
from uketsuke.services.ports import JobFilter

pytestmark = pytest.mark.anyio
S = JobState


async def counted(
    store: Store, wanted: JobFilter | None = None, *, tenant_id: str | None = ""
) -> dict[JobState, tuple[int, bool]]:
    tenant = store.tenant if tenant_id == "" else tenant_id
    counts = await SqlListing(store.database).counts(wanted or JobFilter(), tenant_id=tenant)
    assert [each.state for each in counts] == list(JobState)
    return {each.state: (each.count, each.capped) for each in counts}


async def test_a_tenants_jobs_are_counted_by_state(store: Store) -> None:
    for state in (S.ACCEPTED, S.ACCEPTED, S.RUNNING, S.RETRYING, S.SUCCEEDED, S.FAILED, S.FAILED):
        await store.in_state(state)

    assert await counted(store) == {
        S.ACCEPTED: (2, False),
        S.RUNNING: (1, False),
        S.RETRYING: (1, False),
        S.SUCCEEDED: (1, False),
        S.FAILED: (2, False),
        S.CANCELED: (0, False),
    }


async def test_only_what_fits_is_counted(store: Store) -> None:
    await store.accepted(kind="embed", run_key="nightly")
    await store.accepted(kind="embed")
    await store.accepted()

    async def accepted(wanted: JobFilter) -> int:
        return (await counted(store, wanted))[S.ACCEPTED][0]

    assert await accepted(JobFilter(kind="embed")) == 2
    assert await accepted(JobFilter(run_key="nightly")) == 1
    assert await accepted(JobFilter(kind="summarize", run_key="nightly")) == 0


async def test_an_operator_counts_every_tenants(store: Store) -> None:
    await store.accepted(kind=store.tenant)  # a kind of one's own: others live in the same store

    assert (await counted(store, JobFilter(kind=store.tenant), tenant_id=None))[S.ACCEPTED][0] == 1


async def test_of_what_ended_more_than_was_looked_at_may_be_there(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    await store.in_state(S.FAILED)
    for _ in range(4):
        await store.in_state(S.SUCCEEDED)
    monkeypatch.setattr(module, "NEWEST_AT_MOST", 3)

    found = await counted(store)

    assert found[S.SUCCEEDED] == (3, True)
    assert found[S.FAILED] == (0, True)


async def test_a_live_job_is_counted_however_many_newer_ones_have_ended(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    await store.in_state(S.RUNNING)
    for _ in range(4):
        await store.in_state(S.SUCCEEDED)
    monkeypatch.setattr(module, "NEWEST_AT_MOST", 3)

    found = await counted(store)

    assert (found[S.RUNNING], found[S.ACCEPTED]) == ((1, False), (0, False))


async def test_more_live_jobs_than_are_looked_at_are_capped(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(3):
        await store.in_state(S.ACCEPTED)
    monkeypatch.setattr(module, "LIVE_AT_MOST", 1)
    monkeypatch.setattr(module, "NEWEST_AT_MOST", 2)

    found = await counted(store)

    assert found[S.ACCEPTED] == (2, True)
    assert found[S.RUNNING] == (0, True)


async def test_whoever_has_few_jobs_is_told_exactly_however_many_others_have(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(3):
        await store.in_state(S.ACCEPTED)
    monkeypatch.setattr(module, "LIVE_AT_MOST", 1)

    assert (await counted(store))[S.ACCEPTED] == (3, False)
