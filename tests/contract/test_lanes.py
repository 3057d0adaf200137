"""Parked lanes in SQL: who parks one, who is leased meanwhile, who probes it, what opens it."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest

from tests.contract.factories import LEASE, Store
from uketsuke.adapters.sql.database import Statement
from uketsuke.domain.backoff import RetryPolicy
from uketsuke.domain.failure import ErrorClass, Failure
from uketsuke.domain.job import JobKey, LeasedJob, SeenJob
from uketsuke.domain.lane import Park
from uketsuke.domain.lifecycle import Engine, JobState

pytestmark = pytest.mark.anyio

POLICY = RetryPolicy(base=timedelta(seconds=60), cap=timedelta(seconds=150))
MEMORY = timedelta(hours=1)
LONG_AGO = timedelta(hours=-3)


class Lane:
    """One lane of the test's own, that the kind ``summarize`` asks."""

    def __init__(self, store: Store, name: str = "m") -> None:
        self.store = store
        self.name = f"test/{store.tenant}-{name}"
        self.asks: Mapping[str, set[str]] = {"summarize": {self.name}}

    async def park(
        self,
        leased: LeasedJob,
        *,
        asked: int | None = None,
        error_class: ErrorClass = ErrorClass.THROTTLED,
    ) -> Park:
        failure = Failure(
            error_class=error_class,
            code="some_code",
            retry_after=None if asked is None else timedelta(seconds=asked),
            lane=self.name,
        )
        return await self.store.lanes.park(
            failure, key=leased.job.key, token=leased.token, policy=POLICY, memory=MEMORY
        )

    async def row(self) -> Any:
        sql = "SELECT * FROM lanes WHERE lane = ?1"
        (found,) = await self.store.database.batch([Statement(sql, (self.name,))])
        return found[0] if found else None

    async def shift(self, by: timedelta) -> None:
        """Let time pass for this lane, on any driver."""
        times = ("parked_at", "parked_until", "forget_at")
        moved = ", ".join(f"{column} = {column} + ?2" for column in times)
        sql = f"UPDATE lanes SET {moved} WHERE lane = ?1"  # noqa: S608
        ms = int(by.total_seconds() * 1000)
        await self.store.database.batch([Statement(sql, (self.name, ms))])

    async def over(self) -> None:
        await self.shift(timedelta(seconds=-61))

    async def lease(
        self, *keys: JobKey, alone: bool = False, asks: Mapping[str, set[str]] | None = None
    ) -> list[LeasedJob | SeenJob]:
        found = await self.store.jobs.lease(
            keys, token=secrets.token_hex(8), duration=LEASE, alone=alone, lanes=asks or self.asks
        )
        return [found[key] for key in keys]

    async def probe(self) -> LeasedJob:
        """Let the park be over, and one job be leased to try it out."""
        await self.over()
        (leased,) = await self.lease(await self.store.accepted())
        assert isinstance(leased, LeasedJob)
        return leased


@pytest.fixture
def lane(store: Store) -> Lane:
    return Lane(store)


async def test_of_many_who_fail_at_once_exactly_one_has_parked_the_lane(lane: Lane) -> None:
    failed = [await lane.store.leased() for _ in range(5)]

    parks = await asyncio.gather(*(lane.park(leased) for leased in failed))

    assert sorted(park.opened for park in parks) == [False] * 4 + [True]
    assert [park.leads for park in parks] == [park.opened for park in parks]
    assert all(timedelta(seconds=55) < park.opens_in <= POLICY.base for park in parks)
    assert (await lane.row())["failures"] == 1


async def test_a_park_that_is_told_twice_is_the_same_park(lane: Lane) -> None:
    leased = await lane.store.leased()
    await lane.park(leased)
    before = await lane.row()

    again = await lane.park(leased)

    assert again.opened
    assert await lane.row() == before


@pytest.mark.parametrize(("asked", "longer"), [(None, False), (30, False), (300, True)])
async def test_a_later_failure_makes_a_park_longer_only_if_it_asks_for_a_later_time(
    lane: Lane, asked: int | None, longer: bool
) -> None:
    await lane.park(await lane.store.leased())
    before = (await lane.row())["parked_until"]

    park = await lane.park(await lane.store.leased(), asked=asked)

    assert not park.opened
    assert ((await lane.row())["parked_until"] > before) is longer


async def test_what_the_provider_asked_for_is_a_floor(lane: Lane) -> None:
    park = await lane.park(await lane.store.leased(), asked=600)

    assert timedelta(seconds=595) < park.opens_in <= timedelta(seconds=600)


async def test_a_probe_that_fails_doubles_the_wait_once_and_up_to_the_cap(lane: Lane) -> None:
    await lane.park(await lane.store.leased())
    waits = []
    for _ in range(2):
        probe = await lane.probe()
        await lane.shift(timedelta(seconds=-100))
        first, again = await lane.park(probe), await lane.park(probe)
        waits.append(round(first.opens_in.total_seconds() / 10) * 10)
        assert (first.opened, first.leads, again.opened) == (False, True, False)
        await lane.shift(timedelta(seconds=-100))

    assert waits == [120, 150]
    assert (await lane.row())["failures"] == 3


async def test_a_probe_that_fails_for_another_reason_begins_the_wait_anew(lane: Lane) -> None:
    await lane.park(await lane.store.leased())
    await lane.park(await lane.probe())
    await lane.shift(timedelta(seconds=-100))

    park = await lane.park(await lane.probe(), error_class=ErrorClass.DENIED)

    assert not park.opened
    assert park.opens_in <= POLICY.base
    assert ((await lane.row())["class"], (await lane.row())["failures"]) == ("denied", 3)


async def test_nobody_is_leased_while_the_lane_is_parked(lane: Lane) -> None:
    first = await lane.store.leased()
    await lane.park(first)

    seen = await lane.lease(await lane.store.accepted(), await lane.store.accepted())

    for job in seen:
        assert isinstance(job, SeenJob)
        assert job.turned_away
        assert job.park
        assert timedelta(seconds=50) < job.park.opens_in <= POLICY.base
        assert not job.park.leads
        row = await lane.store.row(job.job.key)
        assert (row["state"], row["attempts"], row["attempt_no"]) == ("accepted", 0, 0)


async def test_a_kind_that_asks_another_lane_is_leased(lane: Lane) -> None:
    await lane.park(await lane.store.leased())
    other = await lane.store.accepted(kind="embed")

    turned_away, leased = await lane.lease(await lane.store.accepted(), other)

    assert isinstance(turned_away, SeenJob)
    assert isinstance(leased, LeasedJob)
    assert not leased.probes


async def test_when_the_time_is_over_one_of_the_wave_probes(lane: Lane) -> None:
    await lane.park(await lane.store.leased())
    await lane.over()

    found = await lane.lease(*[await lane.store.accepted() for _ in range(4)])
    later = await lane.lease(await lane.store.accepted())

    (probe,) = [one for one in found if isinstance(one, LeasedJob)]
    assert probe.probes == {lane.name}
    others = [one for one in (*found, *later) if isinstance(one, SeenJob)]
    assert len(others) == 4
    assert all(one.turned_away for one in others)


async def test_racing_waves_have_one_probe_between_them(lane: Lane) -> None:
    await lane.park(await lane.store.leased())
    await lane.over()
    keys = [await lane.store.accepted() for _ in range(6)]

    found = await asyncio.gather(*(lane.lease(key) for key in keys))

    assert sum(isinstance(one, LeasedJob) for (one,) in found) == 1


async def test_a_claim_whose_answer_was_lost_gives_the_same_probe_again(lane: Lane) -> None:
    await lane.park(await lane.store.leased())
    await lane.over()
    keys = [await lane.store.accepted(), await lane.store.accepted()]

    async def claim() -> list[object]:
        found = await lane.store.jobs.lease(
            keys, token="same", duration=LEASE, alone=False, lanes=lane.asks
        )
        return [one.probes if isinstance(one, LeasedJob) else None for one in found.values()]

    assert await claim() == await claim()


async def test_a_probe_whose_lease_has_ended_makes_room_for_the_next(lane: Lane) -> None:
    await lane.park(await lane.store.leased())
    dead = await lane.probe()
    await lane.store.expire_lease(dead.job.key)

    (following,) = await lane.lease(await lane.store.accepted())

    assert isinstance(following, LeasedJob)
    assert following.probes == {lane.name}
    assert not await lane.store.lanes.open(lane.name, token=dead.token)


async def test_a_probe_that_failed_and_was_never_settled_keeps_nobody_from_the_next_try(
    lane: Lane,
) -> None:
    await lane.park(await lane.store.leased())
    await lane.park(await lane.probe())
    await lane.shift(timedelta(seconds=-121))

    (following,) = await lane.lease(await lane.store.accepted())

    assert isinstance(following, LeasedJob)
    assert following.probes == {lane.name}


async def test_the_answer_to_its_probe_opens_the_lane_for_all(lane: Lane) -> None:
    await lane.park(await lane.store.leased())
    probe = await lane.probe()

    opened = await lane.store.lanes.open(lane.name, token=probe.token)

    found = await lane.lease(*[await lane.store.accepted() for _ in range(3)])
    assert opened
    assert all(isinstance(one, LeasedJob) and not one.probes for one in found)


async def test_nobody_else_opens_the_lane_nor_its_probe_once_it_was_told_to_wait(
    lane: Lane,
) -> None:
    first = await lane.store.leased()
    await lane.park(first)
    probe = await lane.probe()
    await lane.park(await lane.store.leased(), asked=300)

    opened = [
        await lane.store.lanes.open(lane.name, token=token)
        for token in (first.token, probe.token, "stranger")
    ]

    assert opened == [False] * 3


async def test_a_park_that_was_over_long_ago_counts_for_nothing(lane: Lane) -> None:
    await lane.park(await lane.store.leased())
    await lane.shift(LONG_AGO)

    found = await lane.lease(await lane.store.accepted(), await lane.store.accepted())
    park = await lane.park(await lane.store.leased())

    assert all(isinstance(one, LeasedJob) and not one.probes for one in found)
    assert park.opened
    assert (await lane.row())["failures"] == 1


async def test_a_job_of_two_lanes_probes_none_while_the_other_is_parked(lane: Lane) -> None:
    other = Lane(lane.store, "other")
    await lane.park(await lane.store.leased())
    await other.park(await lane.store.leased())
    await lane.over()
    both = {"summarize": {lane.name, other.name}}

    (turned_away,) = await lane.lease(await lane.store.accepted(), asks=both)
    await other.over()
    (probe,) = await lane.lease(await lane.store.accepted(), asks=both)

    assert isinstance(turned_away, SeenJob)
    assert turned_away.park
    assert turned_away.park.opens_in > timedelta(seconds=50)
    assert isinstance(probe, LeasedJob)
    assert probe.probes == {lane.name, other.name}


async def test_what_is_in_quarantine_probes_alone_and_keeps_nobody_from_it(lane: Lane) -> None:
    await lane.park(await lane.store.leased())
    await lane.over()
    suspect = await lane.store.accepted()
    await lane.store.shift(suspect, "crashes", timedelta(milliseconds=1))

    seen, *_ = await lane.lease(suspect)
    (leased,) = await lane.lease(suspect, alone=True)

    assert isinstance(seen, SeenJob)
    assert seen.may_be_leased_alone
    assert not seen.turned_away
    assert isinstance(leased, LeasedJob)
    assert leased.probes == {lane.name}


async def test_what_a_dead_holder_left_is_not_taken_over_in_a_parked_lane(lane: Lane) -> None:
    dead = await lane.store.leased()
    await lane.store.expire_lease(dead.job.key)
    await lane.park(await lane.store.leased())

    (seen,) = await lane.lease(dead.job.key, alone=True)

    assert isinstance(seen, SeenJob)
    assert seen.lease_expired
    assert await lane.store.attempts(dead.job.key) == []


async def test_a_run_is_told_how_its_lane_stands_and_tries_it_out_in_its_turn(lane: Lane) -> None:
    run, other = await lane.store.started(), await lane.store.started()

    async def enter(leased: LeasedJob) -> Park | bool:
        return await lane.store.lanes.enter(lane.name, key=leased.job.key, token=leased.token)

    assert await enter(run) is False
    await lane.park(await lane.store.leased())
    told = await enter(run)
    assert isinstance(told, Park)
    assert timedelta(seconds=50) < told.opens_in <= POLICY.base
    await lane.over()
    assert [await enter(run), await enter(run)] == [True, True]
    assert isinstance(await enter(other), Park)
    assert await lane.store.lanes.open(lane.name, token=run.token)
    assert await enter(other) is False


async def test_a_job_that_waits_for_its_lane_moves_only_in_time(lane: Lane) -> None:
    store = lane.store
    key = await store.accepted(deadline=timedelta(minutes=30))
    before = await store.row(key)

    moved = await store.lanes.postpone({key: timedelta(seconds=90)})
    again = await store.lanes.postpone({key: timedelta(seconds=90)})

    after = await store.row(key)
    assert (set(moved), set(again)) == ({key}, set())
    assert 89_000 < after["due_at"] - before["due_at"] < 95_000
    assert after["wake_at"] - after["due_at"] == 60_000
    changed = {name for name in after if after[name] != before[name]}
    assert changed == {"due_at", "wake_at"}


async def test_no_job_waits_for_its_lane_past_its_deadline(lane: Lane) -> None:
    key = await lane.store.accepted(deadline=timedelta(seconds=40))

    await lane.store.lanes.postpone({key: timedelta(minutes=20)})

    row = await lane.store.row(key)
    assert row["due_at"] == row["wake_at"] == row["deadline_at"]


@pytest.mark.parametrize("state", [JobState.RUNNING, JobState.SUCCEEDED, JobState.FAILED])
async def test_what_does_not_wait_is_not_put_off(lane: Lane, state: JobState) -> None:
    key, _ = await lane.store.in_state(state, engine=Engine.QUEUE)

    assert not await lane.store.lanes.postpone({key: timedelta(seconds=90)})


async def test_an_open_lane_costs_no_row(d1_store: Store) -> None:
    lane, database = Lane(d1_store), d1_store.database

    async def cost(asks: Mapping[str, set[str]]) -> tuple[int, int, int]:
        keys = [await d1_store.accepted() for _ in range(10)]
        before = (database.calls, database.rows_read, database.rows_written)
        await d1_store.jobs.lease(
            keys, token=secrets.token_hex(8), duration=LEASE, alone=False, lanes=asks
        )
        after = (database.calls, database.rows_read, database.rows_written)
        return (after[0] - before[0], after[1] - before[1], after[2] - before[2])

    assert await cost(lane.asks) == await cost({"nothing": set()})
