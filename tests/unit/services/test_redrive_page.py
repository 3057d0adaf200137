"""What becomes of each letter that a bulk redrive comes to: redriven as it was, or passed over."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.unit.services.bulk import (
    REFUSED,
    an_act,
    ask,
    bury,
    drive,
    look,
    planner,
    started,
    tick,
)
from tests.unit.services.world import World
from uketsuke.domain.bulk_redrive import Figures, RedriveState
from uketsuke.domain.job import InputForm
from uketsuke.services.sweep import sweep


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
    world: World, capsys: pytest.CaptureFixture[str]
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
    assert capsys.readouterr().out.count('"redrive_broke_off"') == 2  # nobody waits unseen


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


def test_a_large_input_is_copied_for_its_redrive(world: World) -> None:
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


def test_a_run_of_long_work_is_redriven_as_a_run(world: World) -> None:
    async def main() -> None:
        await bury(world, 1, input_bytes=400_000, content="x" * 400_000)
        name = await ask(world)
        await tick(world)

        (job,) = world.rows("SELECT engine, state FROM jobs WHERE origin = 'redrive'")
        assert job == {"engine": "workflow", "state": "running"}
        assert await started(world, name) == 1

    world.run(main())


def test_an_input_that_storage_has_lost_is_passed_over(world: World) -> None:
    async def main() -> None:
        await bury(world, 1, content="long " * 2000, input_bytes=10_000)
        name = await ask(world)
        world.blobs.kept.clear()
        await drive(world, name)

        assert (await look(world, name)).figures == Figures(skipped={"input_gone": 1})

    world.run(main())
