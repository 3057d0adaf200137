"""Bulk redrives: canaries first, then at a rate, until a person or their own failures stop them."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from tests.unit.services.bulk import (
    REFUSED,
    ask,
    bury,
    drive,
    failing,
    look,
    planner,
    tick,
    work,
)
from tests.unit.services.world import World
from uketsuke.domain.audit import Act
from uketsuke.domain.bulk_redrive import Figures, LetterFilter, RedriveState, StoppedBecause
from uketsuke.domain.failure import AttemptFailed, ErrorClass
from uketsuke.domain.job import InputForm
from uketsuke.services.cancel import cancel
from uketsuke.services.purge import purge_jobs
from uketsuke.services.redrive import new_act
from uketsuke.services.redrives import drive_redrives
from uketsuke.services.sweep import sweep


def an_act(world: World) -> Act:
    return new_act("key-2", reason="enough", request_id="req-2", ports=world.ports)


async def started(world: World, name: str) -> int:
    return (await look(world, name)).figures.started


async def state(world: World, name: str) -> RedriveState:
    return (await look(world, name)).redrive.state


def redriven_once(world: World) -> int:
    """Return how many letters were redriven; each to one job, and no job without a letter."""
    letters = world.rows("SELECT redriven_to FROM dead_letters WHERE status = 'redriven'")
    jobs = world.rows("SELECT id FROM jobs WHERE origin = 'redrive'")
    acts = world.rows("SELECT target FROM audit WHERE action = 'dead_letter.redriven'")
    assert sorted(row["redriven_to"] for row in letters) == sorted(row["id"] for row in jobs)
    assert len({row["target"] for row in acts}) == len(acts) == len(letters)
    return len(letters)


def test_nothing_follows_the_canaries_until_all_of_them_have_ended(world: World) -> None:
    async def main() -> None:
        await bury(world, 10)
        name = await ask(world)
        for _ in range(3):
            await tick(world)
            assert await started(world, name) == 3
            assert await state(world, name) is RedriveState.CANARY
        await world.consumed(world.queue.sent[:2], failing(()))
        await tick(world)
        assert await started(world, name) == 3

        await work(world)
        await tick(world)

        assert await started(world, name) == 10
        assert await state(world, name) is RedriveState.RUNNING

    world.run(main())


def test_each_minute_starts_what_the_rate_allows_and_the_oldest_failures_first(
    world: World,
) -> None:
    async def main() -> None:
        await bury(world, 60)
        name = await ask(world, rate_per_minute=20)
        counts = []
        for _ in range(5):
            await tick(world)
            await work(world)
            counts.append(await started(world, name))

        assert counts == [3, 23, 43, 60, 60]
        first = world.rows(
            "SELECT max(last_failed_at) AS at FROM (SELECT last_failed_at FROM dead_letters"
            " ORDER BY redriven_to LIMIT 30)"
        )
        rest = world.rows(
            "SELECT min(last_failed_at) AS at FROM (SELECT last_failed_at FROM dead_letters"
            " ORDER BY redriven_to LIMIT -1 OFFSET 30)"
        )
        assert first[0]["at"] <= rest[0]["at"]

    world.run(main())


def test_quick_ticks_start_no_more_than_slow_ones(world: World) -> None:
    async def main() -> None:
        await bury(world, 40)
        name = await ask(world, rate_per_minute=30, canary=0)
        for _ in range(40):
            await tick(world, after=1)

        assert 19 <= await started(world, name) <= 20

    world.run(main())


def test_after_an_outage_of_the_sweep_two_minutes_worth_is_started_at_once(world: World) -> None:
    async def main() -> None:
        await bury(world, 60)
        name = await ask(world, rate_per_minute=10, canary=0)
        await tick(world, after=3600)

        assert await started(world, name) == 20

    world.run(main())


def test_canaries_that_fail_as_before_stop_it_and_nothing_else_is_touched(world: World) -> None:
    async def main() -> None:
        await bury(world, 10)
        name = await ask(world)
        await drive(world, name, failing(range(2)))

        shown = await look(world, name)
        assert shown.redrive.state is RedriveState.STOPPED
        assert shown.redrive.stopping
        assert shown.redrive.stopping.because is StoppedBecause.CANARIES_FAILED
        assert (
            shown.redrive.stopping.detail
            == "2 of the first 3 failed again with the same fingerprint."
        )
        assert shown.redrive.stopped_by is None
        assert shown.figures == Figures(started=3, succeeded=1, failed=2)
        assert redriven_once(world) == 3
        acts = world.rows("SELECT action FROM audit WHERE target LIKE 'rd_%'")
        assert acts == [{"action": "redrive.started"}]

    world.run(main())


def test_canaries_that_fail_in_another_way_do_not_stop_it(world: World) -> None:
    async def main() -> None:
        await bury(world, 10)
        name = await ask(world)
        other = AttemptFailed(ErrorClass.REFUSED, "provider_refused")
        await drive(world, name, failing(range(3), other))

        shown = await look(world, name)
        assert shown.redrive.state is RedriveState.DONE
        assert shown.figures == Figures(started=10, succeeded=7, failed=3)

    world.run(main())


def test_a_canary_that_was_canceled_has_neither_succeeded_nor_failed(world: World) -> None:
    async def main() -> None:
        await bury(world, 4)
        name = await ask(world)
        await tick(world)
        (first, *_) = world.rows("SELECT id FROM jobs WHERE origin = 'redrive' ORDER BY id")
        job = await world.ports.jobs.find(first["id"], tenant_id="acme")
        assert job
        await cancel(job, ports=world.ports)
        await drive(world, name)

        assert (await look(world, name)).figures == Figures(started=4, succeeded=3, canceled=1)

    world.run(main())


def test_it_stops_by_itself_when_most_of_the_last_twenty_fail_as_before(world: World) -> None:
    async def main() -> None:
        await bury(world, 100)
        name = await ask(world, rate_per_minute=20)
        await drive(world, name, failing(range(30, 100)))

        shown = await look(world, name)
        assert shown.redrive.state is RedriveState.STOPPED
        assert shown.redrive.stopping
        assert shown.redrive.stopping.because is StoppedBecause.STILL_FAILING
        assert shown.figures.started == 43
        assert shown.figures.failed == 13

    world.run(main())


def test_five_hundred_of_which_one_in_ten_fails_again_are_redriven_once_each(world: World) -> None:
    async def main() -> None:
        jobs = await bury(world, 500)
        name = await ask(world, rate_per_minute=120)
        minutes = await drive(world, name, failing(range(0, 500, 10)))

        shown = await look(world, name)
        assert shown.redrive.state is RedriveState.DONE
        assert shown.figures == Figures(started=500, succeeded=450, failed=50)
        assert redriven_once(world) == 500
        # What has failed again is a letter of its own, and not taken up by the same redrive.
        (left,) = world.rows(
            "SELECT count(*) AS n, max(redrives) AS line FROM dead_letters WHERE status = 'open'"
        )
        assert left == {"n": 50, "line": 1}
        assert minutes == 1 + 5 + 1  # canaries, 497 at 120 a minute, and the last look
        assert (await world.now(jobs[0])).redriven_to

    world.run(main())


def test_a_stop_takes_effect_before_the_next_letter(world: World) -> None:
    async def main() -> None:
        await bury(world, 60)
        name = await ask(world, canary=0)
        await asyncio.sleep(60)
        ticking = asyncio.ensure_future(drive_redrives(world.ports, planner=planner(world)))
        await asyncio.sleep(0.02)  # it is in the middle of its page
        stopped = await world.ports.redrives.stop(name, act=an_act(world))
        await ticking
        await tick(world)

        assert stopped
        assert stopped.redrive.state is RedriveState.STOPPED
        assert stopped.redrive.stopping
        assert stopped.redrive.stopping.because is StoppedBecause.ASKED
        assert (stopped.redrive.stopping.detail, stopped.redrive.stopped_by) == ("enough", "key-2")
        assert 0 < stopped.figures.started < 60
        assert await started(world, name) == stopped.figures.started == redriven_once(world)
        assert (await look(world, name)).figures.skipped == {}
        assert [row["action"] for row in stops(world)] == ["redrive.stopped"]

    world.run(main())


def stops(world: World) -> list[dict[str, Any]]:
    return world.rows("SELECT action FROM audit WHERE action = 'redrive.stopped'")


def test_a_second_stop_changes_nothing_and_leaves_no_act(world: World) -> None:
    async def main() -> None:
        await bury(world, 3)
        name = await ask(world)
        first = await world.ports.redrives.stop(name, act=an_act(world))
        await asyncio.sleep(5)
        again = await world.ports.redrives.stop(name, act=an_act(world))

        assert first == again
        assert len(stops(world)) == 1
        assert await world.ports.redrives.stop("rd_" + "0" * 26, act=an_act(world)) is None

    world.run(main())


@pytest.mark.parametrize("after", [0.003, 0.007, 0.02, 0.033, 0.0345])
def test_a_tick_that_died_anywhere_is_followed_by_one_that_goes_on(
    world: World, after: float
) -> None:
    async def main() -> None:
        await bury(world, 40)
        name = await ask(world, rate_per_minute=30, canary=0)
        await asyncio.sleep(60)
        dying = asyncio.ensure_future(drive_redrives(world.ports, planner=planner(world)))
        await asyncio.sleep(after)
        dying.cancel()
        await asyncio.wait([dying])
        assert redriven_once(world) == await started(world, name) <= 30
        await drive(world, name)

        assert (await look(world, name)).figures == Figures(started=40, succeeded=40)
        assert redriven_once(world) == 40

    world.run(main())


def test_sweeps_at_the_same_time_redrive_nothing_twice_and_keep_the_rate(world: World) -> None:
    async def main() -> None:
        await bury(world, 50)
        name = await ask(world, rate_per_minute=15)
        for minute in range(1, 5):
            await asyncio.sleep(60)
            # As if the duty's lease had run out under a sweep that still goes on.
            drives = [drive_redrives(world.ports, planner=planner(world)) for _ in range(3)]
            await asyncio.gather(*drives)
            await work(world)
            assert redriven_once(world) == await started(world, name) <= 3 + 15 * minute
        await drive(world, name)

        assert (await look(world, name)).figures == Figures(started=50, succeeded=50)

    world.run(main())


@pytest.mark.parametrize("how", ["before", "after"])
@pytest.mark.parametrize(
    "part",
    [
        "INSERT INTO jobs",
        "SET paced_at",
        "SET turn",
        "SET seen_at",
        "SELECT id FROM redrives WHERE id",
        "AS inline_input",
        "SET state = 'running'",
        "SET state = 'done'",
        "ORDER BY looked_at",
    ],
)
def test_a_database_that_is_away_anywhere_loses_nothing_and_redrives_nothing_twice(
    world: World, part: str, how: str
) -> None:
    async def main() -> None:
        await bury(world, 8)
        name = await ask(world, rate_per_minute=4)
        world.database.failing = [(part, how)]
        await drive(world, name)

        shown = await look(world, name)
        assert world.database.failing == []
        assert shown.redrive.state is RedriveState.DONE
        assert shown.figures == Figures(started=8, succeeded=8)
        assert redriven_once(world) == 8

    world.run(main())


def test_what_cannot_be_redriven_is_passed_over_once_with_its_reason(world: World) -> None:
    async def main() -> None:
        await bury(world, 2, error=REFUSED)
        await bury(world, 1, run_key="nightly")
        await bury(world, 1, kind="report", params={"unheard": "of"})
        (gone,) = await bury(world, 1)
        (often,) = await bury(world, 1)
        (discarded,) = await bury(world, 1)
        await bury(world, 5)
        await world.submitted(run_key="nightly")
        world.queue.sent.clear()
        name = await ask(world)
        sql = world.connection.execute
        sql("UPDATE jobs SET expires_at = 1 WHERE id = ?", (gone.id,))
        sql("UPDATE dead_letters SET redrives = 3 WHERE job_id = ?", (often.id,))
        letter = f"dl_{discarded.id.removeprefix('job_')}"
        assert await world.ports.dead_letters.discard(letter, act=an_act(world))
        await drive(world, name)

        shown = await look(world, name)
        assert shown.redrive.total == 12
        assert shown.redrive.state is RedriveState.DONE
        assert shown.figures == Figures(
            started=5,
            succeeded=5,
            skipped={
                "input_gone": 1,
                "needs_force": 1,
                "not_replayable": 2,
                "not_taken": 1,
                "run_in_progress": 1,
            },
        )

    world.run(main())


def test_what_is_only_passed_over_takes_no_time_of_the_rate(world: World) -> None:
    async def main() -> None:
        await bury(world, 120, error=REFUSED)
        await bury(world, 1)
        name = await ask(world, rate_per_minute=1)
        await tick(world)

        shown = await look(world, name)
        assert (shown.figures.started, shown.figures.skipped) == (1, {"not_replayable": 120})

    world.run(main())


def test_an_input_that_stays_out_of_reach_holds_the_others_up_for_three_minutes(
    world: World,
) -> None:
    async def main() -> None:
        await bury(world, 1)
        await bury(world, 1, content="long " * 2000, input_bytes=10_000)
        await bury(world, 1)
        name = await ask(world)
        world.blobs.away = True
        counts = []
        for _ in range(3):
            await tick(world)
            counts.append(await started(world, name))

        assert counts == [1, 1, 2]
        assert (await look(world, name)).figures.skipped == {"unavailable": 1}

    world.run(main())


def test_large_inputs_and_uploads_are_redriven_as_they_were(world: World) -> None:
    async def main() -> None:
        large = "long " * 2000
        (job,) = await bury(world, 1, content=large, input_bytes=10_000)
        name = await ask(world)
        await drive(world, name)

        again = await world.ports.jobs.find(
            (await world.now(job)).redriven_to or "", tenant_id=None
        )
        assert again
        assert again.input.object_key != job.input.object_key
        assert (
            world.blobs.kept[again.input.object_key or ""]
            == (world.blobs.kept[job.input.object_key or ""])
        )
        assert again.input.form is InputForm.TEXT

    world.run(main())


def test_our_own_fault_with_one_letter_stops_no_other(world: World) -> None:
    async def main() -> None:
        await bury(world, 5)
        name = await ask(world)
        real, asked = planner(world), 0

        def slips_once(*work: Any) -> Any:
            nonlocal asked
            asked += 1
            if asked == 2:
                raise ZeroDivisionError
            return real(*work)

        await asyncio.sleep(60)
        await sweep(world.ports, planner=slips_once)

        shown = await look(world, name)
        assert (shown.figures.started, shown.figures.skipped) == (3, {"unexpected": 1})

    world.run(main())


def test_a_kind_that_was_taken_away_is_passed_over(world: World) -> None:
    async def main() -> None:
        await bury(world, 3)
        name = await ask(world)
        for _ in range(2):
            await asyncio.sleep(60)
            await sweep(world.ports, planner=lambda *_: None)

        shown = await look(world, name)
        assert shown.redrive.state is RedriveState.DONE
        assert shown.figures == Figures(skipped={"not_taken": 3})

    world.run(main())


def test_a_filter_touches_what_fits_all_of_it_and_nothing_else(world: World) -> None:
    async def main() -> None:
        await bury(world, 2)
        middle = world.ports.clock.now()
        await bury(world, 2, tenant_id="other")
        await bury(world, 2, error=AttemptFailed(ErrorClass.TIMEOUT, "provider_timeout"))
        fingerprint = f"summarize:{ErrorClass.UNAVAILABLE}:provider_unavailable:"
        found = {}
        for told, wanted in {
            "all": LetterFilter(),
            "class": LetterFilter(error_class="timeout"),
            "kind": LetterFilter(kind="embed"),
            "fingerprint": LetterFilter(fingerprint=fingerprint),
            "tenant": LetterFilter(tenant_id="other"),
            "before": LetterFilter(before=middle),
            "two": LetterFilter(tenant_id="other", before=middle),
        }.items():
            found[told] = (await world.ports.redrives.estimate(wanted)).count
        name = await ask(world, LetterFilter(tenant_id="other", fingerprint=fingerprint))
        await drive(world, name)

        assert found == {
            "all": 6, "class": 2, "kind": 0, "fingerprint": 4, "tenant": 2, "before": 2, "two": 0,
        }  # fmt: skip
        redriven = world.rows("SELECT tenant_id FROM dead_letters WHERE status = 'redriven'")
        assert [row["tenant_id"] for row in redriven] == ["other", "other"]

    world.run(main())


def test_where_nothing_fits_it_is_done_at_once(world: World) -> None:
    async def main() -> None:
        name = await ask(world)

        shown = await look(world, name)
        assert (shown.redrive.state, shown.redrive.total) == (RedriveState.DONE, 0)
        assert shown.redrive.finished_at
        assert await world.ports.redrives.open_ones(limit=9) == []

    world.run(main())


def test_bulk_redrives_share_a_tick_and_none_waits_for_another(world: World) -> None:
    async def main() -> None:
        await bury(world, 400)
        await bury(world, 20, tenant_id="other")
        many = await ask(world, LetterFilter(tenant_id="acme"), rate_per_minute=600, canary=0)
        few = await ask(world, LetterFilter(tenant_id="other"), rate_per_minute=600, canary=0)
        world.database.calls = 0
        await tick(world)

        assert await started(world, few) == 20
        assert 300 < await started(world, many) < 400
        assert world.database.calls < 800

    world.run(main())


def test_figures_outlive_the_jobs_that_they_are_of(world: World) -> None:
    async def main() -> None:
        await bury(world, 10)
        done = await ask(world, canary=0)
        await drive(world, done, failing((0,)))
        await bury(world, 6)
        stopped = await ask(world)
        await tick(world)
        await world.ports.redrives.stop(stopped, act=an_act(world))
        await work(world)
        await tick(world)
        before = [await look(world, name) for name in (done, stopped)]
        await asyncio.sleep(world.settings.keep_results.total_seconds() + 60)
        await purge_jobs(world.ports)

        assert world.rows("SELECT id FROM jobs") == []
        assert [await look(world, name) for name in (done, stopped)] == before
        assert before[0].figures == Figures(started=10, succeeded=9, failed=1)
        assert before[1].figures == Figures(started=3, succeeded=3)

    world.run(main())


def test_a_redrive_that_is_under_way_waits_for_its_last_job(world: World) -> None:
    async def main() -> None:
        await bury(world, 4)
        name = await ask(world, canary=0)
        for _ in range(3):
            await tick(world)
            assert await state(world, name) is RedriveState.RUNNING
        await work(world)
        await tick(world)

        assert await state(world, name) is RedriveState.DONE

    world.run(main())


def test_a_letter_that_failed_after_the_start_waits_for_the_next_one(world: World) -> None:
    async def main() -> None:
        await bury(world, 2)
        name = await ask(world, LetterFilter(before=world.ports.clock.now() + timedelta(days=9)))
        await bury(world, 2)
        await drive(world, name)

        assert (await look(world, name)).figures.started == 2

    world.run(main())


def test_a_run_of_long_work_is_redriven_as_a_run(world: World) -> None:
    async def main() -> None:
        await bury(world, 1, input_bytes=400_000, content="x" * 400_000)
        name = await ask(world)
        await tick(world)

        (job,) = world.rows("SELECT engine, state FROM jobs WHERE origin = 'redrive'")
        assert job == {"engine": "workflow", "state": "running"}
        assert await started(world, name) == 1

    world.run(main())
