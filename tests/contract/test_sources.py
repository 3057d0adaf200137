"""Results as inputs: pinned by the statement that accepts the job, and safe from the purge then."""

from __future__ import annotations

import secrets
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.contract.factories import RETENTION, Store, new_job
from uketsuke.adapters.sql.database import Statement
from uketsuke.adapters.sql.inputs import SqlInputs
from uketsuke.adapters.sql.purging import SqlPurging
from uketsuke.adapters.sql.schedules import PINNED, SqlSchedules
from uketsuke.domain.job import InputForm, InputPlace, JobKey, NewJob
from uketsuke.domain.lifecycle import JobState
from uketsuke.domain.schedule import NewSchedule, Overlap, ScheduleKey
from uketsuke.services.ports import AcceptedNew, InputVanished

pytestmark = pytest.mark.anyio
DAY_MS = 86_400_000


def naming(tenant: str, *refs: str, **changes: Any) -> NewJob:
    place = InputPlace(form=InputForm.REFS, bytes=3, refs=refs)
    return new_job(tenant, kind="report", input=place, **changes)


async def finished(store: Store) -> JobKey:
    key, _ = await store.in_state(JobState.SUCCEEDED)
    return key


async def expires_at(store: Store, key: JobKey) -> int:
    return int((await store.row(key))["expires_at"])


async def purged(store: Store, *keys: JobKey) -> int:
    return await SqlPurging(store.database).delete_jobs(keys)


async def test_accepting_pins_the_results_that_the_job_names(store: Store) -> None:
    first, second, other = [await finished(store) for _ in range(3)]
    before = await expires_at(store, other)
    new = naming(store.tenant, first.job_id, second.job_id, keep_uploads=timedelta(days=60))

    assert isinstance(await store.jobs.accept(new), AcceptedNew)

    for key in (first, second):
        assert await expires_at(store, key) - before > 29 * DAY_MS
    assert await expires_at(store, other) == before


async def test_a_pin_never_shortens_what_a_result_has(store: Store) -> None:
    key = await finished(store)
    before = await expires_at(store, key)

    await store.jobs.accept(naming(store.tenant, key.job_id, keep_uploads=timedelta(hours=1)))

    assert await expires_at(store, key) == before


async def test_the_purge_leaves_what_a_job_was_accepted_for(store: Store) -> None:
    """It had looked for what expires a moment before, and found it not expired yet."""
    key = await finished(store)
    await store.shift(key, "expires_at", timedelta(days=-30, seconds=30))
    new = naming(store.tenant, key.job_id, keep_uploads=timedelta(days=1))
    assert isinstance(await store.jobs.accept(new), AcceptedNew)
    await store.shift(key, "expires_at", timedelta(seconds=-60))

    assert await purged(store, key) == 0
    assert await store.jobs.result_text(key, attempt=1) == "{}"


async def test_what_the_purge_may_have_taken_up_cannot_be_named_any_more(store: Store) -> None:
    key = await finished(store)
    await store.shift(key, "expires_at", timedelta(days=-31))

    new = naming(store.tenant, key.job_id)

    assert isinstance(await store.jobs.accept(new), InputVanished)
    assert await store.jobs.find(new.key.job_id, tenant_id=store.tenant) is None
    assert await SqlInputs(store.database).find_jobs([key.job_id], tenant_id=store.tenant) == {}
    assert await purged(store, key) == 1


@pytest.mark.parametrize("state", [JobState.RUNNING, JobState.FAILED, JobState.CANCELED])
async def test_only_a_job_that_has_succeeded_can_be_named(store: Store, state: JobState) -> None:
    key, _ = await store.in_state(state)

    assert isinstance(await store.jobs.accept(naming(store.tenant, key.job_id)), InputVanished)


async def test_an_erased_job_cannot_be_named(store: Store) -> None:
    key = await finished(store)
    erase = "UPDATE jobs SET erased_at = 1 WHERE tenant_id = ?1 AND id = ?2"
    await store.database.batch([Statement(erase, tuple(key))])

    assert isinstance(await store.jobs.accept(naming(store.tenant, key.job_id)), InputVanished)


async def test_one_that_is_not_there_keeps_the_others_from_being_pinned(store: Store) -> None:
    key = await finished(store)
    before = await expires_at(store, key)
    new = naming(store.tenant, key.job_id, "job_none", keep_uploads=timedelta(days=60))

    assert isinstance(await store.jobs.accept(new), InputVanished)

    assert await expires_at(store, key) == before


async def test_another_tenants_result_is_neither_named_nor_pinned(store: Store) -> None:
    key = await finished(store)
    before = await expires_at(store, key)
    other = naming(f"{store.tenant}-other", key.job_id, keep_uploads=timedelta(days=60))

    assert isinstance(await store.jobs.accept(other), InputVanished)

    assert await expires_at(store, key) == before
    inputs = SqlInputs(store.database)
    assert await inputs.find_jobs([key.job_id], tenant_id=other.key.tenant_id) == {}


async def test_a_repeat_of_a_request_pins_nothing_and_a_repeat_of_an_accept_pins_again(
    store: Store,
) -> None:
    key = await finished(store)
    new = naming(store.tenant, key.job_id, request_key="key:k", fingerprint={})
    long = timedelta(days=90)
    await store.jobs.accept(new)
    before = await expires_at(store, key)

    await store.jobs.accept(
        naming(store.tenant, key.job_id, request_key="key:k", fingerprint={}, keep_uploads=long)
    )
    of_the_request = await expires_at(store, key)
    await store.jobs.accept(replace(new, keep_uploads=long))

    assert of_the_request == before
    assert await expires_at(store, key) > before


async def test_a_live_job_is_found_so_that_one_can_be_told_that_it_is_early(store: Store) -> None:
    leased = await store.leased()

    inputs = SqlInputs(store.database)
    found = await inputs.find_jobs([leased.job.id, "job_none"], tenant_id=store.tenant)

    assert {ref: job.state for ref, job in found.items()} == {leased.job.id: JobState.RUNNING}


class Scheduling:
    """A schedule of one tenant, put and deleted."""

    def __init__(self, store: Store) -> None:
        self.key = ScheduleKey(store.tenant, f"s-{secrets.token_hex(4)}")
        self.schedules = SqlSchedules(
            store.database,
            keep_inputs=timedelta(days=30),
            keep_results=RETENTION.keep_results,
        )

    async def put(self, *refs: str) -> object:
        return await self.schedules.put(
            NewSchedule(
                key=self.key, generation=secrets.token_hex(8), cron="0 7 * * *", timezone="UTC",
                kind="report", params={}, content=None, run_key=None, overlap=Overlap.ALLOW,
                input=InputPlace(form=InputForm.REFS, bytes=3, refs=refs), enabled=True,
                next_at=datetime(2030, 1, 1, tzinfo=UTC),
            )
        )  # fmt: skip

    async def delete(self) -> None:
        assert await self.schedules.delete(self.key)


async def test_a_result_stays_for_as_long_as_a_schedule_names_it(store: Store) -> None:
    first, second = await finished(store), await finished(store)
    before = await expires_at(store, first)
    scheduling = Scheduling(store)

    assert await scheduling.put(first.job_id, second.job_id)
    pinned = await expires_at(store, first)
    assert await scheduling.put(second.job_id)
    released = await expires_at(store, first)
    still_pinned = await expires_at(store, second)
    await scheduling.delete()

    assert pinned == still_pinned == PINNED
    assert before < released < before + 8 * DAY_MS  # a deadline later: jobs may have it as input
    assert await expires_at(store, second) < PINNED


async def test_a_job_with_the_result_of_a_schedule_does_not_shorten_its_life(
    store: Store,
) -> None:
    key = await finished(store)
    await Scheduling(store).put(key.job_id)

    assert isinstance(await store.jobs.accept(naming(store.tenant, key.job_id)), AcceptedNew)

    assert await expires_at(store, key) == PINNED


async def test_a_released_result_keeps_what_its_job_had(store: Store) -> None:
    """Even if results are kept for longer than inputs."""
    key = await finished(store)
    scheduling = Scheduling(store)
    scheduling.schedules = SqlSchedules(
        store.database, keep_inputs=timedelta(days=1), keep_results=RETENTION.keep_results
    )
    before = await expires_at(store, key)

    await scheduling.put(key.job_id)
    await scheduling.delete()

    assert await expires_at(store, key) == before


async def test_a_schedule_cannot_name_what_is_not_its_tenants_or_has_not_succeeded(
    store: Store,
) -> None:
    failed, _ = await store.in_state(JobState.FAILED)
    theirs = await finished(Store(store.database, f"{store.tenant}-other"))
    mine = await finished(store)
    scheduling = Scheduling(store)

    for ref in (failed.job_id, theirs.job_id, "job_none"):
        assert await scheduling.put(mine.job_id, ref) is None

    assert await expires_at(store, mine) < PINNED
    assert await expires_at(store, theirs) < PINNED


async def test_pinning_a_result_costs_a_row_each(d1_store: Store) -> None:
    plain = await cost(d1_store, new_job(d1_store.tenant))
    refs = [(await finished(d1_store)).job_id for _ in range(3)]

    assert await cost(d1_store, naming(d1_store.tenant, *refs)) == plain + 3


async def cost(store: Store, new: NewJob) -> int:
    before = store.database.rows_written
    await store.jobs.accept(new)
    return int(store.database.rows_written - before)
