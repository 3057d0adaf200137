"""The store of runs on Workflows, on both drivers: born running, resumed, nudged, ended."""

from __future__ import annotations

import secrets
from datetime import timedelta
from typing import Any

import pytest

from tests.contract.factories import LEASE, Store, ending, new_job
from uketsuke.adapters.sql.database import Statement
from uketsuke.domain.failure import ErrorClass
from uketsuke.domain.job import Checkpoint, JobKey, LeasedJob, Progress, RunStart, SeenJob
from uketsuke.domain.lifecycle import Engine, JobState
from uketsuke.services.ports import AcceptedNew, Admission, RunInProgress

pytestmark = pytest.mark.anyio

RUN_KEY = "nightly"


def start() -> RunStart:
    return RunStart(token=secrets.token_hex(8), lease=LEASE)


async def submit_run(store: Store, **changes: Any) -> Admission:
    new = new_job(store.tenant, engine=Engine.WORKFLOW, start=start(), run_key=RUN_KEY, **changes)
    return await store.jobs.accept(new)


async def doomed(store: Store, key: JobKey) -> bool:
    found = await store.database.batch(
        [Statement("SELECT id FROM doomed_instances WHERE id = ?1", (f"{key.job_id}-1",))]
    )
    return bool(found[0])


async def test_a_run_is_running_with_its_lease_from_the_first_moment(store: Store) -> None:
    admission = await submit_run(store)

    assert isinstance(admission, AcceptedNew)
    job, row = admission.job, await store.row(admission.job.key)
    assert (job.state, job.attempts, job.attempt_no) == (JobState.RUNNING, 1, 1)
    assert row["leased_until"] - row["created_at"] == LEASE / timedelta(milliseconds=1)
    assert row["wake_at"] == row["leased_until"]
    assert job.started_at == job.created_at


async def test_a_second_start_under_the_run_key_meets_the_live_run(store: Store) -> None:
    first = await submit_run(store)
    queued = new_job(store.tenant, run_key=RUN_KEY)

    second, third = await submit_run(store), await store.jobs.accept(queued)

    assert isinstance(first, AcceptedNew)
    for refused in (second, third):
        assert isinstance(refused, RunInProgress)
        assert refused.job.id == first.job.id


@pytest.mark.parametrize("nudges", [0, 2])
async def test_an_expired_run_goes_on_under_its_own_token_only(store: Store, nudges: int) -> None:
    leased = await store.started()
    key = leased.job.key
    for _ in range(nudges):
        await store.runs.nudge(await store.silent(key), lease=LEASE)
    await store.expire_lease(key)
    token = leased.token.removesuffix(f".{key.job_id}")

    stranger = await store.runs.resume(key, token="other", lease=LEASE)
    resumed = await store.runs.resume(key, token=token, lease=LEASE)

    assert stranger is None
    assert isinstance(resumed, LeasedJob)
    assert resumed.attempt == 1
    row = await store.row(key)
    assert row["leased_until"] > await store.now()
    assert row["wakes"] == nudges


async def test_progress_alone_shows_that_a_nudge_was_not_in_vain(store: Store) -> None:
    """An instance that dies in each of its lives is woken so often, and no more."""
    leased = await store.started()
    key = leased.job.key
    await store.runs.nudge(await store.silent(key), lease=LEASE)
    woken = []
    for done in (0, 1):
        progress = {key: Progress(done=done, total=5)}
        await store.jobs.renew({key: leased.token}, duration=LEASE, progress=progress)
        woken.append((await store.row(key))["wakes"])

    assert woken == [1, 0]


async def test_a_queued_instance_is_waited_for_without_a_count(store: Store) -> None:
    key = (await store.started()).job.key

    assert await store.runs.nudge(await store.silent(key), lease=LEASE, counted=False)

    assert (await store.row(key))["wakes"] == 0


async def test_a_run_past_its_limit_is_given_no_more_time(store: Store) -> None:
    leased = await store.started(run_limit=timedelta(minutes=5))
    key = leased.job.key
    await store.expire_lease(key)
    await store.shift(key, "leased_at", -timedelta(minutes=6))

    resumed = await store.runs.resume(
        key, token=leased.token.removesuffix(f".{key.job_id}"), lease=LEASE
    )

    assert resumed
    assert resumed.limit_left < timedelta()
    assert (await store.row(key))["leased_until"] < await store.now()


async def test_a_message_does_not_take_a_run_from_its_instance(store: Store) -> None:
    leased = await store.started()
    key = leased.job.key
    await store.expire_lease(key)

    found = await store.jobs.lease([key], token="new", duration=LEASE, alone=True)
    taken = await store.jobs.take_back([key])

    assert isinstance(found[key], SeenJob)
    assert not taken
    assert (await store.row(key))["lease_token"] == leased.token


async def test_a_renewal_does_not_keep_a_run_alive_past_its_limit(store: Store) -> None:
    leased = await store.started(run_limit=timedelta(minutes=5))
    key = leased.job.key
    await store.shift(key, "leased_at", -timedelta(minutes=5, seconds=30))
    before = await store.now()

    await store.jobs.renew({key: leased.token}, duration=LEASE * 10, progress={})

    # A lease beyond the limit is left to stop in, and no more.
    left = (await store.row(key))["leased_until"] - before
    assert left < LEASE * 10 / timedelta(milliseconds=1)


async def test_a_crashed_run_waits_for_its_next_attempt(store: Store) -> None:
    leased = await store.started()
    key = leased.job.key

    (job,) = await store.runs.end_silent([await store.silent(key)], error_class=ErrorClass.CRASHED)

    assert (job.state, job.attempts, job.error_class) == (
        JobState.RETRYING,
        1,
        ErrorClass.CRASHED,
    )
    (attempt,) = await store.attempts(key)
    assert (attempt["outcome"], attempt["error_class"]) == ("failed", "crashed")
    assert await doomed(store, key)
    assert not await store.dead_letters(key)


async def test_the_last_attempt_of_a_run_that_crashed_fails_it(store: Store) -> None:
    leased = await store.started(max_attempts=1)
    key = leased.job.key

    (job,) = await store.runs.end_silent([await store.silent(key)], error_class=ErrorClass.CRASHED)

    assert (job.state, job.error_class) == (JobState.FAILED, ErrorClass.CRASHED)
    (letter,) = await store.dead_letters(key)
    assert (letter["road"], letter["class"]) == ("crashed", "crashed")


async def test_a_run_that_outlived_its_limit_fails_however_many_attempts_are_left(
    store: Store,
) -> None:
    leased = await store.started(max_attempts=5)
    key = leased.job.key

    (job,) = await store.runs.end_silent([await store.silent(key)], error_class=ErrorClass.STALE)

    assert (job.state, job.error_class) == (JobState.FAILED, ErrorClass.STALE)
    (letter,) = await store.dead_letters(key)
    assert (letter["road"], letter["code"]) == ("stale", "run_outlived_its_limit")
    assert await doomed(store, key)


async def test_a_silent_run_that_somebody_wished_canceled_is_canceled(store: Store) -> None:
    leased = await store.started()
    key = leased.job.key
    await store.jobs.request_cancel(key)

    (job,) = await store.runs.end_silent([await store.silent(key)], error_class=ErrorClass.CRASHED)

    assert job.state is JobState.CANCELED
    assert not await store.dead_letters(key)


async def test_a_run_that_is_heard_of_again_is_not_ended(store: Store) -> None:
    leased = await store.started()
    key = leased.job.key
    silent = await store.silent(key)
    await store.runs.resume(key, token=leased.token.removesuffix(f".{key.job_id}"), lease=LEASE)

    ended = await store.runs.end_silent([silent], error_class=ErrorClass.CRASHED)

    assert not ended
    assert not await store.attempts(key)
    assert not await doomed(store, key)


async def test_what_comes_after_a_run_was_ended_is_refused_and_counted(store: Store) -> None:
    leased = await store.started()
    await store.runs.end_silent([await store.silent(leased.job.key)], error_class=ErrorClass.STALE)
    before = await store.counter("late_writes")

    late = await store.jobs.settle([ending(leased)])

    assert not late
    assert await store.counter("late_writes") == before + 1
    assert (await store.row(leased.job.key))["state"] == "failed"


@pytest.mark.parametrize("lived", [timedelta(minutes=5), timedelta(minutes=7)])
async def test_a_start_fails_the_holder_of_its_run_key_only_if_it_has_outlived_its_limit(
    store: Store, lived: timedelta
) -> None:
    """The limit is five minutes, and a lease of one to stop in."""
    first = await submit_run(store, run_limit=timedelta(minutes=5))
    assert isinstance(first, AcceptedNew)
    await store.shift(first.job.key, "leased_at", -lived)

    second = await submit_run(store)

    row = await store.row(first.job.key)
    if lived < timedelta(minutes=6):
        assert isinstance(second, RunInProgress)
        assert row["state"] == "running"
        return
    assert isinstance(second, AcceptedNew)
    assert [job.id for job in second.outlived] == [first.job.id]
    assert (row["state"], row["error_class"]) == ("failed", "stale")
    (letter,) = await store.dead_letters(first.job.key)
    assert letter["road"] == "stale"
    (attempt,) = await store.attempts(first.job.key)
    assert (attempt["outcome"], attempt["state"]) == ("failed", "failed")
    assert await doomed(store, first.job.key)


@pytest.mark.parametrize("state", [JobState.ACCEPTED, JobState.RETRYING])
async def test_a_start_ends_a_waiting_holder_whose_time_is_over(
    store: Store, state: JobState
) -> None:
    key = await store.accepted(run_key=RUN_KEY)
    if state is JobState.RETRYING:
        await store.jobs.settle([ending(await store.leased(key), JobState.RETRYING)])
    await store.pass_deadline(key)

    second = await submit_run(store)

    assert isinstance(second, AcceptedNew)
    row = await store.row(key)
    assert (row["state"], row["error_class"]) == ("failed", "deadline")
    (letter,) = await store.dead_letters(key)
    assert letter["road"] == "deadline"


async def test_an_outlived_holder_that_was_wished_canceled_is_canceled(store: Store) -> None:
    first = await submit_run(store, run_limit=timedelta(minutes=5))
    assert isinstance(first, AcceptedNew)
    await store.jobs.request_cancel(first.job.key)
    await store.shift(first.job.key, "leased_at", -timedelta(hours=1))

    second = await submit_run(store)

    assert isinstance(second, AcceptedNew)
    assert (await store.row(first.job.key))["state"] == "canceled"
    assert not await store.dead_letters(first.job.key)


def checkpoint(step: str, **changes: Any) -> Checkpoint:
    values: dict[str, Any] = {"digest": "d", "attempt": 1, "content": '"first"'}
    return Checkpoint(step=step, **{**values, **changes})


async def test_a_checkpoint_is_written_once_and_the_first_one_stands(store: Store) -> None:
    key = (await store.started()).job.key

    first = await store.runs.keep(key, checkpoint("piece-1"))
    second = await store.runs.keep(key, checkpoint("piece-1", content='"second"', attempt=2))
    other = await store.runs.keep(key, checkpoint("piece-1", digest="e", content='"third"'))

    assert first == second == checkpoint("piece-1")
    assert other
    assert other.content == '"third"'


async def test_all_checkpoints_of_a_job_come_back_however_many(store: Store) -> None:
    key = (await store.started()).job.key
    other = (await store.started()).job.key
    many = """
    WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 449)
    INSERT INTO checkpoints (tenant_id, job_id, step, digest, attempt, content)
    SELECT ?1, ?2, 'piece-' || i, 'd', 1, '"first"' FROM n
    """
    await store.database.batch([Statement(many, tuple(key))])
    names = [f"piece-{number}" for number in range(450)]
    await store.runs.keep(other, checkpoint("foreign"))

    found = await store.runs.checkpoints(key)

    assert sorted(one.step for one in found) == sorted(names)


async def test_a_job_that_has_ended_takes_no_checkpoint(store: Store) -> None:
    leased = await store.started()
    await store.jobs.settle([ending(leased)])

    assert await store.runs.keep(leased.job.key, checkpoint("late")) is None


async def test_doomed_instances_are_told_until_they_are_forgotten(store: Store) -> None:
    leased = await store.started()
    name = f"{leased.job.id}-1"
    await store.runs.end_silent([await store.silent(leased.job.key)], error_class=ErrorClass.STALE)

    told = await store.runs.doomed(limit=1000)
    await store.runs.forget_doomed([name])

    assert name in told
    assert name not in await store.runs.doomed(limit=1000)


async def test_progress_does_not_run_backwards_within_an_attempt(store: Store) -> None:
    leased = await store.started()
    key = leased.job.key
    for done in (3, 1):
        progress = {key: Progress(done=done, total=5)}
        await store.jobs.renew({key: leased.token}, duration=LEASE, progress=progress)

    assert (await store.row(key))["progress_done"] == 3


async def test_a_claim_that_comes_late_under_its_own_token_begins_nothing_anew(
    store: Store,
) -> None:
    key = await store.accepted(engine=Engine.WORKFLOW)
    await store.jobs.lease([key], token="t", duration=LEASE, alone=True)
    await store.shift(key, "leased_at", -timedelta(seconds=20))
    held = {key: f"t.{key.job_id}"}
    await store.jobs.renew(held, duration=LEASE, progress={key: Progress(done=3, total=5)})
    before = await store.row(key)

    await store.jobs.lease([key], token="t", duration=LEASE, alone=True)

    after = await store.row(key)
    for column in ("attempts", "attempt_no", "leased_at", "progress_done", "progress_total"):
        assert after[column] == before[column]
