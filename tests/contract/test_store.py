"""What the store promises under repeats, races and late writers, on both drivers."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from tests.contract.factories import LEASE, RETENTION, THROTTLED, Store, ending, new_job, new_key
from uketsuke.adapters.sql.database import Statement
from uketsuke.adapters.sql.inputs import SqlInputs
from uketsuke.adapters.sql.purging import SqlPurging
from uketsuke.adapters.sql.sweeping import SqlSweeping
from uketsuke.domain.failure import ErrorClass, Road
from uketsuke.domain.job import (
    InputForm,
    InputPlace,
    LeasedJob,
    Progress,
    SeenJob,
    Upload,
    Usage,
)
from uketsuke.domain.lifecycle import JobState, Outcome
from uketsuke.services.ports import AcceptedNew, InputVanished, KnownKey, RunInProgress

pytestmark = pytest.mark.anyio


async def test_a_job_reads_back_as_it_was_accepted(store: Store) -> None:
    new = new_job(
        store.tenant,
        run_key="nightly",
        metadata={"ticket": "42"},
        params={"max_words": 50},
        traceparent="00-" + "a" * 32 + "-" + "b" * 16 + "-01",
    )

    admission = await store.jobs.accept(new)

    assert isinstance(admission, AcceptedNew)
    job = await store.jobs.find(new.key.job_id, tenant_id=store.tenant)
    assert job == admission.job
    assert (job.run_key, job.metadata, job.params) == ("nightly", new.metadata, new.params)
    assert job.deadline_at - job.created_at == new.deadline
    assert (job.state, job.attempts, job.traceparent) == (
        JobState.ACCEPTED,
        0,
        new.traceparent,
    )


async def test_another_tenants_job_is_not_there_but_an_operator_finds_it(store: Store) -> None:
    key = await store.accepted()

    assert await store.jobs.find(key.job_id, tenant_id="somebody-else") is None
    found = await store.jobs.find(key.job_id, tenant_id=None)
    assert found is not None
    assert found.tenant_id == store.tenant


async def test_fifty_submissions_with_one_key_make_one_job(store: Store) -> None:
    news = [
        new_job(store.tenant, request_key="key:k", fingerprint={"n": str(n)}) for n in range(50)
    ]

    admissions = await asyncio.gather(*(store.jobs.accept(new) for new in news))

    assert sum(isinstance(admission, AcceptedNew) for admission in admissions) == 1
    assert len({admission.job.id for admission in admissions}) == 1  # type: ignore[union-attr]
    assert sum(isinstance(admission, KnownKey) for admission in admissions) == 49


async def test_fifty_submissions_with_one_run_key_make_one_live_job(store: Store) -> None:
    news = [new_job(store.tenant, run_key="nightly") for _ in range(50)]

    admissions = await asyncio.gather(*(store.jobs.accept(new) for new in news))

    assert sum(isinstance(admission, AcceptedNew) for admission in admissions) == 1
    assert sum(isinstance(admission, RunInProgress) for admission in admissions) == 49
    assert len({admission.job.id for admission in admissions}) == 1  # type: ignore[union-attr]


async def test_a_run_key_is_free_again_when_its_job_has_ended(store: Store) -> None:
    leased = await store.leased(await store.accepted(run_key="nightly"))
    await store.jobs.settle([ending(leased)])

    again = await store.jobs.accept(new_job(store.tenant, run_key="nightly"))

    assert isinstance(again, AcceptedNew)


async def test_the_idempotency_key_is_looked_at_before_the_run_key(store: Store) -> None:
    first = await store.accepted(request_key="key:k", run_key="nightly", fingerprint={})

    again = await store.jobs.accept(
        new_job(store.tenant, request_key="key:k", run_key="nightly", fingerprint={})
    )

    assert isinstance(again, KnownKey)
    assert again.job.key == first


async def test_a_refused_submission_binds_no_key(store: Store) -> None:
    await store.accepted(run_key="nightly")
    refused = await store.jobs.accept(
        new_job(store.tenant, request_key="key:late", run_key="nightly", fingerprint={})
    )
    assert isinstance(refused, RunInProgress)

    again = await store.jobs.accept(new_job(store.tenant, request_key="key:late", fingerprint={}))

    assert isinstance(again, AcceptedNew)


async def test_two_tenants_may_use_the_same_keys(store: Store) -> None:
    await store.accepted(request_key="key:k", run_key="nightly", fingerprint={})

    other = await store.jobs.accept(
        new_job(store.tenant + "-other", request_key="key:k", run_key="nightly", fingerprint={})
    )

    assert isinstance(other, AcceptedNew)


async def upload(store: Store, ref: str) -> Upload:
    inputs = SqlInputs(store.database)
    now = timedelta(milliseconds=await store.now())
    row = Upload(
        ref=ref,
        tenant_id=store.tenant,
        object_key=f"{store.tenant}/{ref}/x",
        bytes=3,
        sha256="0" * 64,
        content_type="text/plain",
        expires_at=(await store.jobs.accept(new_job(store.tenant))).job.created_at + now,  # type: ignore[union-attr]
    )
    return await inputs.record(row, keep=timedelta(days=1))


async def test_a_job_is_not_accepted_for_an_upload_that_is_not_there(store: Store) -> None:
    new = new_job(store.tenant, input=InputPlace(form=InputForm.REF, bytes=3, refs=("in_none",)))

    assert isinstance(await store.jobs.accept(new), InputVanished)
    assert await store.jobs.find(new.key.job_id, tenant_id=store.tenant) is None


async def test_accepting_pins_the_uploads_that_the_job_names(store: Store) -> None:
    ref = new_key(store.tenant).job_id.replace("job_", "in_")
    before = await upload(store, ref)
    place = InputPlace(form=InputForm.REF, bytes=3, refs=(ref,))

    await store.accepted(input=place, keep_uploads=timedelta(days=37))

    after = (await SqlInputs(store.database).find([ref], tenant_id=store.tenant))[ref]
    assert after.expires_at - before.expires_at > timedelta(days=35)


async def test_another_tenants_upload_is_not_there(store: Store) -> None:
    ref = new_key(store.tenant).job_id.replace("job_", "in_")
    await upload(store, ref)
    place = InputPlace(form=InputForm.REF, bytes=3, refs=(ref,))

    admission = await store.jobs.accept(new_job(store.tenant + "-other", input=place))

    assert isinstance(admission, InputVanished)


async def test_a_claim_is_idempotent_under_its_own_token(store: Store) -> None:
    key = await store.accepted()

    first = await store.jobs.lease([key], token="t", duration=LEASE, alone=False)
    again = await store.jobs.lease([key], token="t", duration=LEASE, alone=False)

    assert isinstance(first[key], LeasedJob)
    assert isinstance(again[key], LeasedJob)
    assert again[key].job.attempts == 1
    assert again[key].job.attempt_no == 1


async def test_of_two_workers_one_gets_the_lease_and_the_other_is_told_its_end(
    store: Store,
) -> None:
    key = await store.accepted()

    both = await asyncio.gather(
        store.jobs.lease([key], token="one", duration=LEASE, alone=False),
        store.jobs.lease([key], token="two", duration=LEASE, alone=False),
    )

    (winner,) = [found[key] for found in both if isinstance(found[key], LeasedJob)]
    (loser,) = [found[key] for found in both if isinstance(found[key], SeenJob)]
    assert winner.job.attempts == 1
    assert isinstance(loser, SeenJob)
    assert loser.lease_ends_in is not None
    assert timedelta() < loser.lease_ends_in <= LEASE


async def test_a_job_that_is_not_there_is_missing_in_the_answer(store: Store) -> None:
    key = new_key(store.tenant)

    assert await store.jobs.lease([key], token="t", duration=LEASE, alone=False) == {}


async def test_a_late_attempt_cannot_complete_a_job_that_was_leased_again(store: Store) -> None:
    late = await store.leased(alone=True)
    await store.expire_lease(late.job.key)
    current = await store.leased(late.job.key, alone=True)
    before = await store.counter("late_writes")

    refused = await store.jobs.settle([ending(late, result_text='{"late": true}')])
    settled = await store.jobs.settle([ending(current, result_text='{"right": true}')])

    assert refused == {}
    assert settled == {current.job.key: JobState.SUCCEEDED}
    assert await store.counter("late_writes") == before + 1
    assert await store.jobs.result_text(current.job.key, attempt=2) == '{"right": true}'


async def test_a_late_attempt_cannot_renew_a_lease_that_is_not_its_own(store: Store) -> None:
    late = await store.leased(alone=True)
    await store.expire_lease(late.job.key)
    current = await store.leased(late.job.key, alone=True)
    key = late.job.key

    assert await store.jobs.renew({key: late.token}, duration=LEASE, progress={}) == {}
    assert key in await store.jobs.renew({key: current.token}, duration=LEASE, progress={})


async def test_an_expired_lease_is_not_renewed(store: Store) -> None:
    leased = await store.leased()
    await store.expire_lease(leased.job.key)

    renewed = await store.jobs.renew({leased.job.key: leased.token}, duration=LEASE, progress={})

    assert renewed == {}


async def test_a_settle_that_is_repeated_is_not_a_late_write(store: Store) -> None:
    leased = await store.leased()
    before = await store.counter("late_writes")
    await store.jobs.settle([ending(leased)])

    again = await store.jobs.settle([ending(leased)])

    assert again == {}
    assert await store.counter("late_writes") == before
    asked = await store.jobs.settled_under([ending(leased)])
    assert asked == {leased.job.key: JobState.SUCCEEDED}


async def test_what_somebody_else_wrote_of_an_attempt_is_not_its_holders_own_ending(
    store: Store,
) -> None:
    leased = await store.started()
    silent = await store.silent(leased.job.key)
    await store.runs.end_silent([silent], error_class=ErrorClass.STALE)

    assert await store.jobs.settled_under([ending(leased)]) == {}


async def test_a_taken_over_attempt_has_its_row_and_the_job_its_history(store: Store) -> None:
    first = await store.leased(alone=True)
    await store.expire_lease(first.job.key)
    second = await store.leased(first.job.key, alone=True)
    await store.jobs.settle([ending(second, usage=Usage(model="m", input_tokens=7))])

    attempts = await store.jobs.attempts_of(first.job.key)

    assert [(a.number, a.outcome, a.error_class) for a in attempts] == [
        (1, Outcome.FAILED, ErrorClass.CRASHED),
        (2, Outcome.SUCCEEDED, None),
    ]
    assert attempts[1].usage == Usage(model="m", input_tokens=7)


async def test_an_attempt_that_is_given_back_does_not_count(store: Store) -> None:
    leased = await store.leased()

    await store.jobs.settle(
        [ending(leased, JobState.RETRYING, outcome=Outcome.DEFERRED, gives_back=True)]
    )

    again = await store.leased(leased.job.key)
    assert again.job.attempts == 1
    assert again.attempt == 2


async def test_a_definite_failure_moves_the_epoch_of_the_providers_key(store: Store) -> None:
    leased = await store.leased()
    await store.jobs.settle([ending(leased, JobState.RETRYING, new_epoch=True)])

    again = await store.leased(leased.job.key)

    assert (leased.call_epoch, again.call_epoch) == (0, 1)


async def test_a_job_is_not_leased_before_it_is_due(store: Store) -> None:
    leased = await store.leased()
    await store.jobs.settle([ending(leased, JobState.RETRYING, wait=timedelta(minutes=5))])

    found = await store.jobs.lease(
        [leased.job.key],
        token="t",
        duration=LEASE,
        alone=True,
    )

    seen = found[leased.job.key]
    assert isinstance(seen, SeenJob)
    assert timedelta(minutes=4) < seen.due_in <= timedelta(minutes=5)


async def test_progress_rides_on_a_renewal_and_is_complete_at_the_end(store: Store) -> None:
    leased = await store.leased()
    key = leased.job.key
    progress = {key: Progress(done=3, total=10)}

    await store.jobs.renew({key: leased.token}, duration=LEASE, progress=progress)
    during = await store.jobs.find(key.job_id, tenant_id=store.tenant)
    await store.jobs.settle([ending(leased)])
    after = await store.jobs.find(key.job_id, tenant_id=store.tenant)

    assert during is not None
    assert after is not None
    assert during.progress == Progress(done=3, total=10)
    assert after.progress == Progress(done=10, total=10)


async def test_a_wish_to_cancel_is_told_at_the_renewal_and_ends_a_retry(store: Store) -> None:
    leased = await store.leased()
    key = leased.job.key
    wished = await store.jobs.request_cancel(key)
    assert wished is not None
    assert wished.state is JobState.RUNNING

    renewed = await store.jobs.renew({key: leased.token}, duration=LEASE, progress={})
    settled = await store.jobs.settle([ending(leased, JobState.RETRYING)])

    assert renewed[key].cancel_requested
    assert settled == {key: JobState.CANCELED}


async def test_work_that_completes_before_the_wish_is_noticed_has_succeeded(
    store: Store,
) -> None:
    leased = await store.leased()
    await store.jobs.request_cancel(leased.job.key)

    settled = await store.jobs.settle([ending(leased)])

    assert settled == {leased.job.key: JobState.SUCCEEDED}


async def test_canceling_again_changes_nothing(store: Store) -> None:
    key = await store.accepted()
    first = await store.jobs.request_cancel(key)

    again = await store.jobs.request_cancel(key)

    assert first is not None
    assert first.state is JobState.CANCELED
    assert again is None


async def test_a_failed_job_has_one_dead_letter_with_its_road(store: Store) -> None:
    leased = await store.leased()
    failed = ending(leased, JobState.FAILED, failure=THROTTLED, road=Road.DEADLINE)

    await store.jobs.settle([failed])
    await store.jobs.settle([failed])

    (letter,) = await store.dead_letters(leased.job.key)
    assert (letter["road"], letter["class"], letter["attempts"]) == ("deadline", "throttled", 1)
    assert letter["triage_due_at"] - letter["last_failed_at"] == 72 * 3600 * 1000


async def test_a_job_whose_worker_crashed_is_leased_alone_from_then_on(store: Store) -> None:
    leased = await store.leased(alone=False)
    await store.expire_lease(leased.job.key)
    key = leased.job.key

    in_company = await store.jobs.lease([key], token="a", duration=LEASE, alone=False)
    alone = await store.jobs.lease([key], token="b", duration=LEASE, alone=True)

    seen = in_company[key]
    assert isinstance(seen, SeenJob)
    assert seen.may_be_leased_alone
    assert isinstance(alone[key], LeasedJob)


async def test_two_lone_crashes_fail_a_job(store: Store) -> None:
    leased = await store.leased(alone=True)
    key = leased.job.key
    await store.expire_lease(key)
    await store.leased(key, alone=True)
    await store.expire_lease(key)

    refused = await store.jobs.lease([key], token="t", duration=LEASE, alone=True)
    (failed,) = await store.jobs.take_back([key])

    assert isinstance(refused[key], SeenJob)
    assert (failed.state, failed.error_class) == (JobState.FAILED, ErrorClass.CRASHED)
    (letter,) = await store.dead_letters(key)
    assert letter["road"] == "crashed"


async def test_an_attempt_that_ends_otherwise_ends_the_quarantine(store: Store) -> None:
    crashed = await store.leased(alone=True)
    await store.expire_lease(crashed.job.key)
    leased = await store.leased(crashed.job.key, alone=True)
    await store.jobs.settle([ending(leased, JobState.RETRYING)])

    again = await store.leased(crashed.job.key, alone=False)

    assert again.attempt == 3


async def test_the_sweep_sends_what_waits_and_takes_back_what_expired(store: Store) -> None:
    sweeping = SqlSweeping(store.database, RETENTION)
    waiting, running = await store.accepted(), (await store.leased()).job.key
    live, overdue = (await store.leased()).job.key, await store.accepted()
    await store.expire_lease(running)
    await store.pass_deadline(overdue)
    for key in (waiting, running, live, overdue):
        await store.shift(key, "wake_at", timedelta(hours=-1))

    woken = await sweeping.wake_page(None, limit=200, first_grace=timedelta(seconds=60))

    mine = {waiting, running, live, overdue}
    assert {job.key for job in woken.to_send} & mine == {waiting, running}
    assert [job.key for job in woken.ended if job.key in mine] == [overdue]
    again = await sweeping.wake_page(None, limit=200, first_grace=timedelta(seconds=60))
    assert not {job.key for job in again.to_send} & mine


async def test_the_sweeps_grace_doubles(store: Store) -> None:
    sweeping = SqlSweeping(store.database, RETENTION)
    key = await store.accepted()
    waits = []

    for _ in range(3):
        await store.shift(key, "wake_at", timedelta(hours=-12))
        now = await store.now()
        await sweeping.wake_page(None, limit=200, first_grace=timedelta(seconds=60))
        waits.append(round(((await store.row(key))["wake_at"] - now) / 60_000))

    assert waits == [1, 2, 4]


async def test_a_duty_is_done_by_one_sweep_at_a_time(store: Store) -> None:
    sweeping = SqlSweeping(store.database, RETENTION)
    name = f"duty-{store.tenant}"
    minute = timedelta(minutes=1)

    first = await sweeping.claim_duty(name, token="a", lease=minute)
    second = await sweeping.claim_duty(name, token="b", lease=minute)
    await sweeping.finish_duty(name, token="b", done=True)
    third = await sweeping.claim_duty(name, token="b", lease=minute)
    await sweeping.finish_duty(name, token="a", done=True)
    fourth = await sweeping.claim_duty(name, token="b", lease=minute)

    assert [first, second, third, fourth] == [True, False, False, True]


async def test_the_purge_takes_what_ended_long_ago_and_nothing_else(store: Store) -> None:
    purging = SqlPurging(store.database)
    old, recent = await store.leased(), await store.leased()
    live = await store.accepted()
    await store.jobs.settle([ending(old), ending(recent)])
    await store.shift(old.job.key, "expires_at", timedelta(days=-31))
    after = old.job.id[:-1]
    later = datetime.fromtimestamp(2_000_000_000, UTC)

    page = await purging.expired_jobs(older_than=later, after=after, limit=100)
    mine = [expired.key for expired in page if expired.key.tenant_id == store.tenant]
    deleted = await purging.delete_jobs([*mine, recent.job.key, live])

    assert mine == [old.job.key]
    assert deleted == 1
    assert await store.jobs.find(old.job.id, tenant_id=store.tenant) is None
    assert await store.jobs.attempts_of(old.job.key) == []
    assert await store.jobs.find(recent.job.id, tenant_id=store.tenant)
    assert await store.jobs.find(live.job_id, tenant_id=store.tenant)


async def test_a_purged_jobs_idempotency_key_is_free_again(store: Store) -> None:
    key = await store.accepted(request_key="key:k", fingerprint={})
    await store.jobs.settle([ending(await store.leased(key))])
    await store.shift(key, "expires_at", timedelta(days=-31))

    await SqlPurging(store.database).delete_jobs([key])

    again = await store.jobs.accept(new_job(store.tenant, request_key="key:k", fingerprint={}))
    assert isinstance(again, AcceptedNew)


async def test_an_upload_is_purged_when_its_time_is_over_and_no_job_can_name_it_then(
    store: Store,
) -> None:
    purging = SqlPurging(store.database)
    ref = new_key(store.tenant).job_id.replace("job_", "in_")
    await upload(store, ref)
    await store.expire_input(ref)

    (expired,) = [
        e for e in await purging.expired_inputs(limit=1000) if e.key.tenant_id == store.tenant
    ]
    place = InputPlace(form=InputForm.REF, bytes=3, refs=(ref,))
    admission = await store.jobs.accept(new_job(store.tenant, input=place))

    assert isinstance(admission, InputVanished)
    assert await purging.delete_inputs([expired.key]) == 1
    assert expired.objects == (f"{store.tenant}/{ref}/x",)


async def test_a_job_is_found_by_the_key_of_its_request(store: Store) -> None:
    key = await store.accepted(request_key="key:k", fingerprint={"kind": "x"})

    found = await store.jobs.find_by_request(tenant_id=store.tenant, request_key="key:k")
    other = await store.jobs.find_by_request(tenant_id="another", request_key="key:k")

    assert found is not None
    assert (found.job.key, found.fingerprint) == (key, {"kind": "x"})
    assert other is None


async def test_a_class_of_a_later_version_is_read_as_unknown(store: Store) -> None:
    key, _ = await store.in_state(JobState.FAILED)
    later = "UPDATE jobs SET error_class = 'melted' WHERE tenant_id = ?1 AND id = ?2"
    await store.database.batch([Statement(later, tuple(key))])

    job = await store.jobs.find(key.job_id, tenant_id=store.tenant)

    assert job is not None
    assert job.error_class is ErrorClass.UNKNOWN
