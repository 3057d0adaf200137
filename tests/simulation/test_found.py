"""What the simulator found, each as a case of its own: short, and clear about the cause."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from tests.contract.factories import RETENTION
from tests.unit.services.world import World, working
from uketsuke.adapters.sql.database import Database, Row, Statement
from uketsuke.adapters.sql.repository import SqlJobs
from uketsuke.domain.failure import AttemptFailed, ErrorClass, Failure
from uketsuke.domain.job import Checkpoint, Ending, Job, LeasedJob, ResultPlace
from uketsuke.domain.lifecycle import Engine, JobState, Outcome
from uketsuke.services.adopt import write_paid
from uketsuke.services.cancel import cancel
from uketsuke.services.execute import Attempt, ending_of
from uketsuke.services.inspect import events_of, result_of
from uketsuke.services.knock import Done, KnockAgain
from uketsuke.services.ports import InstanceState
from uketsuke.services.run import RESULT
from uketsuke.services.silence import look_after
from uketsuke.services.sweep import sweep

SETTLE = "late_writes"
RENEWAL = "AS held"
ASK_SETTLED = "a.lease_token = asked"
ALWAYS = 1000


async def leased(world: World, job: Job, *, alone: bool) -> LeasedJob | None:
    """Lease a job as a Worker would that then says nothing more."""
    token = world.ports.dice.entropy(8).hex()
    found = await world.ports.jobs.lease(
        [job.key], token=token, duration=world.settings.lease, alone=alone
    )
    lease = found[job.key]
    return lease if isinstance(lease, LeasedJob) else None


def text_kept(ending: Ending) -> str:
    place = ResultPlace(attempt=ending.attempt, content_type="application/json", bytes=2)
    return json.dumps(write_paid(replace(ending, result=place, result_text="{}")))


async def text_of(world: World, job: Job) -> str | None:
    body = await result_of(await world.now(job), ports=world.ports)
    return body.content.decode() if body.content else None


def test_a_late_success_keeps_its_result_though_another_looked_at_its_expired_lease(
    world: World,
) -> None:
    async def main() -> None:
        job = await world.submitted()

        async def work(_: Attempt) -> Mapping[str, object]:
            # The Worker stood still past its lease. Another one met the job, with a neighbour.
            await asyncio.sleep(0)
            world.connection.execute("UPDATE jobs SET leased_until = 0")
            assert await leased(world, job, alone=False) is None
            return {"summary": "late and right"}

        assert await world.consumed([job], work) == [Done()]

        assert (await world.now(job)).state is JobState.SUCCEEDED
        assert await text_of(world, job) == '{"summary":"late and right"}'

    world.run(main())


def test_a_look_at_an_expired_lease_does_not_write_an_end_that_does_not_come(
    world: World,
) -> None:
    async def main() -> None:
        job = await world.submitted()
        await leased(world, job, alone=True)
        await asyncio.sleep(61)
        await leased(world, job, alone=False)
        await cancel(job, ports=world.ports)

        await world.ports.jobs.take_back([job.key])

        life = await events_of(await world.now(job), ports=world.ports)
        assert [event.type for event in life] == ["accepted", "leased", "canceled"]

    world.run(main())


def test_a_late_failure_is_counted_though_its_crash_was_recorded_as_a_failure(
    world: World,
) -> None:
    async def main() -> None:
        job = await world.submitted()

        async def work(_: Attempt) -> Mapping[str, object]:
            world.connection.execute("UPDATE jobs SET leased_until = 0")
            await world.ports.jobs.take_back([job.key])
            raise AttemptFailed(ErrorClass.TIMEOUT, "provider_timed_out")

        (verdict,) = await world.consumed([job], work)

        assert verdict == KnockAgain(after=world.settings.lease)

    world.run(main())
    assert world.rows("SELECT value FROM counters") == [{"value": 1}]


def test_a_sweep_that_settles_for_a_run_after_its_own_end_changes_nothing_and_is_counted(
    world: World,
) -> None:
    async def main() -> None:
        job = await world.submitted(engine=Engine.WORKFLOW, run_limit=timedelta(hours=1))
        await asyncio.sleep(61)
        page = await world.ports.sweeping.wake_page(None, limit=10, first_grace=timedelta())
        (silent,) = page.silent  # the sweep stands still here, and the run ends by itself
        won = ending_of(silent, JobState.SUCCEEDED, Outcome.SUCCEEDED)
        kept = Checkpoint(step=RESULT[0], digest=RESULT[1], attempt=1, content=text_kept(won))
        await world.ports.runs.keep(job.key, kept)
        world.workflows.instances[silent.instance_id].state = InstanceState.COMPLETE
        late = Failure(error_class=ErrorClass.TIMEOUT, code="attempt_timed_out")
        lost = ending_of(silent, JobState.RETRYING, Outcome.FAILED)
        await world.ports.jobs.settle([replace(lost, failure=late)])

        await look_after(silent, ports=world.ports)

        assert (await world.now(job)).state is JobState.RETRYING

    world.run(main())
    assert world.rows("SELECT value FROM counters") == [{"value": 1}]


def test_a_last_attempt_that_dies_beside_a_neighbour_does_not_fail_its_job(world: World) -> None:
    async def main() -> None:
        job = await world.submitted(max_attempts=1)
        await leased(world, job, alone=False)
        await asyncio.sleep(61)

        (spared,) = await world.ports.jobs.take_back([job.key])

        assert (spared.state, spared.attempts) == (JobState.RETRYING, 0)
        assert await leased(world, job, alone=False) is None
        assert await leased(world, job, alone=True) is not None
        await asyncio.sleep(61)
        (failed,) = await world.ports.jobs.take_back([job.key])
        assert (failed.state, failed.error_class) == (JobState.FAILED, ErrorClass.CRASHED)

    world.run(main())
    outcomes = [row["outcome"] for row in world.rows("SELECT outcome FROM attempts")]
    assert outcomes == ["deferred", "failed"]


def test_a_job_that_nobody_worked_ends_at_its_deadline_however_often_it_was_sent(
    world: World,
) -> None:
    async def main() -> None:
        job = await world.submitted(deadline=timedelta(minutes=20))
        while not (await world.now(job)).terminal:
            await asyncio.sleep(60)
            await sweep(world.ports)

        ended = await world.now(job)
        assert ended.finished_at is not None
        assert ended.finished_at - ended.deadline_at < timedelta(seconds=120)
        assert ended.error_class is ErrorClass.DEADLINE

    world.run(main())


async def pay_and_lose(world: World, job: Job) -> None:
    """Work a job while the database is away, until its result is kept in storage."""
    world.database.failing = [(SETTLE, "before")] * ALWAYS
    await world.consumed([job], working(result={"summary": "paid for"}))
    world.database.failing = []
    assert world.blobs.kept
    await asyncio.sleep(62)


def test_an_adopted_result_can_be_read(world: World) -> None:
    async def main() -> None:
        job = await world.submitted()
        await pay_and_lose(world, job)

        assert await world.consumed([job], working(result=AssertionError("paid twice"))) == [Done()]

        assert await text_of(world, job) == '{"summary":"paid for"}'

    world.run(main())


def test_a_kept_result_is_not_paid_again_while_storage_is_away_nor_after(world: World) -> None:
    async def main() -> None:
        job = await world.submitted()
        await pay_and_lose(world, job)
        again = working(result=AssertionError("paid twice"))
        world.blobs.away = True

        (verdict,) = await world.consumed([job], again)

        assert isinstance(verdict, KnockAgain)
        assert (await world.now(job)).error_code == "storage_unavailable"
        world.blobs.away = False
        await asyncio.sleep(62)
        assert await world.consumed([job], again) == [Done()]
        assert await text_of(world, job) == '{"summary":"paid for"}'

    world.run(main())


def test_a_failure_of_our_storage_keeps_the_key_of_the_providers_call(world: World) -> None:
    async def main() -> None:
        job = await world.submitted()
        world.blobs.away = True

        await world.consumed([job], working(result={"summary": "x" * 5000}))

        assert (await world.now(job)).error_code == "storage_unavailable"

    world.run(main())
    assert world.rows("SELECT call_epoch FROM jobs") == [{"call_epoch": 0}]


def test_what_a_lost_first_attempt_had_stored_does_not_outlive_its_job(world: World) -> None:
    async def main() -> None:
        job = await world.submitted(deadline=timedelta(minutes=1))
        await pay_and_lose(world, job)
        await sweep(world.ports)
        assert (await world.now(job)).attempt_no == 1

        await asyncio.sleep((2 * world.settings.keep_results).total_seconds())
        await sweep(world.ports)

        assert world.blobs.kept == {}

    world.run(main())
    assert world.rows("SELECT id FROM jobs") == []


@dataclass
class Silence:
    """A database that never answers statements with ``part`` in them; they are not done either."""

    inner: Database
    part: str

    async def batch(self, statements: Sequence[Statement]) -> Sequence[Sequence[Row]]:
        if any(self.part in statement.sql for statement in statements):
            await asyncio.get_running_loop().create_future()
        return await self.inner.batch(statements)


def silence(world: World, part: str) -> None:
    jobs = SqlJobs(Silence(world.database, part), RETENTION)
    world.ports = replace(world.ports, jobs=jobs)


def test_work_stops_before_its_lease_ends_though_the_renewals_get_no_answer(world: World) -> None:
    silence(world, RENEWAL)
    stopped_at = []

    async def work(_: Attempt) -> Mapping[str, object]:
        try:
            await asyncio.sleep(300)
        finally:
            stopped_at.append(world.loop.time())
        return {}

    async def main() -> None:
        await world.consumed([await world.submitted()], work)

    world.run(main())
    assert stopped_at[0] < world.settings.lease.total_seconds()


def test_a_database_that_does_not_answer_the_question_does_not_hold_up_the_event(
    world: World,
) -> None:
    silence(world, ASK_SETTLED)

    async def main() -> None:
        job = await world.submitted()
        world.database.failing = [(SETTLE, "after")]

        (verdict,) = await world.consumed([job], working())

        assert isinstance(verdict, KnockAgain)
        assert world.loop.time() < world.settings.lease.total_seconds() + 10

    world.run(main())
