"""transcribe: what the model heard, and a clear word when it heard nothing."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.kinds.test_kinds import ScriptedWork
from uketsuke.domain.failure import AttemptFailed, ErrorClass
from uketsuke.domain.job import InputForm
from uketsuke.domain.lifecycle import Engine
from uketsuke.kinds.registry import KINDS
from uketsuke.kinds.transcribe import TranscribeParams, run

pytestmark = pytest.mark.anyio
SEGMENTS = [{"start": 0.0, "end": 1.5, "text": "Good morning."}]
HEARD = {"text": "Good morning.", "language": "en", "segments": SEGMENTS, "duration_seconds": 2.0}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def hearing(**heard: Any) -> ScriptedWork:
    return ScriptedWork(None, heard={**HEARD, **heard})


async def test_what_was_heard_is_the_result_with_its_times() -> None:
    work = hearing()

    assert await run(work, TranscribeParams()) == HEARD

    assert work.language_asked == [None]
    assert work.seen == [(0, 1), (1, 1)]


async def test_models_of_speech_are_told_the_language_without_its_region() -> None:
    work = hearing(language=None)

    result = await run(work, TranscribeParams(language="EN-gb"))

    assert work.language_asked == ["en"]
    assert result["language"] == "EN-gb"


async def test_a_language_that_nobody_told_is_guessed_from_the_words() -> None:
    assert (await run(hearing(language=None, text="駅の忘れ物"), TranscribeParams()))[
        "language"
    ] == "ja"


@pytest.mark.parametrize("text", ["", " \n"])
async def test_silence_is_a_failure_of_the_input(text: str) -> None:
    with pytest.raises(AttemptFailed) as failed:
        await run(hearing(text=text, segments=[]), TranscribeParams())

    failure = failed.value.failure
    assert (failure.error_class, failure.code) == (ErrorClass.INVALID_INPUT, "no_speech")
    assert failure.message == "Nothing is said in the recording."


def test_only_a_kind_that_transcribes_hears() -> None:
    assert {name for name, kind in KINDS.items() if kind.hears} == {"transcribe"}
    assert KINDS["transcribe"].engine(InputForm.REF, 25_000_000) is Engine.QUEUE
