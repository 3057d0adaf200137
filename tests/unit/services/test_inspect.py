"""Looking at a job: its life is told from its rows, whatever way it went."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from tests.unit.services.world import World, working
from uketsuke.domain.api_key import Caller
from uketsuke.domain.job import EncodedResult, Job
from uketsuke.services.cancel import cancel
from uketsuke.services.execute import Attempt
from uketsuke.services.inspect import events_of, find_job, result_of

TENANT = Caller(key_id="k", tenant_id="acme", scopes=frozenset())


async def life(world: World, job: Job) -> list[tuple[str, int | None]]:
    events = await events_of(await world.now(job), ports=world.ports)
    assert len({event.id for event in events}) == len(events)
    assert [event.at for event in events] == sorted(event.at for event in events)
    return [(event.type, event.attempt) for event in events]


def test_a_running_job_shows_the_lease_that_it_runs_under(world: World) -> None:
    async def main() -> None:
        job = await world.submitted()
        work = asyncio.ensure_future(world.consumed([job], working(10)))
        await asyncio.sleep(1)

        assert await life(world, job) == [("accepted", None), ("leased", 1)]

        await work
        assert await life(world, job) == [("accepted", None), ("leased", 1), ("succeeded", 1)]

    world.run(main())


def test_an_end_without_an_attempt_is_told_too(world: World) -> None:
    async def main() -> None:
        job = await world.submitted()
        await asyncio.sleep(1)
        await cancel(job, ports=world.ports)

        assert await life(world, job) == [("accepted", None), ("canceled", None)]

    world.run(main())


def test_an_event_has_the_same_id_whenever_one_asks(world: World) -> None:
    async def main() -> None:
        job = await world.submitted()
        await world.consumed([job], working(result=ConnectionError()))
        before = await events_of(await world.now(job), ports=world.ports)
        await asyncio.sleep(5)
        await world.consumed([job], working())
        after = await events_of(await world.now(job), ports=world.ports)

        assert list(after)[: len(before)] == list(before)
        assert before[1].error_class is None

    world.run(main())


def test_a_small_and_a_large_result_are_found_and_one_that_is_gone_is_nothing(
    world: World,
) -> None:
    async def encoded(_: Attempt) -> EncodedResult:
        return EncodedResult(content=b"\x00\x01", content_type="application/octet-stream")

    async def main() -> None:
        small, large, binary = [await world.submitted() for _ in range(3)]
        await world.consumed([small], working(result={"a": 1}))
        await world.consumed([large], working(result={"a": "x" * 5000}))
        await world.consumed([binary], encoded)

        results = [
            await result_of(await world.now(job), ports=world.ports)
            for job in (small, large, binary)
        ]

        assert results[0].content == b'{"a":1}'
        assert results[1].stream
        assert (results[2].content_type, results[2].bytes) == ("application/octet-stream", 2)
        world.connection.execute("UPDATE attempts SET result = NULL")
        assert (await result_of(await world.now(small), ports=world.ports)).content is None

    world.run(main())


def test_an_id_of_another_form_is_not_even_looked_for(world: World) -> None:
    async def main() -> None:
        assert await find_job("job_'; --", caller=TENANT, ports=world.ports) is None
        assert world.database.calls == 0

    world.run(main())


def test_a_job_that_waits_for_its_next_try_has_no_end_yet(world: World) -> None:
    async def main() -> None:
        job = await world.submitted()
        await world.consumed([job], working(result=ConnectionError()))

        assert await life(world, job) == [("accepted", None), ("leased", 1), ("retrying", 1)]
        assert (await world.now(job)).due_at - job.created_at > timedelta()

    world.run(main())
