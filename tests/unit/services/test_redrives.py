"""Bulk redrives: canaries first, then at a rate, until a person or their own failures stop them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import timedelta

from tests.unit.services.bulk import (
    an_act,
    ask,
    bury,
    drive,
    failing,
    look,
    planner,
    redriven_once,
    started,
    state,
    stops,
    tick,
    work,
)
from tests.unit.services.world import World
from uketsuke.domain.bulk_redrive import Figures, LetterFilter, RedriveState, StoppedBecause
from uketsuke.domain.failure import AttemptFailed, ErrorClass
from uketsuke.services.cancel import cancel
from uketsuke.services.redrives import drive_redrives


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


def test_a_canary_that_was_canceled_tells_nothing_and_another_goes_in_its_place(
    world: World,
) -> None:
    async def main() -> None:
        await bury(world, 20)
        name = await ask(world)
        await tick(world)
        for row in world.rows("SELECT id FROM jobs WHERE origin = 'redrive' ORDER BY id LIMIT 2"):
            job = await world.ports.jobs.find(row["id"], tenant_id="acme")
            assert job
            await cancel(job, ports=world.ports)
        await drive(world, name, failing((2, 3)))

        shown = await look(world, name)
        assert shown.redrive.stopping
        assert shown.redrive.stopping.because is StoppedBecause.CANARIES_FAILED
        assert shown.figures == Figures(started=5, succeeded=1, failed=2, canceled=2)

    world.run(main())


def test_few_failures_that_are_quicker_than_successes_do_not_stop_it(world: World) -> None:
    """One in ten fails at once, and the others take three minutes: most that end early fail."""

    async def main() -> None:
        await bury(world, 150)
        name = await ask(world, canary=0)
        slow: list[list[Mapping[str, object]]] = [[], [], []]
        while not (await look(world, name)).redrive.finished_at:
            await tick(world)
            quick, others = parted(world)
            slow.append(others)
            world.queue.sent[:] = [*quick, *slow.pop(0)]
            await work(world, failing(range(0, 150, 10)))

        assert (await look(world, name)).redrive.stopping is None
        assert (await look(world, name)).figures == Figures(started=150, succeeded=135, failed=15)

    def parted(world: World) -> tuple[list[Mapping[str, object]], list[Mapping[str, object]]]:
        found = world.rows("SELECT id FROM jobs WHERE metadata ->> 'n' % 10 = 0")
        bad = {row["id"] for row in found}
        sent = world.queue.sent
        return [m for m in sent if m["job"] in bad], [m for m in sent if m["job"] not in bad]

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
