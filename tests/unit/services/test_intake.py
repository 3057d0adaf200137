"""Taking jobs and uploads in: what is durable when, and what a failing neighbour changes."""

from __future__ import annotations

import asyncio
import json
from datetime import timedelta

import pytest

from tests.unit.services.world import World, submission
from uketsuke.domain.job import InputForm
from uketsuke.domain.lifecycle import JobState
from uketsuke.services.ports import (
    AcceptedNew,
    InputVanished,
    KnownKey,
    TooLarge,
    Unavailable,
)
from uketsuke.services.submit import submit
from uketsuke.services.sweep import sweep
from uketsuke.services.upload import upload


def test_an_accepted_job_is_one_call_and_one_message(world: World) -> None:
    async def main() -> None:
        job = await world.submitted()

        assert world.database.calls == 1
        assert [body["job"] for body in world.queue.sent] == [job.id]

    world.run(main())


@pytest.mark.parametrize("trouble", ["away", "hangs"])
def test_a_send_that_fails_or_hangs_changes_nothing_for_the_caller(
    world: World, trouble: str
) -> None:
    async def main() -> None:
        setattr(world.queue, trouble, True)

        job = await world.submitted()

        assert job.state is JobState.ACCEPTED
        assert world.loop.time() < 3
        setattr(world.queue, trouble, False)
        await asyncio.sleep(61)
        await sweep(world.ports)
        assert [body["job"] for body in world.queue.sent] == [job.id]

    world.run(main())


@pytest.mark.parametrize("how", ["before", "after"])
def test_a_database_that_does_not_answer_is_unavailable_and_the_repeat_is_safe(
    world: World, how: str
) -> None:
    async def main() -> None:
        world.database.failing = [("INSERT INTO jobs", how)]
        again = submission(idempotency_key="k")
        with pytest.raises(Unavailable):
            await submit(again, ports=world.ports)

        admission = await submit(again, ports=world.ports)

        assert isinstance(admission, AcceptedNew if how == "before" else KnownKey)

    world.run(main())
    assert len(world.rows("SELECT * FROM jobs")) == 1


def test_a_database_that_hangs_is_unavailable_after_a_while(world: World) -> None:
    async def hang(_: object) -> None:
        await asyncio.sleep(1000)

    async def main() -> None:
        world.database.batch = hang  # type: ignore[assignment, method-assign]
        with pytest.raises(Unavailable):
            await submit(submission(), ports=world.ports)
        assert world.loop.time() == 5

    world.run(main())


def test_a_large_input_lies_in_an_object_under_the_jobs_prefix(world: World) -> None:
    text = "long " * 2000

    async def main() -> None:
        job = await world.submitted(content=text, input_bytes=len(text))

        ((key, content),) = world.blobs.kept.items()
        assert key.startswith(f"acme/{job.id}/")
        assert json.loads(content) == text
        assert job.input.object_key == key

    world.run(main())


def test_a_replay_leaves_no_object_behind(world: World) -> None:
    async def main() -> None:
        large = submission(content="long " * 2000, idempotency_key="k")
        await submit(large, ports=world.ports)

        assert isinstance(await submit(large, ports=world.ports), KnownKey)

        assert len(world.blobs.kept) == 1

    world.run(main())


def test_an_object_that_cannot_be_dropped_is_noted(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    async def away(_: object) -> None:
        raise Unavailable

    async def main() -> None:
        large = submission(content="long " * 2000, idempotency_key="k")
        await submit(large, ports=world.ports)
        world.blobs.delete = away  # type: ignore[assignment, method-assign]

        assert isinstance(await submit(large, ports=world.ports), KnownKey)

    world.run(main())
    assert "orphan_left" in capsys.readouterr().out


def test_a_job_is_not_accepted_when_its_large_input_cannot_be_stored(world: World) -> None:
    async def main() -> None:
        world.blobs.away = True
        with pytest.raises(Unavailable):
            await submit(submission(content="long " * 2000), ports=world.ports)

    world.run(main())
    assert world.rows("SELECT * FROM jobs") == []


def test_an_upload_is_recorded_with_what_was_stored(world: World) -> None:
    async def main() -> None:
        stored = await upload(
            b"bytes", tenant_id="acme", content_type="text/plain", length=5, ports=world.ports
        )

        found = await world.ports.inputs.find([stored.ref], tenant_id="acme")
        assert found == {stored.ref: stored}
        assert stored.bytes == 5
        assert stored.object_key.startswith(f"acme/{stored.ref}/")
        job = await world.submitted(
            form=InputForm.REF, content=None, refs=(stored.ref,), input_bytes=5
        )
        assert job.input.refs == (stored.ref,)

    world.run(main())


def test_an_upload_longer_than_it_said_is_not_recorded(world: World) -> None:
    async def main() -> None:
        with pytest.raises(TooLarge):
            await upload(
                b"bytes", tenant_id="acme", content_type="x/y", length=4, ports=world.ports
            )

    world.run(main())
    assert world.rows("SELECT * FROM inputs") == []


def test_a_submission_of_an_upload_that_is_gone_is_told_so(world: World) -> None:
    async def main() -> None:
        gone = submission(form=InputForm.REF, content=None, refs=("in_" + "0" * 26,))

        assert isinstance(await submit(gone, ports=world.ports), InputVanished)

    world.run(main())


def test_uploads_outlive_the_jobs_that_name_them(world: World) -> None:
    async def main() -> None:
        stored = await upload(
            b"x", tenant_id="acme", content_type="x/y", length=1, ports=world.ports
        )
        await asyncio.sleep(timedelta(days=20).total_seconds())
        await world.submitted(form=InputForm.REF, content=None, refs=(stored.ref,))
        await asyncio.sleep(timedelta(days=20).total_seconds())

        assert await world.ports.inputs.find([stored.ref], tenant_id="acme")

    world.run(main())
