"""The store of schedules on both drivers: what is put is kept, what is due is recorded once, and an
upload lives as long as a schedule names it.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.contract.factories import RETENTION, Store, new_job
from tests.contract.test_cost import Spent
from uketsuke.adapters.sql import rows, schedules
from uketsuke.adapters.sql.database import Statement
from uketsuke.adapters.sql.inputs import SqlInputs
from uketsuke.adapters.sql.occurrences import SqlOccurrences
from uketsuke.adapters.sql.purging import SqlPurging
from uketsuke.adapters.sql.schedules import SqlSchedules
from uketsuke.adapters.sql.sweeping import SqlSweeping
from uketsuke.domain.job import InputForm, InputPlace, JobKey, Upload
from uketsuke.domain.price import Expected
from uketsuke.domain.schedule import (
    Last,
    NewSchedule,
    Occurrence,
    OccurrenceState,
    Overlap,
    Schedule,
    ScheduleKey,
)
from uketsuke.services.ports import AcceptedNew

pytestmark = pytest.mark.anyio

KEEP = timedelta(days=30)
MINUTE = timedelta(minutes=1)
STARTED, SKIPPED = OccurrenceState.STARTED, OccurrenceState.SKIPPED


class Scheduling:
    """The schedules of one tenant, with the shortcuts that the tests need."""

    def __init__(self, store: Store) -> None:
        self.store, self.tenant, self.database = store, store.tenant, store.database
        self.schedules = SqlSchedules(self.database, keep_inputs=KEEP, keep_results=KEEP)
        self.occurrences = SqlOccurrences(self.database)
        self.inputs = SqlInputs(self.database)

    def new(self, name: str = "nightly", **changes: Any) -> NewSchedule:
        values: dict[str, Any] = {
            "key": ScheduleKey(self.tenant, name),
            "generation": secrets.token_hex(8),
            "cron": "0 7 * * *",
            "timezone": "Asia/Tokyo",
            "kind": "summarize",
            "params": {"max_words": 80},
            "input": InputPlace(form=InputForm.TEXT, bytes=4),
            "content": '"text"',
            "run_key": f"schedule:{name}",
            "overlap": Overlap.SKIP,
            "enabled": True,
            "next_at": datetime(2030, 1, 1, tzinfo=UTC),
        }
        return NewSchedule(**{**values, **changes})

    def naming(self, *refs: str, name: str = "nightly", **changes: Any) -> NewSchedule:
        place = InputPlace(form=InputForm.REFS, bytes=3, refs=refs)
        return self.new(name, input=place, content=None, **changes)

    @asynccontextmanager
    async def undisturbed(self) -> AsyncIterator[None]:
        """Hold the duty that starts what is due: the running stack sweeps each minute."""
        sweeping = SqlSweeping(self.store.database, RETENTION)
        duty, lease = "start_due", timedelta(seconds=30)
        # Its holder is in another process.
        while not await sweeping.claim_duty(  # noqa: ASYNC110
            duty, token="test", lease=lease
        ):
            await asyncio.sleep(0.05)
        yield
        await sweeping.finish_duty(duty, token="test", done=True)

    async def put(self, new: NewSchedule) -> Schedule:
        put = await self.schedules.put(new)
        assert put
        return put.schedule

    async def now(self) -> datetime:
        return rows.to_time(await self.store.now())

    async def due(self, name: str = "nightly", *, late: timedelta = MINUTE) -> Schedule:
        """Put a schedule whose time has come.

        What records needs none: the stack's own sweep must not come in between.
        """
        return await self.put(self.new(name, next_at=await self.now() - late))

    async def recorded(self, name: str = "nightly") -> tuple[Schedule, Occurrence]:
        """Record an occurrence of a new schedule, and take it up."""
        schedule = await self.put(self.new(name))
        assert schedule.next_at
        job, later = f"job_{secrets.token_hex(4)}", schedule.next_at + timedelta(days=1)
        assert await self.occurrences.record(
            schedule, due_at=schedule.next_at, job_id=job, next_at=later
        )
        (occurrence,) = await self.left()
        return schedule, occurrence

    async def left(self, *, older_than: timedelta = timedelta()) -> list[Occurrence]:
        """The occurrences of this tenant that were left; tests share one database."""
        taken = await self.occurrences.take_up(older_than=older_than, limit=1000)
        return [occurrence for occurrence in taken if occurrence.tenant_id == self.tenant]

    async def found(self, name: str = "nightly") -> Schedule:
        schedule = await self.schedules.find(ScheduleKey(self.tenant, name))
        assert schedule
        return schedule

    async def upload(self) -> str:
        ref = f"in_{secrets.token_hex(13)}"
        upload = Upload(
            ref=ref,
            tenant_id=self.tenant,
            object_key=f"{self.tenant}/{ref}/x",
            bytes=3,
            sha256="0" * 64,
            content_type="text/plain",
            expires_at=datetime(2030, 1, 1, tzinfo=UTC),
        )
        await self.inputs.record(upload, keep=MINUTE)
        return ref

    async def kept_for(self, ref: str) -> timedelta:
        sql = "SELECT expires_at FROM inputs WHERE tenant_id = ?1 AND id = ?2"
        ((row,),) = await self.database.batch([Statement(sql, (self.tenant, ref))])
        return rows.to_time(row["expires_at"]) - await self.now()

    async def states(self, name: str = "nightly") -> list[str]:
        sql = "SELECT state FROM occurrences WHERE tenant_id = ?1 AND schedule = ?2 ORDER BY due_at"
        (found,) = await self.database.batch([Statement(sql, (self.tenant, name))])
        return [row["state"] for row in found]


@pytest.fixture
def scheduling(store: Store) -> Scheduling:
    return Scheduling(store)


async def test_what_is_put_is_found_with_its_content(scheduling: Scheduling) -> None:
    new = scheduling.new(expected=Expected(input_tokens=3))

    put = await scheduling.schedules.put(new)

    assert put
    assert put.created
    assert put.schedule.expected == new.expected
    assert await scheduling.found() == put.schedule
    written = (put.schedule.generation, put.schedule.cron, put.schedule.content)
    assert written == (new.generation, new.cron, new.content)
    assert (put.schedule.next_at, put.schedule.last) == (new.next_at, None)


async def test_a_schedule_put_again_is_replaced_and_stays_the_same_row(
    scheduling: Scheduling,
) -> None:
    first = await scheduling.put(scheduling.new())
    changed = scheduling.naming(
        await scheduling.upload(), run_key=None, overlap=Overlap.ALLOW, enabled=False, next_at=None
    )

    put = await scheduling.schedules.put(changed)

    assert put
    assert not put.created
    assert (put.schedule.generation, put.schedule.created_at) == (
        first.generation,
        first.created_at,
    )
    assert (put.schedule.overlap, put.schedule.enabled) == (Overlap.ALLOW, False)
    assert (put.schedule.content, put.schedule.next_at) == (None, None)
    assert await scheduling.found() == put.schedule


@pytest.mark.parametrize(
    ("change", "kept"),
    [({"kind": "embed"}, True), ({"cron": "0 8 * * *"}, False), ({"timezone": "UTC"}, False)],
)
async def test_the_next_time_is_kept_while_cron_and_zone_stay_as_they_are(
    scheduling: Scheduling, change: dict[str, str], kept: bool
) -> None:
    before = await scheduling.put(scheduling.new())
    later = datetime(2031, 1, 1, tzinfo=UTC)

    after = await scheduling.put(scheduling.new(next_at=later, **change))

    assert after.next_at == (before.next_at if kept else later)


async def test_a_repeat_keeps_a_next_time_that_has_come(scheduling: Scheduling) -> None:
    """Else a deploy that puts its schedules again would lose what is due and not yet started."""
    later = datetime(2031, 1, 1, tzinfo=UTC)
    async with scheduling.undisturbed():
        due = await scheduling.due()

        after = await scheduling.put(scheduling.new(next_at=later))

    assert after.next_at == due.next_at


async def test_a_tenants_names_are_its_own(store: Store) -> None:
    ours, theirs = Scheduling(store), Scheduling(Store(store.database, f"{store.tenant}-b"))
    await ours.put(ours.new(cron="1 1 * * *"))
    await theirs.put(theirs.new(cron="2 2 * * *"))

    assert await theirs.schedules.delete(ScheduleKey(theirs.tenant, "nightly"))

    assert (await ours.found()).cron == "1 1 * * *"
    assert await ours.schedules.find(ScheduleKey(theirs.tenant, "nightly")) is None


async def test_what_is_not_there_cannot_be_deleted(scheduling: Scheduling) -> None:
    await scheduling.put(scheduling.new())
    key = ScheduleKey(scheduling.tenant, "nightly")

    assert await scheduling.schedules.delete(key)
    assert not await scheduling.schedules.delete(key)


@pytest.mark.parametrize("with_content", [True, False])
async def test_a_tenants_list_is_whole_over_its_pages(
    scheduling: Scheduling, with_content: bool
) -> None:
    names = ["B", "a", "a-b", "a.b", "z"]
    for name in reversed(names):
        await scheduling.put(scheduling.new(name))

    found, after = [], ""
    while True:
        page = await scheduling.schedules.page(
            tenant_id=scheduling.tenant, after=after, limit=2, with_content=with_content
        )
        found += [(schedule.name, schedule.content) for schedule in page.schedules]
        if page.cursor is None:
            break
        after = page.cursor.name

    assert found == [(name, '"text"' if with_content else None) for name in names]


async def test_a_page_ends_early_when_its_schedules_hold_much(
    scheduling: Scheduling, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schedules, "_BYTES_A_PAGE", 10)
    for name in "abcde":
        await scheduling.put(scheduling.new(name))  # 4 bytes each, as its row says

    first = await scheduling.schedules.page(
        tenant_id=scheduling.tenant, after="", limit=50, with_content=True
    )

    assert [schedule.name for schedule in first.schedules] == ["a", "b", "c"]
    assert first.cursor == ScheduleKey(scheduling.tenant, "c")


async def test_an_operator_sees_every_tenants_schedules_in_order(store: Store) -> None:
    tenants = [Scheduling(Store(store.database, f"{store.tenant}-{n}")) for n in "12"]
    for tenant in reversed(tenants):
        for name in "ba":
            await tenant.put(tenant.new(name))
    before_ours = ScheduleKey(store.tenant, "~")

    first = await tenants[0].schedules.page_of_all(after=before_ours, limit=3)
    rest = await tenants[0].schedules.page_of_all(after=first.cursor, limit=3)

    seen = [schedule.key for page in (first, rest) for schedule in page.schedules][:4]
    assert seen == [ScheduleKey(tenant.tenant, name) for tenant in tenants for name in "ab"]
    assert first.schedules[0].content is None


async def test_only_what_is_enabled_and_has_come_is_due(scheduling: Scheduling) -> None:
    await scheduling.put(scheduling.new("later"))
    await scheduling.put(scheduling.new("off", enabled=False, next_at=None))

    async def ours(after: Schedule | None) -> list[str]:
        due = await scheduling.occurrences.due(after=after, limit=1000)
        assert abs(due.now - await scheduling.now()) < MINUTE
        return [s.name for s in due.schedules if s.tenant_id == scheduling.tenant]

    async with scheduling.undisturbed():
        second = await scheduling.due("second", late=MINUTE)
        first = await scheduling.due("first", late=2 * MINUTE)

        assert await ours(None) == ["first", "second"]
        assert await ours(first) == ["second"]
        assert await ours(second) == []


async def test_a_recorded_occurrence_moves_its_schedule_on(scheduling: Scheduling) -> None:
    schedule = await scheduling.put(scheduling.new())
    assert schedule.next_at
    later = schedule.next_at + timedelta(days=1)

    done = await scheduling.occurrences.record(
        schedule, due_at=schedule.next_at, job_id="job_1", next_at=later
    )

    assert done
    assert (await scheduling.found()).next_at == later
    (occurrence,) = await scheduling.left()
    assert (occurrence.due_at, occurrence.job_id) == (schedule.next_at, "job_1")
    assert occurrence.generation == schedule.generation
    assert (occurrence.state, occurrence.tries) == (OccurrenceState.RECORDED, 1)


async def test_two_sweeps_record_an_occurrence_once(scheduling: Scheduling) -> None:
    schedule = await scheduling.put(scheduling.new())
    assert schedule.next_at
    at, later = schedule.next_at, schedule.next_at + timedelta(days=1)

    first = await scheduling.occurrences.record(schedule, due_at=at, job_id="job_1", next_at=later)
    again = await scheduling.occurrences.record(schedule, due_at=at, job_id="job_1", next_at=later)
    other = await scheduling.occurrences.record(schedule, due_at=at, job_id="job_2", next_at=later)

    assert (first, again, other) == (True, True, False)
    assert [o.job_id for o in await scheduling.left()] == ["job_1"]


@pytest.mark.parametrize("change", ["moved", "disabled", "made anew", "deleted"])
async def test_a_schedule_that_changed_since_it_was_read_records_nothing(
    scheduling: Scheduling, change: str
) -> None:
    read = await scheduling.put(scheduling.new())
    assert read.next_at
    match change:
        case "moved":
            later = read.next_at + MINUTE
            await scheduling.put(scheduling.new(cron="1 9 * * *", next_at=later))
        case "disabled":
            await scheduling.put(scheduling.new(enabled=False, next_at=None))
        case "made anew":
            await scheduling.schedules.delete(read.key)
            await scheduling.put(scheduling.new(next_at=read.next_at))
        case _:
            await scheduling.schedules.delete(read.key)

    done = await scheduling.occurrences.record(
        read, due_at=read.next_at, job_id="job_1", next_at=read.next_at + MINUTE
    )

    assert not done
    assert await scheduling.states() == []


async def test_an_occurrence_that_was_recorded_before_is_passed_by(scheduling: Scheduling) -> None:
    schedule, occurrence = await scheduling.recorded()
    # The clock was put back: the same time is due again.
    again = await scheduling.put(scheduling.new(cron="1 1 * * *", next_at=occurrence.due_at))
    later = occurrence.due_at + timedelta(days=2)

    done = await scheduling.occurrences.record(
        again, due_at=occurrence.due_at, job_id="job_other", next_at=later
    )

    assert not done
    assert (await scheduling.found()).next_at == later
    assert again.generation == schedule.generation


async def test_a_schedule_that_comes_true_no_more_has_no_next_time(scheduling: Scheduling) -> None:
    schedule = await scheduling.put(scheduling.new())
    assert schedule.next_at

    await scheduling.occurrences.record(
        schedule, due_at=schedule.next_at, job_id="job_1", next_at=None
    )

    assert (await scheduling.found()).next_at is None
    assert not await scheduling.occurrences.record(
        await scheduling.found(), due_at=schedule.next_at, job_id="job_2", next_at=None
    )


async def test_an_occurrence_is_left_only_after_a_while(scheduling: Scheduling) -> None:
    await scheduling.recorded()

    assert await scheduling.left(older_than=MINUTE) == []
    (again,) = await scheduling.left()
    assert again.tries == 2


@pytest.mark.parametrize(("state", "reason"), [(STARTED, None), (SKIPPED, "run_in_progress")])
async def test_a_settled_occurrence_is_told_by_its_schedule(
    scheduling: Scheduling, state: OccurrenceState, reason: str | None
) -> None:
    _, occurrence = await scheduling.recorded()

    done = await scheduling.occurrences.settle(occurrence, state=state, reason=reason)

    assert done
    job = occurrence.job_id if state is STARTED else None
    told = Last(at=occurrence.due_at, outcome=state, job_id=job)
    assert (await scheduling.found()).last == told
    assert await scheduling.left() == []


async def test_an_occurrence_is_decided_once(scheduling: Scheduling) -> None:
    _, occurrence = await scheduling.recorded()
    await scheduling.occurrences.settle(occurrence, state=STARTED, reason=None)

    done = await scheduling.occurrences.settle(occurrence, state=SKIPPED, reason="late")

    assert not done
    assert await scheduling.states() == ["started"]
    last = (await scheduling.found()).last
    assert last
    assert last.outcome is STARTED


async def test_an_older_occurrence_does_not_hide_a_later_one(scheduling: Scheduling) -> None:
    schedule, older = await scheduling.recorded()
    assert schedule.next_at
    moved = await scheduling.found()
    assert moved.next_at
    await scheduling.occurrences.record(
        moved, due_at=moved.next_at, job_id="job_later", next_at=moved.next_at + MINUTE
    )
    later = next(o for o in await scheduling.left() if o.job_id == "job_later")

    await scheduling.occurrences.settle(later, state=STARTED, reason=None)
    await scheduling.occurrences.settle(older, state=SKIPPED, reason="late")

    last = (await scheduling.found()).last
    assert last
    assert last.at == later.due_at
    assert await scheduling.states() == ["skipped", "started"]


async def test_a_schedule_made_anew_is_not_told_of_the_old_ones_occurrence(
    scheduling: Scheduling,
) -> None:
    schedule, occurrence = await scheduling.recorded()
    await scheduling.schedules.delete(schedule.key)
    await scheduling.put(scheduling.new())

    done = await scheduling.occurrences.settle(occurrence, state=SKIPPED, reason="deleted")

    assert done
    assert (await scheduling.found()).last is None


async def test_a_deleted_schedule_leaves_only_what_is_to_be_decided(
    scheduling: Scheduling,
) -> None:
    schedule, occurrence = await scheduling.recorded()
    await scheduling.occurrences.settle(occurrence, state=STARTED, reason=None)
    moved = await scheduling.found()
    assert moved.next_at
    await scheduling.occurrences.record(
        moved, due_at=moved.next_at, job_id="job_2", next_at=moved.next_at + MINUTE
    )

    await scheduling.schedules.delete(schedule.key)

    assert await scheduling.states() == ["recorded"]


async def test_old_occurrences_go_when_new_ones_are_recorded(scheduling: Scheduling) -> None:
    _, occurrence = await scheduling.recorded()
    await scheduling.occurrences.settle(occurrence, state=STARTED, reason=None)
    moved = await scheduling.found()
    late = occurrence.due_at + timedelta(days=8)

    await scheduling.occurrences.record(moved, due_at=late, job_id="job_2", next_at=late + MINUTE)

    assert await scheduling.states() == ["recorded"]


async def test_an_upload_lives_as_long_as_a_schedule_names_it(scheduling: Scheduling) -> None:
    ref = await scheduling.upload()
    await scheduling.put(scheduling.naming(ref))
    await scheduling.put(scheduling.naming(ref, name="other"))

    await scheduling.schedules.delete(ScheduleKey(scheduling.tenant, "nightly"))
    named_by_another = await scheduling.kept_for(ref)
    await scheduling.put(scheduling.new("other"))
    released = await scheduling.kept_for(ref)

    assert named_by_another > timedelta(days=365 * 1000)
    # As long as a job may still need it that was started a moment before.
    assert KEEP + timedelta(days=7) - MINUTE < released <= KEEP + timedelta(days=7)


async def test_a_replaced_upload_is_released_and_the_new_one_is_kept(
    scheduling: Scheduling,
) -> None:
    old, new = await scheduling.upload(), await scheduling.upload()
    await scheduling.put(scheduling.naming(old))

    await scheduling.put(scheduling.naming(new))

    assert await scheduling.kept_for(old) < timedelta(days=40)
    assert await scheduling.kept_for(new) > timedelta(days=365 * 1000)


async def test_a_job_with_the_upload_of_a_schedule_does_not_shorten_its_life(
    scheduling: Scheduling,
) -> None:
    ref = await scheduling.upload()
    await scheduling.put(scheduling.naming(ref))
    place = InputPlace(form=InputForm.REF, bytes=3, refs=(ref,))

    admission = await scheduling.store.jobs.accept(
        new_job(scheduling.tenant, input=place, inline_input=None)
    )

    assert isinstance(admission, AcceptedNew)
    assert await scheduling.kept_for(ref) > timedelta(days=365 * 1000)


async def test_a_schedule_whose_upload_is_gone_changes_nothing(scheduling: Scheduling) -> None:
    kept, gone = await scheduling.upload(), await scheduling.upload()
    before = await scheduling.put(scheduling.naming(kept))
    other = await scheduling.upload()
    await scheduling.store.expire_input(gone)

    put = await scheduling.schedules.put(scheduling.naming(other, gone, cron="9 9 * * *"))

    assert put is None
    assert await scheduling.found() == before
    assert await scheduling.kept_for(kept) > timedelta(days=365 * 1000)
    assert await scheduling.kept_for(other) < timedelta(days=40)


async def test_another_tenants_upload_cannot_be_named(store: Store) -> None:
    ours, theirs = Scheduling(store), Scheduling(Store(store.database, f"{store.tenant}-b"))
    ref = await theirs.upload()

    assert await ours.schedules.put(ours.naming(ref)) is None
    assert await theirs.kept_for(ref) <= MINUTE


async def test_the_purge_leaves_the_upload_of_a_schedule(scheduling: Scheduling) -> None:
    ref = await scheduling.upload()
    await scheduling.put(scheduling.naming(ref))
    key = JobKey(scheduling.tenant, ref)

    expired = await SqlPurging(scheduling.database).expired_inputs(limit=1000)
    deleted = await SqlPurging(scheduling.database).delete_inputs([key])

    assert key not in {one.key for one in expired}
    assert deleted == 0


async def test_an_occurrence_costs_six_rows_and_looking_for_one_none(d1_store: Store) -> None:
    scheduling = Scheduling(d1_store)
    schedule = await scheduling.put(scheduling.new())
    assert schedule.next_at
    spent = Spent(scheduling.database)

    await scheduling.occurrences.due(after=None, limit=100)
    looking = spent.written
    later = schedule.next_at + MINUTE
    await scheduling.occurrences.record(
        schedule, due_at=schedule.next_at, job_id="job_1", next_at=later
    )
    recording = spent.written
    occurrence = Occurrence(
        tenant_id=scheduling.tenant,
        schedule=schedule.name,
        generation=schedule.generation,
        due_at=schedule.next_at,
        job_id="job_1",
        state=OccurrenceState.RECORDED,
        reason=None,
        recorded_at=schedule.next_at,
        tries=0,
    )
    assert await scheduling.occurrences.settle(occurrence, state=STARTED, reason=None)

    assert (looking, recording, spent.written) == (0, 4, 6)


IMPOSSIBLE = [
    "overlap = 'queue'",
    "overlap = 'allow'",
    "run_key = NULL",
    "enabled = 2",
    "enabled = 0",
    "next_at = 'soon'",
    "last_at = 1",
    "last_outcome = 'started'",
    "last_at = 1, last_outcome = 'started'",
    "last_at = 1, last_outcome = 'skipped', last_job_id = 'job_1'",
    "content = NULL",
    """input = '{"refs": ["in_1"]}'""",
]


@pytest.mark.parametrize("change", IMPOSSIBLE)
async def test_an_impossible_schedule_is_refused(scheduling: Scheduling, change: str) -> None:
    before = await scheduling.put(scheduling.new())
    sql = f"UPDATE schedules SET {change} WHERE tenant_id = ?1 AND name = ?2"  # noqa: S608

    with pytest.raises(Exception, match=r"constraint|cannot store"):
        await scheduling.database.batch([Statement(sql, tuple(before.key))])

    assert await scheduling.found() == before


@pytest.mark.parametrize("change", ["state = 'lost'", "state = 'skipped'", "reason = 'why'"])
async def test_an_impossible_occurrence_is_refused(scheduling: Scheduling, change: str) -> None:
    _, occurrence = await scheduling.recorded()
    sql = f"UPDATE occurrences SET {change} WHERE tenant_id = ?1"  # noqa: S608

    with pytest.raises(Exception, match="constraint"):
        await scheduling.database.batch([Statement(sql, (scheduling.tenant,))])

    (after,) = await scheduling.left()
    assert after == replace(occurrence, tries=2)
