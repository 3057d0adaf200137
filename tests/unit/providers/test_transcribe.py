"""A recording on its way to an OpenAI-compatible server, and the transcript that comes back."""

from __future__ import annotations

import email.parser
import email.policy
import json
from dataclasses import dataclass, field, replace
from email.message import EmailMessage, MIMEPart
from typing import Any

import pytest

from tests.unit.providers.test_openai_compatible import CONTEXT, ScriptedHttp, StillClock, answering
from tests.unit.services.world import MemoryBlobs
from uketsuke.domain.failure import AttemptFailed, ErrorClass
from uketsuke.providers.openai_compatible import OpenAICompatible
from uketsuke.providers.port import Answer, Audio
from uketsuke.services.ports import StreamedBody

pytestmark = pytest.mark.anyio

SOUND = b"RIFF\r\n--\x00\xffWAVE"
AUDIO = Audio(
    object_key="uploads/a", bytes=len(SOUND), content_type="audio/wav", filename="audio.wav"
)
SEGMENTS = [
    {"id": 0, "start": 0, "end": 1.5, "text": " Good morning."},
    {"id": 1, "start": 1.5, "end": 3.25, "text": "To all."},
]
VERBOSE: dict[str, Any] = {
    "text": " Good morning. To all.",
    "language": "english",
    "duration": 4.5,
    "segments": SEGMENTS,
}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@dataclass
class Listener:
    """An adapter at a scripted server, with a store that holds the recording."""

    http: ScriptedHttp
    blobs: MemoryBlobs = field(default_factory=lambda: MemoryBlobs({"uploads/a": SOUND}))

    async def hear(
        self, *, model: str = "whisper-1", audio: Audio = AUDIO, language: str | None = None
    ) -> Answer:
        provider = OpenAICompatible(
            http=self.http,
            blobs=self.blobs,
            clock=StillClock(),
            base_url="http://ai/v1",
            api_key="k",
        )
        return await provider.transcribe(
            model=model, audio=audio, language=language, context=CONTEXT
        )

    async def sent(self, **asked: Any) -> tuple[dict[str, MIMEPart], StreamedBody]:
        """Return the parts of the form as a server would see them."""
        await self.hear(**asked)
        ((_, headers, body, _),) = self.http.calls
        whole = body.head + body.middle + body.tail
        assert body.length == len(whole)
        return parts_of(headers["content-type"], whole), body


def parts_of(content_type: str, body: bytes) -> dict[str, MIMEPart]:
    parser = email.parser.BytesParser(EmailMessage, policy=email.policy.HTTP)
    message = parser.parsebytes(f"Content-Type: {content_type}\r\n\r\n".encode() + body)
    return {
        str(part.get_param("name", header="content-disposition")): part
        for part in message.iter_parts()
    }


async def failure(document: object) -> AttemptFailed:
    with pytest.raises(AttemptFailed) as failed:
        await Listener(answering(document)).hear()
    return failed.value


async def test_the_form_holds_the_file_whole_and_asks_for_segments() -> None:
    parts, body = await Listener(answering(VERBOSE)).sent(language="ja")

    fields = {name: part.get_content() for name, part in parts.items() if name != "file"}
    assert fields == {
        "model": "whisper-1",
        "response_format": "verbose_json",
        "timestamp_granularities[]": "segment",
        "language": "ja",
    }
    assert parts["file"].get_payload(decode=True) == SOUND
    assert parts["file"].get_content_type() == "audio/wav"
    assert parts["file"].get_filename() == "audio.wav"
    assert body.middle is not None


async def test_the_language_is_left_to_the_model_unless_it_is_told() -> None:
    parts, _ = await Listener(answering(VERBOSE)).sent()

    assert "language" not in parts


async def test_models_that_give_a_text_alone_are_asked_for_no_more() -> None:
    parts, _ = await Listener(answering({"text": "Good."})).sent(model="gpt-4o-transcribe")

    assert parts["response_format"].get_content() == "json"
    assert "timestamp_granularities[]" not in parts


async def test_a_name_cannot_break_out_of_its_place() -> None:
    odd = replace(AUDIO, filename='a"\r\nX: y.wav')

    parts, _ = await Listener(answering(VERBOSE)).sent(audio=odd)

    assert parts["file"].get_filename() == "a%22%0D%0AX: y.wav"
    assert parts["file"].get("x") is None


@pytest.mark.parametrize(
    ("told", "tag"),
    [
        ("english", "en"),
        ("Japanese", "ja"),
        ("cantonese", "yue"),
        ("pt-BR", "pt-BR"),
        ("klingonish", None),
        ("\ud800", None),
        ("", None),
        (7, None),
    ],
)
async def test_the_language_that_was_heard_is_a_tag_or_nothing(
    told: object, tag: str | None
) -> None:
    answer = await Listener(answering({**VERBOSE, "language": told})).hear()

    assert answer.value["language"] == tag


async def test_a_transcript_is_read_with_its_times() -> None:
    answer = await Listener(answering(VERBOSE, headers={"x-request-id": "r-1"})).hear()

    assert answer.value == {
        "text": "Good morning. To all.",
        "language": "en",
        "duration_seconds": 4.5,
        "segments": [
            {"start": 0.0, "end": 1.5, "text": "Good morning."},
            {"start": 1.5, "end": 3.25, "text": "To all."},
        ],
    }
    assert (answer.audio_ms, answer.request_id) == (4500, "r-1")


@pytest.mark.parametrize(
    ("document", "seconds"),
    [
        ({"text": "Good.", "duration": "8.47"}, 8.47),
        ({"text": "Good.", "usage": {"type": "duration", "seconds": 9}}, 9),
        ({"text": "Good.", "segments": SEGMENTS}, 3.25),
        ({"text": "Good.", "usage": {"type": "tokens", "input_tokens": 14}}, None),
        ({"text": "", "segments": [], "duration": 2}, 2),
    ],
)
async def test_the_duration_is_found_where_a_server_tells_it(
    document: object, seconds: float | None
) -> None:
    answer = await Listener(answering(document)).hear()

    assert answer.value["duration_seconds"] == seconds
    assert answer.audio_ms == (None if seconds is None else round(seconds * 1000))


async def test_tokens_of_audio_are_read_under_their_own_names() -> None:
    usage = {"type": "tokens", "input_tokens": 14, "output_tokens": 45}

    answer = await Listener(answering({"text": "Good.", "usage": usage})).hear()

    assert (answer.input_tokens, answer.output_tokens) == (14, 45)


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"text": None},
        {"text": "half a \ud800 character"},
        {**VERBOSE, "duration": -1},
        {**VERBOSE, "duration": 1e308},
        {**VERBOSE, "duration": 10**6 + 1},
        {**VERBOSE, "duration": float("nan")},
        {**VERBOSE, "duration": "long"},
        {**VERBOSE, "duration": True},
        {**VERBOSE, "duration": [1]},
        {**VERBOSE, "segments": {}},
        {**VERBOSE, "segments": ["x"]},
        {**VERBOSE, "segments": [{"start": 0, "end": 1}]},
        {**VERBOSE, "segments": [{"start": 2, "end": 1, "text": "a"}]},
        {**VERBOSE, "segments": [{"end": 1, "text": "a"}]},
        {**VERBOSE, "segments": [{"start": float("inf"), "end": float("inf"), "text": "a"}]},
        {**VERBOSE, "segments": SEGMENTS[::-1]},
        {**VERBOSE, "duration": json.loads("1" + "0" * 400)},
    ],
)
async def test_a_transcript_that_cannot_be_true_is_refused(document: object) -> None:
    assert (await failure(document)).failure.code == "provider_answer_unusable"


async def test_a_recording_that_is_gone_is_not_sent() -> None:
    listener = Listener(answering(VERBOSE), MemoryBlobs())

    with pytest.raises(AttemptFailed) as failed:
        await listener.hear()

    assert (failed.value.failure.error_class, failed.value.failure.code) == (
        ErrorClass.NOT_FOUND,
        "input_gone",
    )
    assert listener.http.calls == []


async def test_a_store_that_is_away_may_be_back_later() -> None:
    with pytest.raises(AttemptFailed) as failed:
        await Listener(answering(VERBOSE), MemoryBlobs(away=True)).hear()

    assert failed.value.failure.code == "storage_unavailable"
