"""The transcription route hears speech, hears nothing in silence, and says when it cannot work.

``coffee.ogg`` was spoken by espeak-ng for this project. Where the weights were not brought, the
same calls must get the one clear error instead.
"""

from __future__ import annotations

import io
import wave
from pathlib import Path

import httpx
import pytest

from uketsuke_local.models import weights

SPEECH = Path(__file__).with_name("coffee.ogg").read_bytes()


def transcribe(http: httpx.Client, recording: bytes, **fields: str) -> httpx.Response:
    return http.post(
        "/v1/audio/transcriptions",
        files={"file": ("recording", recording)},
        data={"model": "whisper-base", **fields},
    )


def with_weights(response: httpx.Response, *, status: int) -> bool:
    """Whether the weights are here; checks the answer's status in both cases."""
    if weights.present(weights.directory()):
        assert response.status_code == status, response.text
        return True
    assert response.status_code == 503
    assert weights.COMMAND in response.json()["error"]["message"]
    return False


def test_speech_becomes_text_with_language_and_segments(http: httpx.Client) -> None:
    response = transcribe(http, SPEECH, response_format="verbose_json")

    if with_weights(response, status=200):
        heard = response.json()
        assert "your own coffee" in heard["text"]
        assert heard["language"] == "en"
        assert 4 < heard["duration"] < 5
        assert heard["text"] == " ".join(segment["text"] for segment in heard["segments"])
        assert all(s["start"] < s["end"] for s in heard["segments"])


def test_text_can_be_had_plain(http: httpx.Client) -> None:
    response = transcribe(http, SPEECH, response_format="text", language="en")

    if with_weights(response, status=200):
        assert response.headers["content-type"].startswith("text/plain")
        assert "your own coffee" in response.text


def test_silence_becomes_no_text(http: httpx.Client) -> None:
    response = transcribe(http, silent_wav(seconds=2))

    if with_weights(response, status=200):
        assert response.json() == {"text": ""}


@pytest.mark.parametrize("recording", [b"", b"no audio at all" * 100, b"RIFF\0\0\0\0WAVEfmt "])
def test_what_is_no_audio_is_refused(http: httpx.Client, recording: bytes) -> None:
    response = transcribe(http, recording)

    if with_weights(response, status=400):
        assert response.json()["error"]["code"] == "invalid_file"


def test_an_unknown_language_is_refused(http: httpx.Client) -> None:
    response = transcribe(http, SPEECH, language="elvish")

    if with_weights(response, status=400):
        assert response.json()["error"]["code"] == "invalid_value"


@pytest.mark.parametrize(
    ("fields", "status", "code"),
    [
        ({"model": "whisper-large"}, 404, "model_not_found"),
        ({"model": ""}, 400, "invalid_value"),
        ({"response_format": "vtt"}, 400, "unsupported_parameter"),
        ({"stream": "true"}, 400, "unsupported_parameter"),
        ({"timestamp_granularities[]": "word"}, 400, "unsupported_parameter"),
        ({"temperature": "hot"}, 400, "invalid_value"),
    ],
)
def test_what_cannot_be_done_is_refused_with_or_without_weights(
    http: httpx.Client, fields: dict[str, str], status: int, code: str
) -> None:
    response = transcribe(http, SPEECH, **fields)

    assert response.status_code == status
    assert response.json()["error"]["code"] == code


def test_a_form_without_a_file_is_refused(http: httpx.Client) -> None:
    response = http.post("/v1/audio/transcriptions", data={"model": "whisper-base"})

    assert response.status_code == 400
    assert "'file'" in response.json()["error"]["message"]


def test_a_recording_over_25_megabytes_is_refused(http: httpx.Client) -> None:
    response = transcribe(http, b"\0" * (26 * 1024 * 1024))

    assert response.status_code == 413


def silent_wav(*, seconds: int) -> bytes:
    written = io.BytesIO()
    with wave.open(written, "wb") as recording:
        recording.setnchannels(1)
        recording.setsampwidth(2)
        recording.setframerate(16_000)
        recording.writeframes(bytes(2 * 16_000 * seconds))
    return written.getvalue()
