"""Figures over time on both drivers: what a test adds is what is told, and it is told once.

The figures are of all tenants, and on D1 of all tests: each test has a kind of its own.
"""

from __future__ import annotations

import secrets
from datetime import timedelta

import pytest

from tests.contract.factories import LEASE, Store, ending
from tests.support.counted import ATTEMPTS, JOBS, counted, without_waits
from uketsuke.adapters.sql.database import Statement
from uketsuke.adapters.sql.metrics import SqlMetrics
from uketsuke.domain.job import Usage
from uketsuke.domain.lifecycle import Engine, JobState
from uketsuke.domain.rollup import Gauges, Reading, Rolled, Step, roll
from uketsuke.domain.tally import Counts, Tally, added
from uketsuke.services.ports import Look

pytestmark = pytest.mark.anyio
MINUTE = timedelta(minutes=1)
PAID = Usage(asked_model="m", cost_micros=60, charged_micros=60)


@pytest.fixture
def kind() -> str:
    return f"k-{secrets.token_hex(6)}"


async def rolled_up(store: Store) -> Rolled:
    """Roll up as the sweep does, unless the stack's own sweep comes in between: then again."""
    metrics = SqlMetrics(store.database)
    for _ in range(20):
        reading, points = await metrics.read()
        rolled, changed = roll(reading, points, gauges=gauges_of(reading))
        if await metrics.store(rolled, changed):
            return rolled
    raise AssertionError("another one is always faster")


def gauges_of(reading: Reading) -> Gauges:
    assert reading.backlog is not None
    return Gauges(backlog=reading.backlog, clock_skew=timedelta(), queues={})


async def look(store: Store, step: Step = Step.MINUTE) -> Look:
    return await SqlMetrics(store.database).look(
        step, stretch=step.length, count=60, duties=("wake",)
    )


async def told(store: Store, step: Step, kind: str) -> Counts:
    """What the points say of a kind, with what is not rolled up yet."""
    found = await look(store, step)
    points = [point.counts for point in found.points if point.kind == kind]
    return added(*points, found.reading.unrolled().get(kind, {}))


async def by_brute_force(store: Store, kind: str) -> Counts:
    (jobs,), (attempts,) = [
        await store.database.batch([Statement(sql)])
        for sql in (f"{JOBS} WHERE kind = '{kind}'", f"{ATTEMPTS} WHERE j.kind = '{kind}'")
    ]
    return counted(jobs, attempts)[kind]


async def every_end(store: Store, kind: str) -> None:
    """A job of each state, and some that ended with no attempt, or not by their holder."""
    for state in (JobState.SUCCEEDED, JobState.RETRYING, JobState.FAILED, JobState.CANCELED):
        leased = await store.leased(await store.accepted(kind=kind))
        await store.jobs.settle([ending(leased, state, usage=PAID)])
    await store.accepted(kind=kind)
    await store.leased(await store.accepted(kind=kind))
    await store.jobs.request_cancel(await store.accepted(kind=kind))
    late, lost, hopeless = [await store.accepted(kind=kind) for _ in range(3)]
    await store.pass_deadline(late)
    await store.leased(lost)
    await store.expire_lease(lost)
    await store.jobs.take_back([late, lost])
    await store.jobs.fail_hopeless(hopeless, code="kind_unknown")


@pytest.mark.parametrize("step", list(Step))
async def test_points_equal_a_count_of_all_rows(store: Store, kind: str, step: Step) -> None:
    await rolled_up(store)
    await every_end(store, kind)
    unrolled = await told(store, step, kind)
    await rolled_up(store)
    await every_end(store, kind)
    await rolled_up(store)
    await rolled_up(store)

    now = await told(store, step, kind)
    expected = await by_brute_force(store, kind)
    assert without_waits(now) == expected
    assert expected["accepted"] == 20
    assert Tally(counts=now).waits.count == expected["attempts"]
    assert 2 * unrolled["accepted"] == expected["accepted"]
    totals = (await look(store)).reading.totals()[kind]
    assert without_waits(totals.counts) == expected


async def test_what_was_read_before_another_roll_up_is_not_stored(store: Store, kind: str) -> None:
    metrics = SqlMetrics(store.database)
    await every_end(store, kind)
    reading, points = await metrics.read()
    rolled, changed = roll(reading, points, gauges=gauges_of(reading))
    await rolled_up(store)

    stored = await metrics.store(rolled, changed)

    assert not stored
    assert without_waits(await told(store, Step.DAY, kind)) == await by_brute_force(store, kind)


async def test_the_backlog_tells_what_waits_for_its_time_and_how_old_the_oldest_is(
    store: Store, kind: str
) -> None:
    ready, later = (
        await store.accepted(kind=kind),
        await store.leased(await store.accepted(kind=kind)),
    )
    await store.jobs.settle([ending(later, JobState.RETRYING, wait=timedelta(minutes=5))])
    running = await store.leased(await store.accepted(kind=kind, engine=Engine.WORKFLOW))
    await store.shift(ready, "due_at", timedelta(hours=-1))
    await store.shift(ready, "created_at", timedelta(days=-3))
    await store.shift(running.job.key, "leased_at", timedelta(minutes=-30))

    backlog = (await look(store)).reading.backlog

    assert backlog is not None
    ours = {each.state: each for each in backlog.live if each.kind == kind}
    assert {state: (each.count, each.due) for state, each in ours.items()} == {
        JobState.ACCEPTED: (1, 1),
        JobState.RETRYING: (1, 0),
        JobState.RUNNING: (1, 0),
    }
    assert ours[JobState.ACCEPTED].oldest // timedelta(days=1) == 3
    assert (ours[JobState.ACCEPTED].oldest_due or MINUTE) // timedelta(hours=1) == 1
    assert ours[JobState.RETRYING].oldest_due is None
    assert ours[JobState.RUNNING].oldest // MINUTE == 30
    assert (backlog.ready(kind=kind), backlog.delayed(kind=kind)) == (1, 1)


async def test_the_oldest_is_named_and_a_roll_up_remembers_its_name(
    store: Store, kind: str
) -> None:
    first, oldest, _ = [await store.accepted(kind=kind) for _ in range(3)]
    await store.shift(oldest, "created_at", timedelta(days=-3))
    await store.shift(first, "due_at", timedelta(days=-4))
    early, longest = [await store.leased(await store.accepted(kind=kind)) for _ in range(2)]
    await store.shift(early.job.key, "created_at", timedelta(days=-5))
    await store.shift(longest.job.key, "leased_at", timedelta(seconds=-30))

    await rolled_up(store)

    reading = (await look(store)).reading
    assert reading.rolled.gauges
    assert reading.backlog
    for backlog in (reading.backlog, reading.rolled.gauges.backlog):
        ours = {each.state: each.oldest_id for each in backlog.live if each.kind == kind}
        assert ours == {JobState.ACCEPTED: oldest.job_id, JobState.RUNNING: longest.job.id}


async def test_a_job_that_nobody_looked_at_shows_in_the_outbox_lag(store: Store) -> None:
    key = await store.accepted()
    await store.shift(key, "wake_at", timedelta(days=-400))

    lag = (await look(store)).outbox_lag
    await store.jobs.request_cancel(key)

    assert lag > timedelta(days=399)
    assert (await look(store)).outbox_lag < timedelta(days=399)


async def test_late_writes_are_counted_and_the_sweeps_duties_tell_when_they_were_done(
    store: Store,
) -> None:
    leased = await store.leased()
    await store.jobs.settle([ending(leased)])
    before = (await look(store)).counters.get("late_writes", 0)
    await store.jobs.settle([ending(leased, JobState.RETRYING)])
    name = f"d-{store.tenant}"
    done = "INSERT INTO duties (name, done_at) VALUES (?1, ?2)"
    await store.database.batch([Statement(done, (name, await store.now() - 90_000))])

    found = await SqlMetrics(store.database).look(
        Step.MINUTE, stretch=LEASE, count=1, duties=(name, "never done")
    )

    assert found.counters["late_writes"] == before + 1
    assert found.sweep_lag is not None
    assert found.sweep_lag // MINUTE == 1


@pytest.mark.anyio
async def test_what_a_look_reads_is_bounded_at_any_backlog(d1_store: Store, kind: str) -> None:
    sql = """
    WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 12000)
    INSERT INTO jobs (tenant_id, id, request_key, kind, engine, origin, state, params, metadata,
                      input, max_attempts, created_at, due_at, wake_at, deadline_at)
    SELECT ?1, ?1 || printf('%026d', i), ?1 || printf('%026d', i), ?2, 'queue', 'api', 'accepted',
           '{}', '{}', '{"form": "text", "bytes": 1}', 5, 9e12, 9e12, 9e12, 9e12
      FROM n
    """
    await d1_store.database.batch([Statement(sql, (d1_store.tenant, kind))])
    read = d1_store.database.rows_read

    found = await look(d1_store)
    read = d1_store.database.rows_read - read
    gone = "DELETE FROM jobs WHERE tenant_id = ?1"
    await d1_store.database.batch([Statement(gone, (d1_store.tenant,))])

    assert found.reading.backlog is None
    assert kind not in found.reading.unrolled()
    assert read < 40_000
