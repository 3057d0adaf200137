"""The SQL moves a job exactly where the lifecycle's table says: every state, every event."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest

from tests.contract.factories import LEASE, Store, ending
from uketsuke.domain.failure import ErrorClass
from uketsuke.domain.job import JobKey, LeasedJob, Progress
from uketsuke.domain.lifecycle import TRANSITIONS, Engine, JobEvent, JobState

pytestmark = pytest.mark.anyio

_Move = Callable[[Store, JobKey, LeasedJob | None], Awaitable[object]]


async def lease(store: Store, key: JobKey, _: LeasedJob | None) -> object:
    found = await store.jobs.lease([key], token="new", duration=LEASE, alone=True)
    return isinstance(found[key], LeasedJob)


async def lease_after_expiry(store: Store, key: JobKey, leased: LeasedJob | None) -> object:
    await store.expire_lease(key)
    # What waits may be leased too, but that is another event.
    return (await store.row(key))["state"] == "running" and await lease(store, key, leased)


async def renew(store: Store, key: JobKey, leased: LeasedJob | None) -> object:
    token = leased.token if leased else "none"
    return await store.jobs.renew(
        {key: token}, duration=LEASE, progress={key: Progress(done=1, total=2)}
    )


async def postpone(store: Store, key: JobKey, _: LeasedJob | None) -> object:
    return await store.lanes.postpone({key: LEASE})


def settle_as(state: JobState) -> _Move:
    async def move(store: Store, key: JobKey, leased: LeasedJob | None) -> object:
        if leased is None:
            other = await store.leased()
            stranger = ending(other, state, key=key)
            return await store.jobs.settle([stranger])
        return await store.jobs.settle([ending(leased, state)])

    return move


async def request_cancel(store: Store, key: JobKey, _: LeasedJob | None) -> object:
    after = await store.jobs.request_cancel(key)
    return after and after.state is JobState.RUNNING


async def cancel(store: Store, key: JobKey, leased: LeasedJob | None) -> object:
    after = await store.jobs.request_cancel(key)
    if after and after.state is JobState.RUNNING:
        return await settle_as(JobState.CANCELED)(store, key, leased)
    return after


async def take_back(store: Store, key: JobKey, _: LeasedJob | None) -> object:
    await store.expire_lease(key)
    return await store.jobs.take_back([key])


async def abandon(store: Store, key: JobKey, _: LeasedJob | None) -> object:
    await store.expire_lease(key)
    spend = timedelta(milliseconds=4)  # one was spent by the lease: of five, none is left
    if (await store.row(key))["state"] == "running":
        await store.shift(key, "attempt_no", spend)
        await store.shift(key, "attempts", spend)
        await store.shift(key, "leased_alone", spend / 4)  # in company it would be given back
    return await store.jobs.take_back([key])


async def pass_deadline(store: Store, key: JobKey, _: LeasedJob | None) -> object:
    await store.expire_lease(key)
    await store.pass_deadline(key)
    return await store.jobs.take_back([key])


async def nudge(store: Store, key: JobKey, _: LeasedJob | None) -> object:
    return await store.runs.nudge(await store.silent(key), lease=LEASE)


async def find_complete(store: Store, key: JobKey, leased: LeasedJob | None) -> object:
    await store.expire_lease(key)
    return await settle_as(JobState.SUCCEEDED)(store, key, leased)


async def outlive(store: Store, key: JobKey, _: LeasedJob | None) -> object:
    return await store.runs.end_silent([await store.silent(key)], error_class=ErrorClass.STALE)


async def find_hopeless(store: Store, key: JobKey, _: LeasedJob | None) -> object:
    return await store.jobs.fail_hopeless(key, code="kind_unknown")


MOVE_FOR: dict[JobEvent, _Move] = {
    JobEvent.LEASED: lease,
    JobEvent.LEASED_AGAIN: lease_after_expiry,
    JobEvent.RENEWED: renew,
    JobEvent.POSTPONED: postpone,
    JobEvent.COMPLETED: settle_as(JobState.SUCCEEDED),
    JobEvent.DEFERRED: settle_as(JobState.RETRYING),
    JobEvent.GAVE_UP: settle_as(JobState.FAILED),
    JobEvent.CANCEL_REQUESTED: request_cancel,
    JobEvent.CANCELED: cancel,
    JobEvent.TAKEN_BACK: take_back,
    JobEvent.ABANDONED: abandon,
    JobEvent.DEADLINE_PASSED: pass_deadline,
    JobEvent.FOUND_HOPELESS: find_hopeless,
    JobEvent.NUDGED: nudge,
    JobEvent.FOUND_COMPLETE: find_complete,
    JobEvent.OUTLIVED: outlive,
}
# These happen to runs on Workflows alone.
OF_RUNS = frozenset({JobEvent.NUDGED, JobEvent.FOUND_COMPLETE, JobEvent.OUTLIVED})


def test_every_event_has_its_statement() -> None:
    assert MOVE_FOR.keys() == set(JobEvent)


@pytest.mark.parametrize("event", JobEvent)
@pytest.mark.parametrize("state", JobState)
async def test_sql_moves_a_job_only_where_the_table_does(
    store: Store, state: JobState, event: JobEvent
) -> None:
    engine = Engine.WORKFLOW if event in OF_RUNS else Engine.QUEUE
    key, leased = await store.in_state(state, engine=engine)

    moved = await MOVE_FOR[event](store, key, leased)

    after = JobState((await store.row(key))["state"])
    legal = (state, event) in TRANSITIONS
    if event is JobEvent.CANCEL_REQUESTED and not legal:
        legal = bool(moved)  # on what waits, the same statement is the event ``canceled``
        assert after in (state, JobState.CANCELED)
        return
    assert bool(moved) == legal
    assert after == TRANSITIONS.get((state, event), state)


@pytest.mark.parametrize("state", JobState)
async def test_a_row_says_nothing_impossible_in_any_state(store: Store, state: JobState) -> None:
    key, _ = await store.in_state(state)

    row = await store.row(key)

    terminal = state in (JobState.SUCCEEDED, JobState.FAILED, JobState.CANCELED)
    assert (row["lease_token"] is not None) == (state is JobState.RUNNING)
    assert (row["finished_at"] is not None) == terminal
    assert (row["wake_at"] is None) == terminal
    assert bool(await store.dead_letters(key)) == (state is JobState.FAILED)
