"""Runs on a Workflow: what an instance does and dies of, and what the sweep makes of it."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest

from tests.support.workflows import Instance, MemorySteps
from tests.unit.services.world import World
from uketsuke.domain.failure import AttemptFailed, ErrorClass
from uketsuke.domain.job import Checkpoint, EncodedResult, Job, Progress, Usage
from uketsuke.domain.lifecycle import Engine, JobState
from uketsuke.services.cancel import cancel
from uketsuke.services.execute import Attempt
from uketsuke.services.ports import InstanceState
from uketsuke.services.run import read_order, run_instance
from uketsuke.services.steps import StepValue, digest_of
from uketsuke.services.sweep import sweep

UNAVAILABLE = AttemptFailed(ErrorClass.UNAVAILABLE, "provider_unavailable")
THROTTLED = AttemptFailed(
    ErrorClass.THROTTLED, "provider_throttled", retry_after=timedelta(seconds=30)
)
DENIED = AttemptFailed(ErrorClass.DENIED, "provider_denied")
SETTLE = "count(*)\n  FROM json_each"


@dataclass
class Pieces:
    """Work of several steps that a provider is paid for, one after another."""

    count: int = 4
    seconds: float = 10
    failing: dict[str, list[Exception]] = field(default_factory=dict)
    size: int = 1
    paid: Counter[str] = field(default_factory=Counter)
    keys: list[tuple[str, int]] = field(default_factory=list)

    async def __call__(self, attempt: Attempt) -> Mapping[str, object] | EncodedResult:
        values = []
        for number in range(self.count):
            progress = Progress(done=number, total=self.count)
            attempt.keeper.note_progress(attempt.leased.job.key, progress)
            step = f"piece-{number}"
            done = await attempt.steps.run(step, {"of": number}, self._paying(step))
            values.append(len(done.value))
            if done.usage:
                before = attempt.tally.usage.input_tokens if attempt.tally.usage else 0
                attempt.tally.usage = Usage(input_tokens=(before or 0) + 1)
        return {"sizes": values}

    def _paying(self, step: str) -> Any:
        async def call(refusals: int) -> StepValue:
            self.keys.append((step, refusals))
            await asyncio.sleep(self.seconds)
            if self.failing.get(step):
                raise self.failing[step].pop(0)
            self.paid[step] += 1
            return StepValue(value="x" * self.size, usage=Usage(input_tokens=1))

        return call

    @property
    def paid_once(self) -> bool:
        return self.paid == {f"piece-{number}": 1 for number in range(self.count)}


def let_run(world: World, work: Pieces) -> None:
    async def run(order: Mapping[str, object], steps: Any) -> object:
        return await run_instance(read_order(order), work, steps=steps, ports=world.ports)

    world.workflows.run = run


async def started(world: World, work: Pieces, **changes: Any) -> Job:
    let_run(world, work)
    changes = {"engine": Engine.WORKFLOW, "run_limit": timedelta(hours=1), **changes}
    return await world.submitted(**changes)


def instance_of(world: World, job: Job, attempt: int = 1) -> Instance:
    return world.workflows.instances[f"{job.id}-{attempt}"]


async def ended(world: World, job: Job, *, within: float = 600) -> Job:
    """Let time pass, with the sweep's ticks and the queue's deliveries, until the job has ended."""
    for _ in range(round(within)):
        now = await world.now(job)
        if now.terminal:
            return now
        await asyncio.sleep(1)
        if round(asyncio.get_running_loop().time()) % 60 == 0:
            await sweep(world.ports)
        messages, world.queue.sent[:] = list(world.queue.sent), []
        if messages:
            await world.consumed(messages, None)  # type: ignore[arg-type]  # runs take no worker
    raise AssertionError(f"{job.id} did not end: {await world.now(job)}")


def test_a_run_is_seen_running_with_exact_progress_until_it_succeeds(world: World) -> None:
    async def main() -> None:
        work = Pieces(count=5, seconds=10)
        job = await started(world, work)
        seen = []
        for _ in range(5):
            await asyncio.sleep(10)
            now = await world.now(job)
            seen.append((now.state, now.progress.done if now.progress else None))
        done = await ended(world, job)

        assert job.state is JobState.RUNNING
        assert seen == [(JobState.RUNNING, n) for n in range(5)]
        assert (done.state, done.attempts) == (JobState.SUCCEEDED, 1)
        assert done.progress == Progress(done=5, total=5)
        assert done.usage
        assert done.usage.input_tokens == 5
        assert instance_of(world, job).state is InstanceState.COMPLETE
        assert not world.queue.sent

    world.run(main())


@pytest.mark.parametrize("created", [False, True])
def test_a_start_whose_instance_was_not_made_is_made_by_the_sweep(
    world: World, created: bool
) -> None:
    """Or it was made, and only the answer was lost."""

    async def main() -> None:
        work = Pieces()
        world.workflows.away = not created
        world.workflows.lost_answers = int(created)

        job = await started(world, work)
        world.workflows.away = False
        done = await ended(world, job)

        assert job.state is JobState.RUNNING
        assert (done.state, done.attempts) == (JobState.SUCCEEDED, 1)
        assert work.paid_once

    world.run(main())


def test_a_step_that_an_earlier_life_has_stopped_is_done_anew(world: World) -> None:
    async def main() -> None:
        work = Pieces()
        job = await started(world, work)
        instance_of(world, job).done["piece-1-1"] = {"stopped": True}

        done = await ended(world, job)

        assert (done.state, done.attempts) == (JobState.SUCCEEDED, 1)
        assert work.paid_once

    world.run(main())


def test_a_run_whose_engine_died_is_woken_and_pays_only_for_what_is_missing(world: World) -> None:
    async def main() -> None:
        work = Pieces()
        job = await started(world, work)
        await asyncio.sleep(25)
        world.workflows.die(f"{job.id}-1")

        done = await ended(world, job)

        assert (done.state, done.attempts) == (JobState.SUCCEEDED, 1)
        assert work.paid_once
        assert [step for step, _ in work.keys].count("piece-2") == 2  # the one in flight
        assert done.usage
        assert done.usage.input_tokens == 4

    world.run(main())


def test_a_run_that_nothing_wakes_has_crashed_and_its_next_attempt_keeps_what_was_paid(
    world: World,
) -> None:
    async def main() -> None:
        work = Pieces()
        job = await started(world, work)
        await asyncio.sleep(25)
        world.workflows.die(f"{job.id}-1")
        world.workflows.deaf = {f"{job.id}-1"}

        done = await ended(world, job)

        assert (done.state, done.attempts) == (JobState.SUCCEEDED, 2)
        assert work.paid_once
        history = await world.ports.jobs.attempts_of(job.key)
        assert [a.error_class for a in history] == [ErrorClass.CRASHED, None]
        assert done.usage
        assert done.usage.input_tokens == 2  # the others are in the first attempt's account

    world.run(main())


def test_an_instance_that_was_terminated_is_a_crash_and_ends_the_job_when_attempts_are_spent(
    world: World,
) -> None:
    async def main() -> None:
        work = Pieces(seconds=100)
        job = await started(world, work, max_attempts=2)
        for attempt in (1, 2):
            while f"{job.id}-{attempt}" not in world.workflows.instances:
                await asyncio.sleep(1)
                await sweep(world.ports)
                messages, world.queue.sent[:] = list(world.queue.sent), []
                await world.consumed(messages, None)  # type: ignore[arg-type]
            await world.workflows.terminate(f"{job.id}-{attempt}")

        done = await ended(world, job)

        assert (done.state, done.error_class) == (JobState.FAILED, ErrorClass.CRASHED)
        assert done.attempts == 2
        (letter,) = world.rows("SELECT road, class, attempts FROM dead_letters")
        assert letter == {"road": "crashed", "class": "crashed", "attempts": 2}

    world.run(main())


def test_a_step_that_an_earlier_attempt_kept_too_late_counts_for_who_has_paid_again(
    world: World,
) -> None:
    async def main() -> None:
        work = Pieces()
        job = await started(world, work)
        await asyncio.sleep(15)  # the second piece is under way
        late = Checkpoint(
            step="piece-1",
            digest=digest_of({"of": 1}),
            attempt=0,
            content='"of another"',
            usage=Usage(input_tokens=1),
        )
        await world.ports.runs.keep(job.key, late)

        done = await ended(world, job)

        assert done.state is JobState.SUCCEEDED
        assert done.usage
        assert done.usage.input_tokens == 4

    world.run(main())


def test_a_failure_that_passes_is_tried_again_within_the_attempt(world: World) -> None:
    async def main() -> None:
        work = Pieces(failing={"piece-1": [UNAVAILABLE, RuntimeError("secret text")]})
        job = await started(world, work)

        done = await ended(world, job)

        assert (done.state, done.attempts) == (JobState.SUCCEEDED, 1)
        # A definite no moves the key; what was unforeseen leaves in doubt, and does not.
        assert [key for key in work.keys if key[0] == "piece-1"] == [
            ("piece-1", 0),
            ("piece-1", 1),
            ("piece-1", 1),
        ]
        outcomes = instance_of(world, job).done
        assert "secret" not in str(outcomes)
        assert outcomes["piece-1-1"]["failed"] == "unavailable"

    world.run(main())


def test_a_failure_that_stays_is_retried_by_the_row_and_keeps_the_pieces(world: World) -> None:
    async def main() -> None:
        work = Pieces(failing={"piece-2": [UNAVAILABLE] * 3})
        job = await started(world, work)

        done = await ended(world, job)

        assert (done.state, done.attempts) == (JobState.SUCCEEDED, 2)
        assert work.paid_once
        history = await world.ports.jobs.attempts_of(job.key)
        assert [a.state for a in history] == [JobState.RETRYING, JobState.SUCCEEDED]

    world.run(main())


def test_a_provider_that_says_when_is_asked_no_sooner_and_the_attempt_is_given_back(
    world: World,
) -> None:
    async def main() -> None:
        work = Pieces(failing={"piece-0": [THROTTLED]})
        job = await started(world, work)
        await asyncio.sleep(12)
        waiting = await world.now(job)
        done = await ended(world, job)

        assert (waiting.state, waiting.attempts) == (JobState.RETRYING, 0)
        assert waiting.due_at - waiting.created_at >= timedelta(seconds=40)
        assert (done.state, done.attempts) == (JobState.SUCCEEDED, 1)

    world.run(main())


def test_a_permanent_failure_fails_the_row_before_the_instance_breaks(world: World) -> None:
    async def main() -> None:
        work = Pieces(failing={"piece-1": [DENIED]})
        job = await started(world, work)

        done = await ended(world, job)

        assert (done.state, done.error_code) == (JobState.FAILED, "provider_denied")
        assert [step for step, _ in work.keys] == ["piece-0", "piece-1"]
        instance = instance_of(world, job)
        assert (instance.state, instance.error) == (InstanceState.BROKEN, "provider_denied")
        (letter,) = world.rows("SELECT road, class FROM dead_letters")
        assert letter == {"road": "permanent", "class": "denied"}

    world.run(main())


def test_a_result_whose_last_write_was_lost_is_settled_by_the_sweep(world: World) -> None:
    """The instance is complete, and the row does not know."""

    async def main() -> None:
        work = Pieces()
        job = await started(world, work)
        await asyncio.sleep(35)
        world.database.failing = [(SETTLE, "before")] * 100
        await asyncio.sleep(80)
        world.database.failing = []
        instance_of(world, job).state = InstanceState.COMPLETE

        done = await ended(world, job)

        assert (done.state, done.attempts) == (JobState.SUCCEEDED, 1)
        assert work.paid_once
        assert done.result
        text = await world.ports.jobs.result_text(job.key, attempt=done.result.attempt)
        assert text == '{"sizes":[1,1,1,1]}'

    world.run(main())


def test_a_result_is_settled_by_the_sweep_although_its_instance_broke(world: World) -> None:
    async def main() -> None:
        work = Pieces()
        job = await started(world, work)
        await asyncio.sleep(35)
        world.database.failing = [(SETTLE, "before")] * 100
        await asyncio.sleep(80)
        world.database.failing = []

        done = await ended(world, job)

        assert instance_of(world, job).state is InstanceState.BROKEN
        assert (done.state, done.attempts) == (JobState.SUCCEEDED, 1)
        assert work.paid_once

    world.run(main())


def test_a_life_that_died_before_its_last_write_has_its_result_adopted_by_the_next(
    world: World,
) -> None:
    async def main() -> None:
        work = Pieces()
        job = await started(world, work)
        await asyncio.sleep(35)
        world.database.failing = [(SETTLE, "before")] * 100
        await asyncio.sleep(10)
        world.workflows.die(f"{job.id}-1")
        world.database.failing = []
        worked = len(work.keys)

        done = await ended(world, job)

        assert (done.state, done.attempts) == (JobState.SUCCEEDED, 1)
        assert len(work.keys) == worked
        assert instance_of(world, job).state is InstanceState.COMPLETE

    world.run(main())


def test_what_a_new_life_reads_is_asked_for_a_few_times(world: World) -> None:
    async def main() -> None:
        work = Pieces()
        world.database.failing = [("FROM checkpoints", "before")] * 2
        job = await started(world, work, max_attempts=1)

        done = await ended(world, job)

        assert (done.state, done.attempts) == (JobState.SUCCEEDED, 1)

    world.run(main())


def test_a_result_that_newer_code_has_kept_is_understood(world: World) -> None:
    async def main() -> None:
        work = Pieces()
        job = await started(world, work)
        await asyncio.sleep(35)
        world.database.failing = [(SETTLE, "before")] * 100
        await asyncio.sleep(80)
        world.database.failing = []
        novelty = "UPDATE checkpoints SET content = json_set(content, '$.result.novelty', 1)"
        world.connection.execute(novelty + " WHERE step = 'result'")

        assert (await ended(world, job)).state is JobState.SUCCEEDED

    world.run(main())


def test_a_large_step_lies_in_an_object_and_is_read_back_after_a_death(world: World) -> None:
    async def main() -> None:
        work = Pieces(size=100_000)
        job = await started(world, work)
        await asyncio.sleep(25)
        assert len(world.blobs.kept) == 2
        world.workflows.die(f"{job.id}-1")

        done = await ended(world, job)

        assert done.state is JobState.SUCCEEDED
        assert work.paid_once
        assert all(f"/{job.id}/step-" in key for key in world.blobs.kept)

    world.run(main())


@pytest.mark.parametrize("how", ["before", "after"])
def test_what_a_step_brought_is_kept_although_the_database_was_away(world: World, how: str) -> None:
    async def main() -> None:
        work = Pieces()
        world.database.failing = [("INSERT INTO checkpoints", how)] * 3
        job = await started(world, work)

        done = await ended(world, job)

        assert (done.state, done.attempts) == (JobState.SUCCEEDED, 1)
        assert work.paid_once

    world.run(main())


def test_a_running_run_is_canceled_at_its_next_step_and_its_instance_ends(world: World) -> None:
    async def main() -> None:
        work = Pieces()
        job = await started(world, work)
        await asyncio.sleep(15)
        wished = await cancel(await world.now(job), ports=world.ports)
        done = await ended(world, job, within=30)

        assert (wished.state, wished.cancel_requested_at is not None) == (JobState.RUNNING, True)
        assert done.state is JobState.CANCELED
        assert "piece-2" not in dict(work.keys)
        assert instance_of(world, job).state is InstanceState.BROKEN
        assert not world.rows("SELECT id FROM dead_letters")

    world.run(main())


def test_a_dead_run_that_is_canceled_ends_without_being_woken(world: World) -> None:
    async def main() -> None:
        work = Pieces()
        job = await started(world, work)
        await asyncio.sleep(15)
        world.workflows.die(f"{job.id}-1")
        await cancel(await world.now(job), ports=world.ports)

        done = await ended(world, job)

        assert done.state is JobState.CANCELED
        assert instance_of(world, job).state is InstanceState.BROKEN
        assert [step for step, _ in work.keys] == ["piece-0", "piece-1"]

    world.run(main())


def test_a_run_that_does_not_stop_at_its_limit_loses_its_lease_and_is_ended_as_stale(
    world: World,
) -> None:
    class Stubborn(Pieces):
        async def __call__(self, attempt: Attempt) -> Mapping[str, object]:
            for _ in range(5):  # so often it takes no notice of being stopped
                with contextlib.suppress(asyncio.CancelledError):
                    await asyncio.sleep(1000)
            return {}

    async def main() -> None:
        job = await started(world, Stubborn(), run_limit=timedelta(minutes=2))

        done = await ended(world, job)

        assert (done.state, done.error_class) == (JobState.FAILED, ErrorClass.STALE)
        assert done.finished_at
        assert done.finished_at - done.created_at >= timedelta(minutes=3)
        (letter,) = world.rows("SELECT road FROM dead_letters")
        assert letter == {"road": "stale"}
        await sweep(world.ports)
        assert instance_of(world, job).state is InstanceState.BROKEN
        assert not world.rows("SELECT id FROM doomed_instances")

    world.run(main())


def test_a_run_that_takes_too_long_stops_itself_and_counts(world: World) -> None:
    async def main() -> None:
        work = Pieces(count=100)
        job = await started(world, work, run_limit=timedelta(minutes=5), max_attempts=2)

        done = await ended(world, job, within=2000)

        # Its second attempt goes on where the first one stopped, and stops too.
        assert (done.state, done.error_class) == (JobState.FAILED, ErrorClass.TIMEOUT)
        assert done.attempts == 2
        assert 50 < sum(work.paid.values()) < 61
        assert max(work.paid.values()) == 1

    world.run(main())


def test_a_run_past_its_deadline_fails_with_that_reason(world: World) -> None:
    async def main() -> None:
        work = Pieces(count=100)
        job = await started(world, work, deadline=timedelta(seconds=65))

        done = await ended(world, job)

        assert (done.state, done.error_class) == (JobState.FAILED, ErrorClass.DEADLINE)

    world.run(main())


def test_an_instance_without_a_lease_does_nothing(world: World) -> None:
    async def main() -> None:
        work = Pieces()
        job = await started(world, work)
        order = instance_of(world, job).order
        await ended(world, job)
        before = len(work.keys)

        stale = read_order({**order, "token": "another"})
        steps = MemorySteps(instance_of(world, job))
        outcome = await run_instance(stale, work, steps=steps, ports=world.ports)

        assert outcome == "lost"
        assert len(work.keys) == before

    world.run(main())


def test_a_message_for_a_run_that_is_on_its_way_changes_nothing(world: World) -> None:
    async def main() -> None:
        work = Pieces()
        job = await started(world, work)
        await asyncio.sleep(5)
        await world.consumed([job, job], None)  # type: ignore[arg-type]

        done = await ended(world, job)

        assert (done.state, done.attempts) == (JobState.SUCCEEDED, 1)
        assert work.paid_once
        assert len(world.workflows.instances) == 1

    world.run(main())


def test_the_sweep_asks_the_others_when_one_instance_does_not_tell(world: World) -> None:
    async def main() -> None:
        work = Pieces()
        first, second = [await started(world, work) for _ in range(2)]
        await asyncio.sleep(15)
        for job in (first, second):
            world.workflows.die(f"{job.id}-1")
        world.workflows.silent = {f"{first.id}-1"}
        await asyncio.sleep(60)
        await sweep(world.ports)
        await asyncio.sleep(40)

        assert (await world.now(first)).state is JobState.RUNNING
        assert (await world.now(second)).state is JobState.SUCCEEDED
        world.workflows.silent = set()
        assert (await ended(world, first)).state is JobState.SUCCEEDED

    world.run(main())


def test_a_step_in_doubt_is_asked_again_under_its_old_key(world: World) -> None:
    """The provider may have done its work: a new key would make it do it twice."""
    lost = AttemptFailed(ErrorClass.UNAVAILABLE, "provider_connection_lost")

    async def main() -> None:
        work = Pieces(failing={"piece-1": [lost]})
        await ended(world, await started(world, work))

        assert [key for key in work.keys if key[0] == "piece-1"] == [("piece-1", 0)] * 2

    world.run(main())


def test_an_answer_that_could_not_be_kept_is_kept_later_and_not_asked_for_again(
    world: World,
) -> None:
    async def main() -> None:
        work = Pieces()
        world.database.failing = [("INSERT INTO checkpoints", "before")] * 7
        job = await started(world, work, max_attempts=1)

        done = await ended(world, job)

        assert (done.state, done.attempts) == (JobState.SUCCEEDED, 1)
        assert work.paid_once

    world.run(main())


def test_a_run_that_the_platform_queues_is_waited_for(world: World) -> None:
    async def main() -> None:
        work = Pieces()
        world.workflows.full = True
        job = await started(world, work)
        for _ in range(20):
            await asyncio.sleep(60)
            await sweep(world.ports)
        waiting = await world.now(job)
        world.workflows.release()
        done = await ended(world, job)

        assert (waiting.state, waiting.attempts) == (JobState.RUNNING, 1)
        assert (done.state, done.attempts) == (JobState.SUCCEEDED, 1)

    world.run(main())


def test_a_queued_run_can_be_canceled(world: World) -> None:
    async def main() -> None:
        world.workflows.full = True
        job = await started(world, Pieces())
        await cancel(await world.now(job), ports=world.ports)

        assert (await ended(world, job)).state is JobState.CANCELED

    world.run(main())


def test_a_queued_run_ends_at_its_deadline(world: World) -> None:
    async def main() -> None:
        world.workflows.full = True
        job = await started(world, Pieces(), deadline=timedelta(minutes=3))

        done = await ended(world, job)

        assert (done.state, done.error_class) == (JobState.FAILED, ErrorClass.DEADLINE)

    world.run(main())


@pytest.mark.parametrize("name", ["", "x" * 201])
def test_a_step_whose_name_the_engine_would_not_take_is_refused(world: World, name: str) -> None:
    class Misnamed(Pieces):
        async def __call__(self, attempt: Attempt) -> Mapping[str, object]:
            await attempt.steps.run(name, None, self._paying(name))
            return {}

    async def main() -> None:
        work = Misnamed()
        done = await ended(world, await started(world, work, max_attempts=1))

        assert (done.state, done.error_class) == (JobState.FAILED, ErrorClass.UNKNOWN)
        assert not work.keys

    world.run(main())


def test_what_the_engine_calls_done_and_nobody_kept_is_done_anew(world: World) -> None:
    """Newer code may give a step something else than the life before it did."""

    async def main() -> None:
        work = Pieces()
        job = await started(world, work, max_attempts=1)
        await asyncio.sleep(25)
        world.workflows.die(f"{job.id}-1")
        world.connection.execute("UPDATE checkpoints SET digest = 'older'")

        done = await ended(world, job)

        assert (done.state, done.attempts) == (JobState.SUCCEEDED, 1)

    world.run(main())


def test_a_run_outlives_a_database_that_was_away_for_longer_than_its_lease(world: World) -> None:
    async def main() -> None:
        work = Pieces(count=6)
        job = await started(world, work, max_attempts=1)
        await asyncio.sleep(15)
        world.database.failing = [("", "before")] * 10_000
        await asyncio.sleep(70)
        world.database.failing = []

        done = await ended(world, job)

        assert (done.state, done.attempts) == (JobState.SUCCEEDED, 1)

    world.run(main())


def test_a_run_that_must_end_does_so_although_its_instance_is_not_told_about(world: World) -> None:
    async def main() -> None:
        job = await started(world, Pieces())
        await asyncio.sleep(15)
        world.workflows.die(f"{job.id}-1")
        world.workflows.silent = {f"{job.id}-1"}
        await cancel(await world.now(job), ports=world.ports)

        assert (await ended(world, job)).state is JobState.CANCELED

    world.run(main())


def test_a_run_that_breaks_who_asks_stands_in_nobodys_way(world: World) -> None:
    async def main() -> None:
        first, second = [await started(world, Pieces()) for _ in range(2)]
        queued = await world.submitted()
        await asyncio.sleep(15)
        for job in (first, second):
            world.workflows.die(f"{job.id}-1")
        world.workflows.garbled = {f"{first.id}-1"}
        world.queue.sent.clear()
        await asyncio.sleep(60)
        await sweep(world.ports)
        await asyncio.sleep(40)

        assert (await world.now(second)).state is JobState.SUCCEEDED
        assert [body["job"] for body in world.queue.sent] == [queued.id]

    world.run(main())
