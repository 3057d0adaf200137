"""Recordings, results of other jobs and whole reports, by the real kinds on the real store."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest

from tests.unit.domain.test_audio import OGG
from tests.unit.providers.talking import TalkingHttp, deploy
from tests.unit.providers.test_work import uploaded, work, worked
from tests.unit.services.world import World, working
from uketsuke.domain.job import InputForm, Job
from uketsuke.domain.lifecycle import Engine, JobState
from uketsuke.services.ports import HttpAnswer, StreamedBody
from uketsuke.services.purge import purge_jobs
from uketsuke.services.sweep import sweep

HOUR = timedelta(hours=1)


@dataclass
class Hearing(TalkingHttp):
    """A server whose model hears what the test says."""

    said: str = "Good morning."
    bodies: list[StreamedBody] = field(default_factory=list)

    async def post_stream(
        self, url: str, *, headers: Mapping[str, str], body: StreamedBody, timeout: timedelta
    ) -> HttpAnswer:
        self.bodies.append(body)
        segments = [{"start": 0, "end": 1.5, "text": self.said}] if self.said else []
        answer = {"text": self.said, "language": "en", "segments": segments, "duration": 2}
        return HttpAnswer(status=200, headers={}, body=json.dumps(answer).encode())


@pytest.fixture
def world() -> Iterator[World]:
    world = World()
    yield world
    world.close()


async def ended(world: World, **changes: Any) -> Job:
    """Run a job on a Workflow to its end."""
    job = await world.submitted(engine=Engine.WORKFLOW, run_limit=HOUR, **changes)
    for _ in range(1000):
        job = await world.now(job)
        if job.terminal:
            break
        await asyncio.sleep(1)
    return job


async def result_of(world: World, job: Job) -> Any:
    assert job.result, job.error_code
    key = job.result.object_key
    text = await world.ports.jobs.result_text(job.key, attempt=job.result.attempt)
    return json.loads(world.blobs.kept[key] if key else text or "")


def test_a_recording_goes_to_the_provider_under_the_name_of_its_format(world: World) -> None:
    http = Hearing()

    async def main() -> None:
        job = await worked(world, http, kind="transcribe", **await uploaded(world, OGG))

        assert job.state is JobState.SUCCEEDED
        assert job.usage
        assert job.usage.audio_ms == 2000
        assert (await result_of(world, job))["segments"][0]["end"] == 1.5

    world.run(main())
    (body,) = http.bodies
    assert b'filename="audio.ogg"' in body.head
    assert body.middle_bytes == len(OGG)


@pytest.mark.parametrize(
    ("content", "said", "code"),
    [
        (OGG, "", "no_speech"),
        (b"Some text.", "heard?", "audio_unsupported"),
    ],
)
def test_a_recording_without_speech_or_of_no_format_fails_its_job_at_once(
    world: World, content: bytes, said: str, code: str
) -> None:
    async def main() -> None:
        job = await worked(
            world, Hearing(said=said), kind="transcribe", **await uploaded(world, content)
        )

        assert (job.state, job.error_class, job.error_code) == (
            JobState.FAILED,
            "invalid_input",
            code,
        )

    world.run(main())


def test_a_recording_whose_object_is_gone_fails_its_job(world: World) -> None:
    async def main() -> None:
        job = await world.submitted(kind="transcribe", **await uploaded(world, OGG))
        world.blobs.kept.clear()

        after = await work(world, Hearing(), job)

        assert (after.state, after.error_code) == (JobState.FAILED, "input_gone")

    world.run(main())


async def three_sources(world: World, *, large: bool = False) -> tuple[Job, Job, str]:
    """A summary, a transcript and an upload that is a picture."""
    words = "A long summary. " * (500 if large else 1)
    done = [await world.submitted(), await world.submitted(kind="transcribe")]
    await world.consumed([done[0]], working(result={"summary": words}))
    await world.consumed([done[1]], working(result={"text": "What was said."}))
    picture = (await uploaded(world, b"\xff\xd8\xff\xe0\x00"))["refs"][0]
    return done[0], done[1], picture


@pytest.mark.parametrize("large", [False, True], ids=["in rows", "in objects"])
def test_a_report_is_made_of_the_results_of_jobs_and_lists_what_is_no_text(
    world: World, large: bool
) -> None:
    http = TalkingHttp()
    deploy(world, http)

    async def main() -> None:
        summary, transcript, picture = await three_sources(world, large=large)
        job = await ended(
            world,
            kind="report",
            form=InputForm.REFS,
            content=None,
            refs=(summary.id, transcript.id, picture),
            params={"on_source_failure": "list", "title": "Three"},
        )

        result = await result_of(world, job)
        assert result["sources"] == [
            {"ref": summary.id, "summary": "Short."},
            {"ref": transcript.id, "summary": "Short."},
            {"ref": picture, "missing": "The input is not UTF-8 text."},
        ]
        assert result["markdown"].startswith("# Three\n\n## Overview\n\nShort.\n")
        asked = [document["messages"][-1]["content"] for _, document, _ in http.calls]
        assert "What was said." in asked
        assert job.progress
        assert (job.progress.done, job.progress.total) == (4, 4)

    world.run(main())


def test_a_report_that_is_a_source_is_read_as_its_words(world: World) -> None:
    http = TalkingHttp()
    deploy(world, http)

    async def main() -> None:
        earlier = await world.submitted(kind="report")
        await world.consumed([earlier], working(result={"markdown": r"It costs \$3, \*no more\*."}))
        await ended(world, kind="report", form=InputForm.REFS, content=None, refs=(earlier.id,))

        asked = [document["messages"][-1]["content"] for _, document, _ in http.calls]
        assert asked == ["It costs $3, *no more*."]

    world.run(main())


def test_a_report_fails_for_a_source_that_is_no_text_unless_it_may_list_it(world: World) -> None:
    deploy(world, TalkingHttp())

    async def main() -> None:
        _, transcript, picture = await three_sources(world)
        job = await ended(
            world, kind="report", form=InputForm.REFS, content=None, refs=(transcript.id, picture)
        )

        assert (job.state, job.error_code) == (JobState.FAILED, "input_not_text")

    world.run(main())


GONE, NO_TEXT = "The input no longer exists.", "The input is not UTF-8 text."
EMPTY = "The input holds nothing to work on."


@pytest.mark.parametrize(
    ("loss", "place", "reason"),
    [
        ("UPDATE jobs SET expires_at = 1 WHERE result LIKE '%object_key\":\"%'", 0, GONE),
        ("DELETE FROM objects", 0, GONE),
        ("UPDATE jobs SET kind = 'of-old' WHERE result LIKE '%object_key\":\"%'", 0, NO_TEXT),
        ("DELETE FROM attempts WHERE result LIKE '{\"text%'", 1, GONE),
        ("UPDATE attempts SET result = '{\"text\": 7}'", 1, NO_TEXT),
        ('UPDATE attempts SET result = \'{"text": " "}\'', 1, EMPTY),
    ],
    ids=["row", "object", "kind", "attempt", "member", "words"],
)
def test_a_result_that_cannot_be_read_is_a_source_that_is_missing(
    world: World, loss: str, place: int, reason: str
) -> None:
    deploy(world, TalkingHttp())

    async def main() -> None:
        # The summary lies in an object, the transcript in its attempt's row.
        summary, transcript, _ = await three_sources(world, large=True)
        job = await world.submitted(
            engine=Engine.WORKFLOW, run_limit=HOUR, kind="report", form=InputForm.REFS,
            content=None, refs=(summary.id, transcript.id), params={"on_source_failure": "list"},
        )  # fmt: skip
        if loss == "DELETE FROM objects":
            world.blobs.kept.clear()
        else:
            world.connection.execute(loss)
        await asyncio.sleep(30)

        listed = (await result_of(world, await world.now(job)))["sources"]
        assert listed[place]["missing"] == reason
        assert "summary" in listed[1 - place]

    world.run(main())


def test_the_purge_leaves_a_result_until_the_last_report_that_names_it_is_done(
    world: World,
) -> None:
    http = TalkingHttp()

    async def main() -> None:
        summary, _, _ = await three_sources(world, large=True)
        await asyncio.sleep((world.settings.keep_results - timedelta(hours=2)).total_seconds())
        week = timedelta(days=7)
        report = await world.submitted(
            engine=Engine.WORKFLOW, run_limit=HOUR, kind="report", form=InputForm.REFS,
            content=None, refs=(summary.id,), deadline=week,
        )  # fmt: skip
        deploy(world, http)
        await asyncio.sleep(week.total_seconds() - 3600)
        await purge_jobs(world.ports)

        still = await world.now(summary)
        assert still.result
        assert still.result.object_key in world.blobs.kept
        assert world.rows("SELECT count(*) AS n FROM jobs")[0]["n"] == 2  # the transcript is gone

        await asyncio.sleep((world.settings.keep_inputs + timedelta(hours=2)).total_seconds())
        await purge_jobs(world.ports)
        assert await world.ports.jobs.find(summary.id, tenant_id="acme") is None
        assert report.id

    world.run(main())


def test_a_crash_in_a_summary_of_forty_pieces_pays_again_for_the_call_in_flight_only(
    world: World,
) -> None:
    http = TalkingHttp(seconds=10)
    deploy(world, http)
    text = "One more sentence of a long story. " * (40 * 5900 // 35)

    async def main() -> None:
        job = await world.submitted(engine=Engine.WORKFLOW, run_limit=HOUR, content=text)
        await asyncio.sleep(http.seconds * 20.5)  # in its 21st call
        world.workflows.die(f"{job.id}-1")
        await asyncio.sleep(61)
        await sweep(world.ports)
        await asyncio.sleep(http.seconds * 40)

        done = await world.now(job)
        assert (done.state, done.attempts) == (JobState.SUCCEEDED, 1)
        assert (await result_of(world, done))["chunks"] == 40

    world.run(main())
    steps = [headers["idempotency-key"].partition(".")[2] for headers, _, _ in http.calls]
    again = [step for step in set(steps) if steps.count(step) > 1]
    assert again == ["piece-21.0"]
    assert len(steps) == 40 + 6 + 1 + 1  # pieces, joins, the join of joins, and the one in flight
