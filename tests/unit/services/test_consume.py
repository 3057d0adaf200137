"""A batch of messages: what is worked, what each message is told, what a failure costs whom."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import timedelta

import pytest

from tests.unit.services.world import World, working
from uketsuke.domain.failure import AttemptFailed, ErrorClass
from uketsuke.domain.job import Progress
from uketsuke.domain.lifecycle import JobState
from uketsuke.services.execute import Attempt
from uketsuke.services.knock import Done, KnockAgain


def throttled() -> AttemptFailed:
    return AttemptFailed(
        ErrorClass.THROTTLED, "provider_throttled", retry_after=timedelta(seconds=30)
    )


def test_a_job_is_worked_and_its_message_is_done_with(world: World) -> None:
    async def main() -> None:
        job = await world.submitted()

        verdicts = await world.consumed([job], working(5))

        assert verdicts == [Done()]
        done = await world.now(job)
        assert (done.state, done.attempts) == (JobState.SUCCEEDED, 1)
        assert done.usage
        assert done.usage.input_tokens == 7

    world.run(main())


def test_a_batch_is_worked_at_once_within_the_bound(world: World) -> None:
    running, most = 0, 0

    async def work(_: Attempt) -> Mapping[str, object]:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(10)
        running -= 1
        return {}

    async def main() -> None:
        jobs = [await world.submitted() for _ in range(20)]

        verdicts = await world.consumed(jobs, work)

        assert verdicts == [Done()] * 20

    world.run(main())
    assert most == world.settings.jobs_at_once


def test_a_hundred_instant_jobs_cost_a_handful_of_calls() -> None:
    world = World(jobs_at_once=100)

    async def main() -> None:
        jobs = [await world.submitted() for _ in range(100)]
        world.database.calls = 0

        verdicts = await world.consumed(jobs, working())

        assert verdicts == [Done()] * 100
        assert world.database.calls <= 6

    world.run(main())
    world.close()


def test_the_same_job_twice_in_a_batch_is_worked_once(world: World) -> None:
    async def main() -> None:
        job = await world.submitted()

        verdicts = await world.consumed([job, job], working(1))

        assert verdicts == [Done(), Done()]
        assert (await world.now(job)).attempts == 1

    world.run(main())


def test_a_repeat_of_a_finished_job_is_done_with_and_not_worked(world: World) -> None:
    async def main() -> None:
        job = await world.submitted()
        await world.consumed([job], working())

        verdicts = await world.consumed([job], working(result=AssertionError("worked again")))

        assert verdicts == [Done()]
        assert (await world.now(job)).attempts == 1

    world.run(main())


def test_a_repeat_under_a_live_lease_knocks_after_its_end(world: World) -> None:
    async def main() -> None:
        job = await world.submitted()
        first = asyncio.ensure_future(world.consumed([job], working(10)))
        await asyncio.sleep(2)

        (verdict,) = await world.consumed([job], working())

        assert isinstance(verdict, KnockAgain)
        assert timedelta(seconds=57) < verdict.after < timedelta(seconds=61)
        assert await first == [Done()]

    world.run(main())


def test_a_failure_that_may_pass_knocks_when_the_next_try_is_due(world: World) -> None:
    async def main() -> None:
        job = await world.submitted()

        (verdict,) = await world.consumed([job], working(result=ConnectionError("secret")))
        early = await world.consumed([job], working())

        after = await world.now(job)
        assert after.state is JobState.RETRYING
        assert (after.error_class, after.error_code) == (ErrorClass.UNKNOWN, "unexpected")
        assert verdict == KnockAgain(after=timedelta(seconds=2.5))
        assert isinstance(early[0], KnockAgain)

    world.run(main())


def test_a_throttled_attempt_waits_as_asked_and_is_given_back(world: World) -> None:
    async def main() -> None:
        job = await world.submitted(max_attempts=1)

        (verdict,) = await world.consumed([job], working(result=throttled()))

        assert isinstance(verdict, KnockAgain)
        assert verdict.after >= timedelta(seconds=30)
        after = await world.now(job)
        assert (after.state, after.attempts) == (JobState.RETRYING, 0)

    world.run(main())


def test_a_long_wait_is_left_to_the_sweep(world: World) -> None:
    long = AttemptFailed(
        ErrorClass.QUOTA, "provider_quota_used_up", retry_after=timedelta(minutes=20)
    )

    async def main() -> None:
        job = await world.submitted()

        assert await world.consumed([job], working(result=long)) == [Done()]
        assert await world.consumed([job], working()) == [Done()]
        assert (await world.now(job)).state is JobState.RETRYING

    world.run(main())


def test_a_spent_job_fails_with_its_dead_letter(world: World) -> None:
    async def main() -> None:
        job = await world.submitted(max_attempts=1)

        verdicts = await world.consumed([job], working(result=TimeoutError()))

        assert verdicts == [Done()]
        assert (await world.now(job)).state is JobState.FAILED

    world.run(main())
    (letter,) = world.rows("SELECT * FROM dead_letters")
    assert (letter["road"], letter["class"]) == ("exhausted", "timeout")


def test_an_attempt_that_takes_too_long_is_stopped_and_counts() -> None:
    world = World(attempt_limit=timedelta(seconds=30))

    async def main() -> None:
        job = await world.submitted()

        await world.consumed([job], working(100))

        after = await world.now(job)
        assert (after.state, after.attempts) == (JobState.RETRYING, 1)
        assert after.error_class is ErrorClass.TIMEOUT
        assert world.loop.time() < 31

    world.run(main())
    world.close()


def test_no_neighbour_suffers_from_bad_messages_or_failing_work(world: World) -> None:
    async def work(attempt: Attempt) -> Mapping[str, object]:
        if attempt.leased.job.metadata.get("bad"):
            raise RecursionError
        await asyncio.sleep(1)
        return {}

    async def main() -> None:
        good, bad = await world.submitted(), await world.submitted(metadata={"bad": "yes"})

        verdicts = await world.consumed(["garbage", bad, None, good, {"v": 99}], work)

        assert verdicts[0] == verdicts[2] == verdicts[3] == Done()
        assert isinstance(verdicts[1], KnockAgain)
        assert verdicts[4] == KnockAgain(after=timedelta(minutes=10))
        assert (await world.now(good)).state is JobState.SUCCEEDED

    world.run(main())
    assert len(world.rows("SELECT * FROM dead_letters")) == 2


@pytest.mark.parametrize("body", ["garbage", {"v": 1, "job": "x"}, [1, 2], None])
def test_an_undecodable_message_has_one_record_however_often_it_comes(
    world: World, body: object
) -> None:
    async def main() -> None:
        for _ in range(3):
            assert await world.consumed([body], working()) == [Done()]

    world.run(main())
    (letter,) = world.rows("SELECT * FROM dead_letters")
    assert (letter["road"], letter["code"]) == ("undecodable", "body_undecodable")


def test_a_newer_message_is_waited_for_and_then_buried(world: World) -> None:
    async def main() -> None:
        for number in range(1, 7):
            verdicts = await world.consumed([{"v": 2}], working(), number=number)
            assert verdicts == [KnockAgain(after=timedelta(minutes=10))]
        assert world.rows("SELECT * FROM dead_letters") == []
        assert await world.consumed([{"v": 2}], working(), number=7) == [Done()]

    world.run(main())
    (letter,) = world.rows("SELECT * FROM dead_letters")
    assert (letter["code"], letter["schema_version"]) == ("schema_newer", 2)


def test_a_job_of_an_unknown_kind_is_waited_for_and_then_fails(world: World) -> None:
    async def main() -> None:
        job = await world.submitted(kind="translate")

        first = await world.consumed([job], working(), number=6)
        last = await world.consumed([job], working(), number=7)

        assert (first, last) == ([KnockAgain(after=timedelta(minutes=10))], [Done()])
        failed = await world.now(job)
        assert (failed.state, failed.error_code) == (JobState.FAILED, "kind_unknown")

    world.run(main())
    assert len(world.rows("SELECT * FROM dead_letters")) == 1


def test_a_message_of_a_job_that_does_not_exist_is_recorded(world: World) -> None:
    body = {"v": 1, "job": "job_" + "0" * 26, "tenant": "acme", "kind": "summarize"}

    async def main() -> None:
        assert await world.consumed([body], working()) == [Done()]
        assert await world.consumed([body], working()) == [Done()]

    world.run(main())
    (letter,) = world.rows("SELECT * FROM dead_letters")
    assert (letter["code"], letter["job_id"]) == ("job_unknown", body["job"])


def test_a_message_that_knocked_fifty_times_is_let_go(world: World) -> None:
    async def main() -> None:
        job = await world.submitted()

        verdicts = await world.consumed([job], working(result=throttled()), number=50)

        assert verdicts == [Done()]
        assert (await world.now(job)).state is JobState.RETRYING

    world.run(main())


def test_what_is_left_of_a_batch_when_time_is_up_is_brought_again_unleased() -> None:
    world = World(event_limit=timedelta(seconds=15), jobs_at_once=2)

    async def main() -> None:
        jobs = [await world.submitted() for _ in range(6)]

        verdicts = await world.consumed(jobs, working(10))

        assert verdicts.count(Done()) == 4
        left = [job for job, v in zip(jobs, verdicts, strict=True) if v != Done()]
        assert [(await world.now(job)).attempts for job in left] == [0, 0]

    world.run(main())
    world.close()


def test_a_job_past_its_deadline_ends_at_the_next_look(world: World) -> None:
    async def main() -> None:
        job = await world.submitted(deadline=timedelta(seconds=5))
        await asyncio.sleep(6)

        assert await world.consumed([job], working()) == [Done()]
        failed = await world.now(job)
        assert (failed.state, failed.error_class) == (JobState.FAILED, ErrorClass.DEADLINE)

    world.run(main())


def test_a_quarantined_job_is_worked_alone_after_its_neighbours(world: World) -> None:
    order: list[str] = []

    async def work(attempt: Attempt) -> Mapping[str, object]:
        name = attempt.leased.job.metadata["name"]
        order.append(f"{name} starts")
        await asyncio.sleep(1)
        order.append(f"{name} ends")
        return {}

    async def main() -> None:
        suspect = await world.submitted(metadata={"name": "suspect"})
        others = [await world.submitted(metadata={"name": "other"}) for _ in range(2)]
        # Its worker vanished: nobody settled the lease.
        await world.ports.jobs.lease(
            [suspect.key], token="dead", duration=timedelta(seconds=1), alone=False
        )
        await asyncio.sleep(2)

        verdicts = await world.consumed([suspect, *others], work)

        assert verdicts == [Done()] * 3
        assert (await world.now(suspect)).attempts == 2

    world.run(main())
    assert order[-2:] == ["suspect starts", "suspect ends"]


def test_a_fault_of_ours_in_the_settling_does_not_spread(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    async def work(_: Attempt) -> Mapping[str, object]:
        # What no JSON can hold: a kind's own fault, found when its result is kept.
        return {"oops": object()}

    async def main() -> None:
        bad, good = await world.submitted(), await world.submitted()

        verdicts = await world.consumed([bad], work) + await world.consumed([good], working())

        assert isinstance(verdicts[0], KnockAgain)
        assert verdicts[1] == Done()
        assert (await world.now(bad)).error_class is ErrorClass.UNKNOWN

    world.run(main())
    assert '"error.type": "TypeError"' in capsys.readouterr().out


def test_a_statement_that_the_database_refuses_is_ours_and_does_not_spread(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    async def main() -> None:
        world.connection.execute(
            "CREATE TRIGGER refused BEFORE INSERT ON attempts BEGIN SELECT raise(ABORT, 'no'); END"
        )
        jobs = [await world.submitted() for _ in range(2)]

        verdicts = await world.consumed([*jobs, "garbage"], working())

        assert verdicts[:2] == [KnockAgain(after=world.settings.lease)] * 2
        assert verdicts[2] == Done()

    world.run(main())
    assert '"error.type": "IntegrityError"' in capsys.readouterr().out


def test_quarantined_jobs_wait_for_another_batch_when_time_is_up() -> None:
    world = World(event_limit=timedelta(seconds=15))

    async def main() -> None:
        suspects = [await world.submitted() for _ in range(3)]
        await world.ports.jobs.lease(
            [job.key for job in suspects], token="dead", duration=timedelta(seconds=1), alone=False
        )
        await asyncio.sleep(2)

        verdicts = await world.consumed(suspects, working(10))

        assert verdicts.count(Done()) == 2
        assert len([v for v in verdicts if isinstance(v, KnockAgain)]) == 1

    world.run(main())
    world.close()


def test_an_unknown_kind_of_a_job_that_does_not_exist_is_recorded(world: World) -> None:
    body = {"v": 1, "job": "job_" + "0" * 26, "tenant": "acme", "kind": "translate"}

    async def main() -> None:
        assert await world.consumed([body], working(), number=7) == [Done()]

    world.run(main())
    (letter,) = world.rows("SELECT * FROM dead_letters")
    assert letter["code"] == "job_unknown"


def test_a_message_that_is_wrong_about_its_jobs_kind_harms_no_job(world: World) -> None:
    async def main() -> None:
        job = await world.submitted()
        wrong = {"v": 1, "job": job.id, "tenant": job.tenant_id, "kind": "translate"}

        assert await world.consumed([wrong], working(), number=7) == [Done()]

        assert (await world.now(job)).state is JobState.ACCEPTED

    world.run(main())


def test_progress_of_a_job_that_is_not_held_any_more_is_ignored(world: World) -> None:
    kept: list[Attempt] = []

    async def work(attempt: Attempt) -> Mapping[str, object]:
        kept.append(attempt)
        return {}

    async def main() -> None:
        job = await world.submitted()
        await world.consumed([job], work)

        kept[0].keeper.note_progress(job.key, Progress(done=1, total=2))

        assert (await world.now(job)).progress is None

    world.run(main())
