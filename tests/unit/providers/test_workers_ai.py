"""What Workers AI is asked, and how its models' answers are read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any, Final

import pytest

from tests.unit.providers.test_openai_compatible import StillClock
from tests.unit.services.world import MemoryBlobs
from uketsuke.domain.failure import AttemptFailed, ErrorClass
from uketsuke.domain.lane import Capability, ProviderName
from uketsuke.domain.vectors import pack
from uketsuke.kinds.registry import KINDS
from uketsuke.providers.needs import needs_of
from uketsuke.providers.port import Answer, Audio, CallContext
from uketsuke.providers.workers_ai import WorkersAi
from uketsuke.services.ports.ai import AudioForm, AudioInput
from uketsuke.settings import read_settings

pytestmark = pytest.mark.anyio

SOUND: Final = b"RIFF....WAVE"
AUDIO: Final = Audio(
    object_key="a", bytes=len(SOUND), content_type="audio/wav", filename="audio.wav"
)
CONTEXT: Final = CallContext(
    idempotency_key="job_1.piece-1.0", timeout=timedelta(seconds=9), traceparent=None
)
NOVA: Final = "@cf/deepgram/nova-3"
LARGE: Final = "@cf/openai/whisper-large-v3-turbo"
SMALL: Final = "@cf/openai/whisper"
WORDS: Final = [
    {"word": "good", "punctuated_word": "Good", "start": 0.1, "end": 0.4},
    {"word": "morning", "punctuated_word": "morning.", "start": 0.5, "end": 0.9},
    {"word": "thanks", "punctuated_word": "Thanks.", "start": 2.0, "end": 2.5},
]
HEARD: Final = [
    {"start": 0.1, "end": 0.9, "text": "Good morning."},
    {"start": 2.0, "end": 2.5, "text": "Thanks."},
]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@dataclass
class ScriptedAi:
    """``services.ports.ai.AiBinding`` that answers as the test says."""

    answer: object
    asked: list[tuple[str, Mapping[str, object], AudioInput | None, Mapping[str, object]]] = field(
        default_factory=list
    )

    async def run(
        self,
        model: str,
        inputs: Mapping[str, object],
        *,
        audio: AudioInput | None,
        options: Mapping[str, object],
        timeout: timedelta,
    ) -> object:
        assert timeout == CONTEXT.timeout
        self.asked.append((model, inputs, audio, options))
        return self.answer


def provider(ai: ScriptedAi, *, gateway: str = "") -> WorkersAi:
    blobs = MemoryBlobs({"a": SOUND})
    return WorkersAi(ai=ai, blobs=blobs, clock=StillClock(), gateway=gateway)


async def chat(answer: object, *, gateway: str = "") -> tuple[Answer, ScriptedAi]:
    ai = ScriptedAi(answer)
    told = await provider(ai, gateway=gateway).chat(
        model="@cf/m", system="be brief", user="text", max_output_tokens=50, context=CONTEXT
    )
    return told, ai


async def hear(
    answer: object,
    *,
    model: str = LARGE,
    audio: Audio = AUDIO,
    language: str | None = None,
    gateway: str = "",
) -> tuple[Answer, ScriptedAi]:
    ai = ScriptedAi(answer)
    told = await provider(ai, gateway=gateway).transcribe(
        model=model, audio=audio, language=language, context=CONTEXT
    )
    return told, ai


def nova(*words: object, transcript: object = "Good morning. Thanks.", **more: object) -> Any:
    best = {"transcript": transcript, "words": list(words)}
    return {"results": {"channels": [{"alternatives": [best], **more}]}}


async def test_a_chat_is_asked_for_and_read_with_what_it_used() -> None:
    usage = {"prompt_tokens": 12, "completion_tokens": 3}

    answer, ai = await chat({"response": " Short. ", "usage": usage})

    ((model, inputs, audio, options),) = ai.asked
    assert (model, inputs["max_tokens"], inputs["stream"]) == ("@cf/m", 50, False)
    assert inputs["messages"] == [
        {"role": "system", "content": "be brief"},
        {"role": "user", "content": "text"},
    ]
    assert (audio, options) == (None, {})
    assert (answer.value, answer.model) == ("Short.", "@cf/m")
    assert (answer.input_tokens, answer.output_tokens) == (12, 3)


async def test_newer_models_answer_in_openais_shape() -> None:
    choice = {"finish_reason": "stop", "message": {"content": "Short."}}

    answer, _ = await chat({"id": "c-1", "model": "@cf/q", "choices": [choice]})

    assert (answer.value, answer.model, answer.request_id) == ("Short.", "@cf/q", "c-1")


async def test_a_gateway_is_told_the_job_and_nothing_else() -> None:
    _, ai = await chat({"response": "Short."}, gateway="g")

    ((_, _, _, options),) = ai.asked
    assert options == {"gateway": {"id": "g", "skipCache": True, "metadata": {"job": "job_1"}}}


@pytest.mark.parametrize(
    "answer",
    [
        None,
        "text",
        [],
        {},
        {"response": {"json": 1}},
        {"response": " "},
        {"response": "half a \ud800 character"},
        {"choices": []},
        # As long as it may be: it was cut off there.
        {"response": "Text that", "usage": {"completion_tokens": 50}},
    ],
)
async def test_an_answer_that_cannot_be_used_may_be_better_next_time(answer: object) -> None:
    with pytest.raises(AttemptFailed) as failed:
        await chat(answer)

    assert failed.value.failure.code == "provider_answer_unusable"


async def test_vectors_come_back_in_the_order_of_the_texts() -> None:
    ai = ScriptedAi({"shape": [2, 2], "data": [[1, 1.5], [2, 2.5]], "pooling": "cls"})

    answer = await provider(ai).embed(model="@cf/e", texts=["a", "b"], context=CONTEXT)

    assert answer.value == pack([[1.0, 1.5], [2.0, 2.5]])
    assert ai.asked[0][1] == {"text": ["a", "b"]}


@pytest.mark.parametrize(
    "data", [None, [], [[1]], [[1], [1, 2]], [[], []], [["x"], [1]], [[float("nan")], [1]]]
)
async def test_vectors_that_do_not_fit_the_texts_are_refused(data: object) -> None:
    with pytest.raises(AttemptFailed) as failed:
        await provider(ScriptedAi({"data": data})).embed(
            model="@cf/e", texts=["a", "b"], context=CONTEXT
        )

    assert failed.value.failure.code == "provider_answer_unusable"


async def test_the_large_whisper_gets_its_recording_whole_and_tells_segments() -> None:
    about = {"language": "en", "duration": 3.5}
    heard = {"text": "Good morning. Thanks.", "segments": HEARD, "transcription_info": about}

    answer, ai = await hear(heard, language="en")

    ((_, inputs, audio, _),) = ai.asked
    assert inputs == {"task": "transcribe", "vad_filter": True, "language": "en"}
    assert audio is not None
    assert (audio.form, audio.content_type) == (AudioForm.BASE64, "audio/wav")
    assert answer.value == {
        "text": "Good morning. Thanks.",
        "language": "en",
        "segments": HEARD,
        "duration_seconds": 3.5,
    }
    assert answer.audio_ms == 3500


async def test_nova_gets_a_stream_past_the_gateway_and_its_words_become_segments() -> None:
    answer, ai = await hear(nova(*WORDS, detected_language="en"), model=NOVA, gateway="g")

    ((_, inputs, audio, options),) = ai.asked
    assert inputs == {"punctuate": True, "detect_language": True}
    assert audio is not None
    assert audio.form is AudioForm.STREAM
    assert options == {}
    assert answer.value["segments"] == HEARD
    assert (answer.value["language"], answer.audio_ms) == ("en", 2500)


async def test_who_never_pauses_is_cut_all_the_same() -> None:
    words = [{"word": "on", "start": second, "end": second + 1} for second in range(70)]

    answer, _ = await hear(nova(*words), model=NOVA)

    assert [segment["start"] for segment in answer.value["segments"]] == [0, 30, 60]


async def test_japanese_words_are_joined_as_they_are_written() -> None:
    words = [
        {"word": "今日", "start": 0, "end": 0.4},
        {"word": "は", "start": 0.4, "end": 0.5},
    ]

    answer, ai = await hear(nova(*words, transcript="今日は"), model=NOVA, language="ja")

    assert ai.asked[0][1] == {"punctuate": True, "language": "ja"}
    assert [segment["text"] for segment in answer.value["segments"]] == ["今日は"]


async def test_a_small_whisper_gets_numbers_and_has_words_or_nothing() -> None:
    timed, ai = await hear(
        {"text": "good morning thanks", "words": [dict(word) for word in WORDS]}, model=SMALL
    )
    bare, _ = await hear({"text": "good morning"}, model=SMALL, language="en")

    assert ai.asked[0][1] == {}
    assert ai.asked[0][2] is not None
    assert ai.asked[0][2].form is AudioForm.NUMBERS
    assert timed.value["segments"] == HEARD
    assert (bare.value["segments"], bare.value["language"], bare.audio_ms) == ([], "en", None)


@pytest.mark.parametrize(
    ("model", "answer"),
    [
        (LARGE, {}),
        (SMALL, {"text": "a", "words": [{"word": "a"}, {"word": "b"}]}),
        (SMALL, {"text": "a", "words": [1]}),
        (NOVA, {}),
        (NOVA, {"results": {"channels": []}}),
        (NOVA, nova("x")),
        (NOVA, nova(transcript=None)),
    ],
)
async def test_a_transcript_that_cannot_be_read_may_be_better_next_time(
    model: str, answer: object
) -> None:
    with pytest.raises(AttemptFailed) as failed:
        await hear(answer, model=model)

    assert failed.value.failure.code == "provider_answer_unusable"


@pytest.mark.parametrize(("model", "most"), [(LARGE, 4_194_304), (SMALL, 1_048_576)])
async def test_what_must_be_sent_whole_has_a_limit(model: str, most: int) -> None:
    await hear({"text": "a"}, model=model, audio=replace(AUDIO, bytes=most))

    with pytest.raises(AttemptFailed) as failed:
        await hear({"text": "a"}, model=model, audio=replace(AUDIO, bytes=most + 1))

    assert failed.value.failure.error_class is ErrorClass.TOO_LARGE


async def test_a_model_that_cannot_hear_is_not_asked_to() -> None:
    with pytest.raises(AttemptFailed) as failed:
        await hear({"text": "a"}, model="@cf/meta/llama")

    assert failed.value.failure.code == "model_not_found"


@pytest.mark.parametrize(
    ("variables", "needs"),
    [
        ({}, {"MODEL_BASE_URL", "MODEL_API_KEY"}),
        ({"CHAT_MODEL": "workers_ai/@cf/m"}, {"MODEL_BASE_URL", "MODEL_API_KEY", "AI"}),
        (
            {f"{capability.upper()}_MODEL": "workers_ai/@cf/m" for capability in Capability},
            {"AI"},
        ),
    ],
)
async def test_a_deployment_needs_what_the_models_of_its_kinds_need(
    variables: Mapping[str, str], needs: set[str]
) -> None:
    assert needs_of(read_settings(variables), KINDS.values()) == needs


async def test_every_provider_says_what_it_needs() -> None:
    for name in ProviderName:
        models = {f"{capability.upper()}_MODEL": f"{name}/m" for capability in Capability}
        assert needs_of(read_settings(models), KINDS.values())
