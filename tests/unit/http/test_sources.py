"""What a submission may name: recordings that can be heard, and results that are texts.

Held against the kinds that ship.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.unit.domain.test_audio import MP3_FRAME, OGG, wav
from tests.unit.http.factories import OTHER_TENANT, TENANT, a_job, an_id, an_upload
from tests.unit.http.world import PEPPER, Answer, World
from uketsuke.domain.job import InputForm, Job, ResultPlace, Upload
from uketsuke.domain.lifecycle import Engine, JobState
from uketsuke.kinds.registry import KINDS
from uketsuke.settings import Settings

SCHEDULE = "/v1/schedules/nightly"


@pytest.fixture
def world() -> World:
    return World(kinds=KINDS, settings=Settings(key_hash_secret=PEPPER, transcribe_max_bytes=1000))


def uploaded(world: World, content: bytes, number: int = 1, **given: object) -> str:
    upload: Upload = replace(an_upload(number, bytes=len(content)), **given)  # type: ignore[arg-type]
    world.inputs.uploads[upload.ref] = upload
    world.blobs.objects[upload.object_key] = content
    return upload.ref


def ended(world: World, number: int, kind: str = "summarize", **given: object) -> str:
    place = ResultPlace(bytes=50, content_type="application/json", attempt=1)
    job: Job = replace(
        a_job(id=an_id("job", number), kind=kind, state=JobState.SUCCEEDED, result=place),
        **given,  # type: ignore[arg-type]
    )
    world.inputs.jobs[job.id] = job
    return job.id


def transcribe(world: World, key: str, ref: str) -> Answer:
    document = {"kind": "transcribe", "input": {"ref": ref}}
    return world.send("POST", "/v1/jobs", key=key, document=document)


def report(world: World, key: str, *refs: str, **members: object) -> Answer:
    document = {"kind": "report", "input": {"refs": refs}, **members}
    return world.send("POST", "/v1/jobs", key=key, document=document)


@pytest.mark.parametrize("content", [OGG[:900], wav(), MP3_FRAME * 2], ids=["ogg", "wav", "mp3"])
def test_a_recording_is_taken_whatever_type_it_was_said_to_be(
    world: World, tenant_key: str, content: bytes
) -> None:
    ref = uploaded(world, content, content_type="text/plain")

    assert transcribe(world, tenant_key, ref).status == 202

    (new,) = world.jobs.accepted
    assert (new.input.form, new.input.refs) == (InputForm.REF, (ref,))
    assert (new.engine, new.input.bytes) == (Engine.QUEUE, len(content))
    assert world.blobs.read == [(0, len(content))]


@pytest.mark.parametrize("content", [b"Not a song.", b"%PDF-1.7", b"\x1aE\xdf\xa3webm"])
def test_what_cannot_be_heard_is_refused_with_what_can(
    world: World, tenant_key: str, content: bytes
) -> None:
    ref = uploaded(world, content, content_type="audio/mpeg")

    answer = transcribe(world, tenant_key, ref)

    assert (answer.status, answer.faults) == (400, [("/input/ref", "bad_value")])
    assert "WAV, MP3, M4A, FLAC, OGG" in answer.document["errors"][0]["detail"]


def test_a_recording_that_is_more_than_the_provider_takes_is_too_large(
    world: World, tenant_key: str
) -> None:
    at_the_limit = uploaded(world, OGG[:1000], 1)
    beyond = uploaded(world, OGG[:1001], 2)

    assert transcribe(world, tenant_key, at_the_limit).status == 202
    answer = transcribe(world, tenant_key, beyond)

    assert answer.faults == [("/input/ref", "too_large")]
    assert "1000 bytes" in answer.document["errors"][0]["detail"]


def test_a_recording_whose_object_is_gone_is_refused(world: World, tenant_key: str) -> None:
    ref = uploaded(world, OGG[:900])
    world.blobs.objects.clear()

    assert transcribe(world, tenant_key, ref).faults == [("/input/ref", "bad_value")]


def test_an_upload_without_bytes_is_empty_and_not_looked_into(
    world: World, tenant_key: str
) -> None:
    ref = uploaded(world, b"")

    assert transcribe(world, tenant_key, ref).faults == [("/input/ref", "empty")]


def test_a_schedule_may_transcribe_only_what_can_be_heard(world: World, tenant_key: str) -> None:
    ref = uploaded(world, b"Not a song.")
    document = {"cron": "0 7 * * *", "kind": "transcribe", "input": {"ref": ref}}

    answer = world.send("PUT", SCHEDULE, key=tenant_key, document=document)

    assert answer.faults == [("/input/ref", "bad_value")]


def test_a_report_takes_uploads_and_the_results_of_jobs(world: World, tenant_key: str) -> None:
    refs = [uploaded(world, b"Some text."), *(ended(world, n, kind) for n, kind in _WITH_TEXT)]

    answer = report(world, tenant_key, *refs, params={"title": "All of it"})

    assert answer.status == 202
    (new,) = world.jobs.accepted
    assert (new.engine, new.input.refs) == (Engine.WORKFLOW, tuple(refs))
    assert new.input.bytes == 10 + 3 * 50


_WITH_TEXT = [(1, "summarize"), (2, "transcribe"), (3, "report")]


def test_each_result_that_cannot_be_a_source_is_pointed_at(world: World, tenant_key: str) -> None:
    answer = report(
        world,
        tenant_key,
        ended(world, 1),
        an_id("job", 99),
        ended(world, 2, tenant_id=OTHER_TENANT),
        ended(world, 3, state=JobState.RUNNING, result=None),
        ended(world, 4, state=JobState.FAILED, result=None),
        ended(world, 5, "embed"),
        ended(world, 6, "of-old"),
        "job_x",
        uploaded(world, b""),
    )

    assert answer.faults == [
        ("/input/refs/1", "input_not_found"),
        ("/input/refs/2", "input_not_found"),
        ("/input/refs/3", "bad_value"),
        ("/input/refs/4", "bad_value"),
        ("/input/refs/5", "bad_value"),
        ("/input/refs/6", "bad_value"),
        ("/input/refs/7", "input_not_found"),
        ("/input/refs/8", "empty"),
    ]
    assert "running" in answer.document["errors"][2]["detail"]
    assert world.jobs.accepted == []


def test_sources_that_are_too_much_together_are_refused(world: World, tenant_key: str) -> None:
    most = KINDS["report"].max_input_bytes
    half = an_upload(1, bytes=most // 2), an_upload(2, bytes=most // 2)
    world.inputs.uploads |= {upload.ref: upload for upload in half}
    place = ResultPlace(bytes=1, content_type="application/json", attempt=1)

    assert report(world, tenant_key, *(upload.ref for upload in half)).status == 202
    answer = report(
        world, tenant_key, *(upload.ref for upload in half), ended(world, 1, result=place)
    )

    assert answer.faults == [("/input/refs", "too_long")]


def test_a_result_can_be_named_among_several_only(world: World, tenant_key: str) -> None:
    document = {"kind": "summarize", "input": {"ref": ended(world, 1)}}

    answer = world.send("POST", "/v1/jobs", key=tenant_key, document=document)

    assert answer.faults == [("/input/ref", "input_not_found")]


def test_an_input_that_goes_while_the_job_is_written_is_told_of(
    world: World, tenant_key: str
) -> None:
    world.jobs.uploads_vanish = True

    answer = report(world, tenant_key, ended(world, 1))

    assert answer.faults == [("/input/refs", "input_not_found")]
    assert TENANT not in answer.document["errors"][0]["detail"]


@pytest.mark.parametrize(
    ("params", "fault"),
    [
        ({"title": "t" * 201}, ("/params/title", "too_long")),
        ({"title": ""}, ("/params/title", "empty")),
        ({"max_words_per_source": 9}, ("/params/max_words_per_source", "out_of_range")),
        ({"on_source_failure": "ignore"}, ("/params/on_source_failure", "bad_value")),
        ({"language": "Japanese please"}, ("/params/language", "bad_value")),
        ({"style": "bullets"}, ("/params/style", "unknown_member")),
    ],
)
def test_a_reports_parameters_have_their_limits(
    world: World, tenant_key: str, params: dict[str, object], fault: tuple[str, str]
) -> None:
    answer = report(world, tenant_key, ended(world, 1), params=params)

    assert answer.faults == [fault]
