"""embed from the provider's answer to the kept result, on the queue and as a run of a schedule."""

from __future__ import annotations

import asyncio
import json
import tracemalloc
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest

from tests.unit.providers.talking import TalkingHttp, deploy
from tests.unit.providers.test_work import work
from tests.unit.services.test_run import ended
from tests.unit.services.world import World
from uketsuke.domain.job import InputForm, Job
from uketsuke.domain.lifecycle import Engine, JobState
from uketsuke.domain.vectors import VECTORS_TYPE, read_head, unpack
from uketsuke.services.ports import HttpAnswer
from uketsuke.services.purge import purge_jobs
from uketsuke.services.vectors import find_vectors, json_of


@dataclass
class Embeddings(TalkingHttp):
    """Answers with the numbers that the texts are; ``models`` says of which model each call is."""

    models: list[str] = field(default_factory=list)
    size: int = 2
    keys: list[str] = field(default_factory=list)

    async def post(
        self, url: str, *, headers: Mapping[str, str], body: bytes, timeout: timedelta
    ) -> HttpAnswer:
        await asyncio.sleep(self.seconds)
        self.keys.append(headers["idempotency-key"])
        model = self.models.pop(0) if self.models else "m"
        texts = json.loads(body)["input"]
        data = [
            {"index": index, "embedding": [float(text)] * self.size}
            for index, text in enumerate(texts)
        ]
        answer = {"model": model, "data": data, "usage": {"prompt_tokens": 1}}
        return HttpAnswer(status=200, headers={}, body=json.dumps(answer).encode())


class SameAnswer(TalkingHttp):
    """Answers each full call with the same body, made once, so that a test sees our memory only."""

    def __init__(self, *, size: int) -> None:
        super().__init__()
        row = [((n * 7919) % 20011 - 10005) / 99991 for n in range(size)]
        data = [{"index": n, "embedding": row} for n in range(64)]
        self.body = json.dumps({"model": "m", "data": data}).encode()

    async def post(
        self, url: str, *, headers: Mapping[str, str], body: bytes, timeout: timedelta
    ) -> HttpAnswer:
        return HttpAnswer(status=200, headers={}, body=self.body)


@pytest.fixture
def world() -> Iterator[World]:
    world = World()
    yield world
    world.close()


def texts(count: int) -> dict[str, Any]:
    numbers = [str(number) for number in range(count)]
    return {"kind": "embed", "form": InputForm.TEXTS, "content": numbers}


def kept(world: World, job: Job) -> tuple[str, list[float]]:
    """Return the model of a job's result, and the first number of each row."""
    assert job.result
    assert job.result.content_type == VECTORS_TYPE
    content = world.blobs.kept[job.result.object_key or ""]
    assert len(content) == job.result.bytes
    head = read_head(content)
    return head.model, list(unpack(content[head.start :])[:: head.dimensions])


def test_a_result_of_vectors_is_an_object_however_small_it_is(world: World) -> None:
    async def main() -> None:
        job = await work(world, Embeddings(), await world.submitted(**texts(130)))

        assert job.state is JobState.SUCCEEDED
        assert kept(world, job) == ("m", [float(number) for number in range(130)])
        assert job.usage
        assert job.usage.input_tokens == 3

    world.run(main())


def test_a_run_keeps_its_parts_and_a_later_life_asks_only_for_what_is_missing(
    world: World,
) -> None:
    http = Embeddings(seconds=10, size=300)  # so that a part is an object of its own

    async def main() -> None:
        deploy(world, http)
        job = await world.submitted(
            engine=Engine.WORKFLOW, run_limit=timedelta(hours=1), **texts(150)
        )
        await asyncio.sleep(15)
        world.workflows.die(f"{job.id}-1")
        done = await ended(world, job)

        assert done.state is JobState.SUCCEEDED
        assert kept(world, done) == ("m", [float(number) for number in range(150)])

    world.run(main())
    asked = [key.split(".")[1] for key in http.keys]
    assert asked.count("texts-0") == 1
    assert set(asked) == {"texts-0", "texts-64", "texts-128"}


def test_what_an_earlier_attempt_has_kept_does_not_stand_in_the_way_of_a_new_model(
    world: World,
) -> None:
    """The provider changes at each call of the first attempt, and then has settled on another."""
    http = Embeddings(models=[*"ababab", *["settled"] * 9])

    async def main() -> None:
        deploy(world, http)
        job = await world.submitted(
            engine=Engine.WORKFLOW, run_limit=timedelta(hours=1), **texts(150)
        )
        done = await ended(world, job)

        assert (done.state, done.attempts) == (JobState.SUCCEEDED, 2)
        assert kept(world, done) == ("settled", [float(number) for number in range(150)])
        first, second = await world.ports.jobs.attempts_of(job.key)
        assert (first.error_code, second.error_code) == ("provider_changed_model", None)

    world.run(main())
    assert len(http.keys) == len(set(http.keys))  # the provider never sees a call again


def test_vectors_that_were_paid_for_are_adopted_where_they_lie_and_purged(world: World) -> None:
    http = Embeddings()

    async def main() -> None:
        job = await world.submitted(**texts(2))
        world.database.failing = [("late_writes", "before")] * 1000
        await work(world, http, job)
        world.database.failing = []
        await asyncio.sleep(62)

        done = await work(world, http, job)

        assert (done.state, done.attempts) == (JobState.SUCCEEDED, 2)
        assert kept(world, done) == ("m", [0.0, 1.0])
        await asyncio.sleep(world.settings.keep_results.total_seconds() + 60)
        await purge_jobs(world.ports)
        assert not world.blobs.kept

    world.run(main())
    assert len(http.keys) == 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Peaks:
    """The most bytes that Python held: for the whole work, and to tell the result as JSON."""

    work: int
    json: int
    kept_bytes: int
    json_bytes: int


def peaks(world: World, *, count: int, size: int) -> Peaks:
    """Work a job of ``count`` texts, read its result, and watch the memory. Slow: 5 µs a number."""

    async def main() -> Peaks:
        http = SameAnswer(size=size)
        job = await world.submitted(**texts(count))
        tracemalloc.start()
        try:
            done = await work(world, http, job)
            _, worked = tracemalloc.get_traced_memory()
            assert done.result
            found = await find_vectors(done.result.object_key or "", ports=world.ports)
            assert found
            before, _ = tracemalloc.get_traced_memory()
            tracemalloc.reset_peak()
            length = sum([len(piece) async for piece in json_of(found, ports=world.ports)])
            _, told = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        return Peaks(
            work=worked, json=told - before, kept_bytes=done.result.bytes, json_bytes=length
        )

    return world.run(main())


def test_vectors_take_little_more_memory_than_their_bytes(world: World) -> None:
    """As many texts as a job may have; bench/vectors_memory.py has them at a large model's size."""
    found = peaks(world, count=2048, size=96)

    assert found.kept_bytes > 2048 * 96 * 4
    assert found.work < 4 * found.kept_bytes  # as Python's numbers they would be eight times that
    assert found.json < found.json_bytes
