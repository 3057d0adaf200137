"""Recordings and reports from end to end: speech is heard, and its transcript is a source then.

``coffee.ogg`` was spoken by espeak-ng for this project. Where the weights of the speech model were
not brought, what needs them is skipped; all else is tested all the same.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.acceptance.runs import Desk, slow
from tests.models.test_transcriptions import silent_wav
from tests.support.jobs import TEXT, ended, submit
from uketsuke_local.models import weights

COFFEE = (Path(__file__).parents[1] / "models" / "coffee.ogg").read_bytes()
PICTURE = b"\xff\xd8\xff\xe0\x00\x10JFIF" + bytes(50)

needs_speech = pytest.mark.skipif(
    not weights.present(weights.directory()),
    reason=f"the speech weights are not here: {weights.COMMAND}",
)


def upload(api: httpx.Client, content: bytes, *, content_type: str = "text/plain") -> str:
    answer = api.put("/v1/inputs", content=content, headers={"content-type": content_type})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["ref"])


def transcribed(api: httpx.Client, content: bytes) -> dict[str, Any]:
    job = submit(api, kind="transcribe", input={"ref": upload(api, content)})
    assert job["engine"] == "queue"
    return ended(api, job)


def result_of(api: httpx.Client, job: dict[str, Any]) -> dict[str, Any]:
    assert job["state"] == "succeeded", job["error"]
    found: dict[str, Any] = api.get(job["links"]["result"]).json()
    return found


def faults(answer: httpx.Response) -> list[tuple[str, str]]:
    assert answer.status_code == 400, answer.text
    return [(fault["pointer"], fault["code"]) for fault in answer.json()["errors"]]


@needs_speech
def test_speech_is_heard_and_its_transcript_becomes_a_source_of_a_report(desk: Desk) -> None:
    spoken = transcribed(desk.api, COFFEE)
    heard = result_of(desk.api, spoken)
    refs = [spoken["id"], upload(desk.api, TEXT.encode())]
    report = ended(desk.api, submit(desk.api, kind="report", input={"refs": refs}))

    assert "your own coffee" in heard["text"]
    assert heard["language"] == "en"
    assert 4 < heard["duration_seconds"] < 5
    assert all(segment["start"] < segment["end"] for segment in heard["segments"])
    assert spoken["progress"] == {"done": 1, "total": 1}
    sources = result_of(desk.api, report)["sources"]
    assert [source["ref"] for source in sources] == refs
    assert "coffee" in sources[0]["summary"]


@needs_speech
@pytest.mark.parametrize(
    ("content", "code"),
    [(silent_wav(seconds=2), "no_speech"), (COFFEE[:200] + bytes(2000), "audio_unreadable")],
    ids=["silence", "damaged"],
)
def test_a_recording_of_which_nothing_can_be_heard_fails_with_a_clear_word(
    desk: Desk, content: bytes, code: str
) -> None:
    job = transcribed(desk.api, content)

    assert (job["state"], job["attempts"]) == ("failed", 1)
    assert (job["error"]["class"], job["error"]["code"]) == ("invalid_input", code)


@pytest.mark.parametrize(
    "content", [b"a", TEXT.encode() * 20, PICTURE], ids=["letter", "text", "picture"]
)
def test_what_is_no_recording_is_refused_whatever_it_is_called(desk: Desk, content: bytes) -> None:
    ref = upload(desk.api, content, content_type="audio/mpeg")

    answer = desk.api.post("/v1/jobs", json={"kind": "transcribe", "input": {"ref": ref}})

    assert faults(answer) == [("/input/ref", "bad_value")]
    assert "FLAC" in answer.json()["errors"][0]["detail"]


def test_a_recording_of_more_than_the_provider_takes_is_refused(desk: Desk) -> None:
    ref = upload(desk.api, COFFEE + bytes(25_000_000))

    answer = desk.api.post("/v1/jobs", json={"kind": "transcribe", "input": {"ref": ref}})

    assert faults(answer) == [("/input/ref", "too_large")]


def test_a_report_of_mixed_sources_lists_the_one_that_cannot_be_used(desk: Desk) -> None:
    summary = ended(desk.api, submit(desk.api))
    refs = [summary["id"], upload(desk.api, PICTURE), upload(desk.api, TEXT.encode())]
    params = {"title": "What the desk does", "on_source_failure": "list"}

    report = submit(desk.api, kind="report", input={"refs": refs}, params=params)
    done = ended(desk.api, report)

    assert (report["engine"], report["state"]) == ("workflow", "running")
    result = result_of(desk.api, done)
    assert [source["ref"] for source in result["sources"]] == refs
    assert result["sources"][1]["missing"] == "The input is not UTF-8 text."
    assert done["progress"] == {"done": 4, "total": 4}
    headings = [line for line in result["markdown"].splitlines() if line.startswith("#")]
    assert headings == [
        "# What the desk does", "## Overview", "## Source 1", "## Source 3", "## Sources"
    ]  # fmt: skip


def test_a_report_fails_for_the_first_source_that_cannot_be_used(desk: Desk) -> None:
    job = submit(desk.api, kind="report", input={"refs": [upload(desk.api, PICTURE)]})

    failed = ended(desk.api, job)

    assert (failed["state"], failed["error"]["code"]) == ("failed", "input_not_text")


def test_only_ones_own_jobs_that_have_succeeded_with_a_text_are_sources(desk: Desk) -> None:
    with Desk.open(desk.stack) as other:
        theirs = ended(other.api, submit(other.api))
    vectors = ended(desk.api, submit(desk.api, kind="embed", input={"texts": ["One."]}))
    early = desk.start(slow(3))
    refs = [theirs["id"], vectors["id"], early, "job_" + "0" * 26]

    answer = desk.api.post("/v1/jobs", json={"kind": "report", "input": {"refs": refs}})
    desk.api.post(f"/v1/jobs/{early}/cancel")

    assert faults(answer) == [
        ("/input/refs/0", "input_not_found"),
        ("/input/refs/1", "bad_value"),
        ("/input/refs/2", "bad_value"),
        ("/input/refs/3", "input_not_found"),
    ]
