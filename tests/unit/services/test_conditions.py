"""What is worth an alert, as the sweep reckons it, and the end of what was resolved long ago."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import timedelta

import pytest

from tests.unit.services.world import START, World, working
from uketsuke.domain.condition import Condition, LetterFigures, measures_of
from uketsuke.domain.failure import AttemptFailed, ErrorClass
from uketsuke.domain.objective import DEFAULT_OBJECTIVES, bounds_of
from uketsuke.services.sweep import sweep
from uketsuke.services.upload import upload


@pytest.fixture
def world() -> Iterator[World]:
    """A world that keeps uploads for less time than jobs."""
    world = World(keep_inputs=timedelta(days=7))
    yield world
    world.close()


REFUSAL = AttemptFailed(ErrorClass.REFUSED, "provider_refused")


async def fail(world: World, count: int = 1, **changes: object) -> None:
    for _ in range(count):
        await world.consumed([await world.submitted(**changes)], working(result=REFUSAL))


async def swept(world: World) -> dict[str, Condition]:
    await sweep(world.ports)
    return {condition.name: condition for condition in await world.ports.conditions.kept()}


def holding(conditions: dict[str, Condition]) -> set[str]:
    """Those of dead letters: that a test leaps is a sweep that was away."""
    held = {name for name, condition in conditions.items() if condition.holds}
    return held - {"sweep_lag_seconds"}


def test_a_letter_is_open_then_past_triage_then_nothing_once_it_is_resolved(world: World) -> None:
    async def main() -> None:
        assert holding(await swept(world)) == set()
        await fail(world)
        first = await swept(world)
        assert holding(first) == {"dead_letters_open"}
        await asyncio.sleep(timedelta(hours=73).total_seconds())
        late = await swept(world)
        assert holding(late) == {"dead_letters_open", "dead_letters_past_triage"}
        assert late["dead_letters_open"].since == first["dead_letters_open"].since
        assert late["dead_letters_past_triage"].since == late["dead_letters_open"].computed_at
        world.connection.execute("UPDATE dead_letters SET status = 'discarded', resolved_at = 1")
        assert holding(await swept(world)) == set()

    world.run(main())


def test_an_upload_that_goes_before_its_job_expires_first(world: World) -> None:
    """The letter of a text keeps its input as long as its job; that of an upload, shorter."""

    async def expiring() -> int | None:
        return (await swept(world))["dead_letters_expiring"].value

    async def main() -> None:
        stored = await upload(
            b"x", tenant_id="acme", content_type="text/plain", length=1, ports=world.ports
        )
        await fail(world)
        await fail(world, form="ref", content=None, refs=(stored.ref,))
        day = timedelta(days=1).total_seconds()
        await asyncio.sleep(3 * day)
        assert await expiring() == 0
        await asyncio.sleep(2 * day)
        assert await expiring() == 1
        await asyncio.sleep(4 * day)
        assert await expiring() == 0
        await asyncio.sleep(19 * day)
        assert await expiring() == 1

    world.run(main())


def test_growth_is_twice_the_hour_before_and_more_than_a_handful(world: World) -> None:
    async def growth() -> Condition:
        return (await swept(world))["dead_letters_growth"]

    async def main() -> None:
        await fail(world, 10)
        assert not (await growth()).holds
        await fail(world, 1)
        assert (await growth()).holds
        await asyncio.sleep(3700)
        quiet = await growth()
        assert (quiet.value, quiet.compared_to, quiet.holds) == (0, 11, False)
        await fail(world, 22)
        assert not (await growth()).holds
        await fail(world, 1)
        assert (await growth()).holds

    world.run(main())


def test_a_dead_letter_queue_that_nobody_works_is_told_and_a_silent_one_is_not_guessed(
    world: World,
) -> None:
    async def oldest() -> tuple[int | None, bool]:
        condition = (await swept(world))["dlq_oldest_seconds"]
        return condition.value, condition.holds

    async def main() -> None:
        assert await oldest() == (0, False)
        world.dead_queue.age = timedelta(hours=2)
        assert await oldest() == (7200, False)
        world.dead_queue.age = timedelta(hours=2, seconds=1.5)
        assert await oldest() == (7201, True)
        world.dead_queue.age = None
        assert await oldest() == (None, False)

    world.run(main())


def test_that_a_condition_began_is_told_once(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    async def main() -> None:
        await fail(world)
        for _ in range(3):
            await sweep(world.ports)
            await asyncio.sleep(60)

    world.run(main())
    told = [line for line in capsys.readouterr().out.splitlines() if '"conditions"' in line]
    assert len(told) == 1
    assert '"count": 1' in told[0]


def test_resolved_letters_go_in_their_time_so_many_a_tick_and_open_ones_stay(world: World) -> None:
    def count() -> int:
        return int(world.rows("SELECT count(*) AS letters FROM dead_letters")[0]["letters"])

    async def main() -> None:
        await fail(world)
        start = int(START.timestamp() * 1000)
        world.connection.execute(
            """
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 700)
            INSERT INTO dead_letters (id, status, road, class, code, first_failed_at,
                                      last_failed_at, triage_due_at, resolved_at)
            SELECT 'dl_' || i, 'discarded', 'undecodable', 'invalid_input', 'x', 1, 1, 1, ?1 + i
              FROM n
            """,
            (start,),
        )
        await asyncio.sleep(timedelta(days=89).total_seconds())
        await sweep(world.ports)
        assert count() == 701
        await asyncio.sleep(timedelta(days=2).total_seconds())
        await sweep(world.ports)
        assert count() == 201
        await sweep(world.ports)
        assert world.rows("SELECT status FROM dead_letters") == [{"status": "open"}]

    world.run(main())


def test_the_measures_are_bounded_as_the_documents_say() -> None:
    figures = LetterFigures(open=1, past_triage=1, expiring=1, last_hour=1, hour_before=4)

    bounds = {
        each.name.value: each.bound
        for each in measures_of(figures, dlq_oldest=None, bounds=bounds_of(DEFAULT_OBJECTIVES))
    }

    assert bounds == {
        "dead_letters_open": 0,
        "dead_letters_past_triage": 0,
        "dead_letters_expiring": 0,
        "dead_letters_growth": 10,
        "dlq_oldest_seconds": 7200,
    }
