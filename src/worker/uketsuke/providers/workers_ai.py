"""Workers AI, the platform's own models, through the ``AI`` binding.

It knows no idempotency key: a call whose answer got lost is paid again when it is tried again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from uketsuke.domain.failure import AttemptFailed, ErrorClass
from uketsuke.providers import workers_ai_answers as answers
from uketsuke.providers.meaning import Fault, fault
from uketsuke.providers.openai_answers import tokens_of
from uketsuke.providers.port import Answer, Audio, CallContext
from uketsuke.providers.stored_audio import open_audio
from uketsuke.providers.told import told_name
from uketsuke.providers.transcript import audio_ms_of
from uketsuke.providers.workers_ai_errors import refusal_of
from uketsuke.services.ports import Blobs, Clock
from uketsuke.services.ports.ai import AiBinding, AiRefused, AudioForm, AudioInput

_Read = Callable[..., dict[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ear:
    """How a model that hears takes a recording, how long one it can have, and how it answers.

    A recording that must be written into the request whole lies several times in the isolate's
    128 MB, beside those of other jobs: hence limits far below the provider's.
    """

    form: AudioForm
    most_bytes: int | None
    read: _Read
    inputs: Mapping[str, object]


_WHISPER_SMALL: Final = _Ear(
    form=AudioForm.NUMBERS, most_bytes=1_048_576, read=answers.whisper_transcript_of, inputs={}
)
# By what a model's name begins with, the longest first. Sources: the models' input schemas at
# developers.cloudflare.com/workers-ai/models.
_EARS: Final[Mapping[str, _Ear]] = {
    "@cf/deepgram/nova-": _Ear(
        form=AudioForm.STREAM,
        most_bytes=None,
        read=answers.nova_transcript_of,
        inputs={"punctuate": True},
    ),
    "@cf/openai/whisper-large-": _Ear(
        form=AudioForm.BASE64,
        most_bytes=4_194_304,
        read=answers.whisper_transcript_of,
        # Without the filter, silence comes out as words.
        inputs={"task": "transcribe", "vad_filter": True},
    ),
    "@cf/openai/whisper-tiny-": _WHISPER_SMALL,
    "@cf/openai/whisper": _WHISPER_SMALL,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkersAi:
    """The provider. ``gateway`` is the id of the AI Gateway that calls pass; empty for none."""

    ai: AiBinding
    blobs: Blobs
    clock: Clock
    gateway: str = ""

    async def chat(
        self, *, model: str, system: str, user: str, max_output_tokens: int, context: CallContext
    ) -> Answer:
        """Ask a chat model once; the answer's value is its text."""
        inputs = {
            "messages": [
                {"role": "system", "content": system},
                {"role": "user", "content": user},
            ],
            "max_tokens": max_output_tokens,
            "stream": False,
        }
        answer = await self._run(model, inputs, context)
        return _answer(answers.text_of(answer, limit=max_output_tokens), answer, model)

    async def embed(self, *, model: str, texts: Sequence[str], context: CallContext) -> Answer:
        """Embed texts; the answer's value is their vectors, in the order of the texts."""
        answer = await self._run(model, {"text": list(texts)}, context)
        return _answer(answers.vectors_of(answer, count=len(texts)), answer, model)

    async def transcribe(
        self, *, model: str, audio: Audio, language: str | None, context: CallContext
    ) -> Answer:
        """Turn speech into text; what the model takes only whole has a limit of ours."""
        ear = _ear_of(model)
        if ear.most_bytes is not None and audio.bytes > ear.most_bytes:
            raise AttemptFailed(ErrorClass.TOO_LARGE, "input_too_large")
        stream = await open_audio(audio, self.blobs)
        answer = await self._run(
            model,
            {**ear.inputs, **_language(language, ear)},
            context,
            audio=AudioInput(stream=stream, content_type=audio.content_type, form=ear.form),
        )
        heard = ear.read(answer, language=language)
        return replace(_answer(heard, answer, model), audio_ms=audio_ms_of(heard))

    async def _run(
        self,
        model: str,
        inputs: Mapping[str, object],
        context: CallContext,
        *,
        audio: AudioInput | None = None,
    ) -> Mapping[str, Any]:
        # The binding refuses a stream on its way to a gateway.
        streamed = audio is not None and audio.form is AudioForm.STREAM
        try:
            answer = await self.ai.run(
                model,
                inputs,
                audio=audio,
                options={} if streamed else self._options(context),
                timeout=context.timeout,
            )
        except TimeoutError:
            raise fault(Fault.TIMED_OUT) from None
        except AiRefused as refused:
            raise refusal_of(
                refused.words, of_audio=audio is not None, now=self.clock.now()
            ) from None
        return answers.answer_object(answer)

    def _options(self, context: CallContext) -> Mapping[str, object]:
        if not self.gateway:
            return {}
        job = context.idempotency_key.partition(".")[0]
        # A cached answer that could not be used would come again at every try.
        return {"gateway": {"id": self.gateway, "skipCache": True, "metadata": {"job": job}}}


def _ear_of(model: str) -> _Ear:
    for name, ear in _EARS.items():
        if model.startswith(name):
            return ear
    raise AttemptFailed(ErrorClass.NOT_FOUND, "model_not_found")


def _language(language: str | None, ear: _Ear) -> Mapping[str, object]:
    if language is not None:
        return {} if ear.form is AudioForm.NUMBERS else {"language": language}
    return {"detect_language": True} if ear.form is AudioForm.STREAM else {}


def _answer(value: Any, answer: Mapping[str, Any], model: str) -> Answer:
    input_tokens, output_tokens = tokens_of(answer)
    return Answer(
        value=value,
        model=told_name(answer.get("model")) or model,
        request_id=told_name(answer.get("id")),
        input_tokens=input_tokens,
        output_tokens=output_tokens,
    )
