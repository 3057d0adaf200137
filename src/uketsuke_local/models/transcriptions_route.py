"""``POST /v1/audio/transcriptions``: a recording to text; JSON, verbose JSON or plain text."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from typing import Final

from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from uketsuke_local.models.calls import Workshop
from uketsuke_local.models.names import SPEECH_MODELS
from uketsuke_local.models.speech_engine import Reading, Segment, Wishes
from uketsuke_local.models.wire import Refusal, json_response, unknown_model

_FORMATS: Final = ("json", "verbose_json", "text")


async def answer_transcriptions(shop: Workshop, request: Request) -> Response:
    try:
        async with request.form(max_files=1, max_fields=20) as form:
            _check_model(form)
            recording = await _recording(form)
            answer_format, wishes = _format(form), _wishes(form)
    except HTTPException as error:  # how Starlette says that the form is malformed
        raise Refusal(error.detail, code="invalid_form") from None

    engine, lane = shop.speech, shop.speech_lane
    with lane.place():
        _check_language(wishes.language, await lane.run(engine.languages))
        samples = await lane.run(partial(engine.decode, recording))
        reading = await lane.run(partial(engine.read, samples, wishes))
        segments: list[Segment] = []
        # The engine works while its segments are asked for, and fails there too.
        while (segment := await lane.run(partial(next, reading.segments, None))) is not None:
            segments.append(segment)
    return _transcription(answer_format, reading, segments)


def _check_model(form: FormData) -> None:
    model = _field(form, "model")
    if model is None:
        raise Refusal("The form has no 'model'.", code="invalid_value")
    if model not in SPEECH_MODELS:
        raise unknown_model(model, known=list(SPEECH_MODELS))


async def _recording(form: FormData) -> bytes:
    file = form.get("file")
    if not isinstance(file, UploadFile):
        raise Refusal("The form has no 'file'.", code="invalid_value")
    return await file.read()


def _format(form: FormData) -> str:
    answer_format = _field(form, "response_format") or "json"
    if answer_format not in _FORMATS:
        raise Refusal(
            f"'response_format' can be {', '.join(_FORMATS)}.", code="unsupported_parameter"
        )
    if (_field(form, "stream") or "").lower() in ("true", "1"):
        raise Refusal("'stream' is not supported here.", code="unsupported_parameter")
    if "word" in form.getlist("timestamp_granularities[]"):
        raise Refusal("Words have no timestamps here.", code="unsupported_parameter")
    return answer_format


def _wishes(form: FormData) -> Wishes:
    return Wishes(
        language=_field(form, "language"),
        prompt=_field(form, "prompt"),
        temperature=_temperature(_field(form, "temperature")),
    )


def _field(form: FormData, name: str) -> str | None:
    value = form.get(name)
    return value if isinstance(value, str) and value else None


def _temperature(written: str | None) -> float | None:
    if written is None:
        return None
    try:
        temperature = float(written)
    except ValueError:
        temperature = -1.0
    if not 0 <= temperature <= 1:
        raise Refusal("'temperature' is a number from 0 to 1.", code="invalid_value")
    return temperature


def _check_language(language: str | None, known: list[str]) -> None:
    if language is not None and language not in known:
        raise Refusal("'language' is no ISO 639-1 code that Whisper knows.", code="invalid_value")


def _transcription(answer_format: str, reading: Reading, segments: list[Segment]) -> Response:
    # Whisper's segments of languages without spaces are joined without them by its own tokens;
    # stripped here, they are joined as the language is written.
    glue = "" if reading.language in ("ja", "zh", "yue", "th") else " "
    text = glue.join(segment.text for segment in segments if segment.text)
    if answer_format == "text":
        return PlainTextResponse(f"{text}\n")
    if answer_format == "json":
        return json_response({"text": text})
    return json_response(
        {
            "task": "transcribe",
            "language": reading.language,
            "duration": reading.seconds,
            "text": text,
            "segments": [{"id": i, **asdict(s)} for i, s in enumerate(segments)],
        }
    )
