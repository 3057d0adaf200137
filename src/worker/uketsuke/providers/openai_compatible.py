"""Any server that speaks OpenAI's HTTP: what it is sent, and how it is waited for.

Routes as documented at platform.openai.com/docs/api-reference; vLLM, Ollama, LM Studio and AI
Gateway speak them too. ``openai_answers`` reads what comes back, ``openai_errors`` what goes wrong.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from uketsuke.providers import openai_answers as answers
from uketsuke.providers.embeddings import vectors_of
from uketsuke.providers.meaning import Fault, fault
from uketsuke.providers.multipart import form_around
from uketsuke.providers.openai_errors import refusal_of, refusal_within, wants_other_limit
from uketsuke.providers.port import Answer, Audio, CallContext
from uketsuke.providers.stored_audio import open_audio
from uketsuke.providers.told import told_name
from uketsuke.providers.transcript import audio_ms_of
from uketsuke.services.ports import (
    Blobs,
    Clock,
    HttpAnswer,
    HttpClient,
    StreamedBody,
    TooLarge,
    Unavailable,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAICompatible:
    """A provider by its base URL, as in ``https://host/v1``."""

    http: HttpClient
    blobs: Blobs
    clock: Clock
    base_url: str
    api_key: str
    organization: str = ""
    project: str = ""

    async def chat(
        self, *, model: str, system: str, user: str, max_output_tokens: int, context: CallContext
    ) -> Answer:
        """Ask a chat model once; the answer's value is its text.

        Other servers know only ``max_tokens``, newer models of OpenAI's only the other name: who
        refuses the first, which costs nothing, is asked again.
        """
        document: dict[str, object] = {
            "model": model,
            "messages": [
                {"role": "system", "content": system},
                {"role": "user", "content": user},
            ],
            "stream": False,
        }
        before = self.clock.monotonic()
        answer = await self._post(
            "chat/completions", {**document, "max_tokens": max_output_tokens}, context
        )
        if wants_other_limit(answer):
            spent = timedelta(seconds=self.clock.monotonic() - before)
            answer = await self._post(
                "chat/completions",
                {**document, "max_completion_tokens": max_output_tokens},
                _again(context, spent),
            )
        read = self._read(answer)
        return _answer(answers.text_of(read), answer, read)

    async def embed(self, *, model: str, texts: Sequence[str], context: CallContext) -> Answer:
        """Embed texts; the answer's value is their ``Vectors``, in the order of the texts."""
        document = {"model": model, "input": list(texts), "encoding_format": "float"}
        answer = await self._post("embeddings", document, context)
        read = self._read(answer)
        return _answer(vectors_of(read, count=len(texts)), answer, read)

    async def transcribe(
        self, *, model: str, audio: Audio, language: str | None, context: CallContext
    ) -> Answer:
        """Turn speech into text; the recording goes to the provider as it comes from the store."""
        fields = [("model", model), *_wanted(model)]
        fields += [("language", language)] if language is not None else []
        form = form_around(audio, fields=fields, seed=context.idempotency_key)
        stream = await open_audio(audio, self.blobs)
        body = StreamedBody(head=form.head, middle=stream, middle_bytes=audio.bytes, tail=form.tail)
        answer = await _sent(
            self.http.post_stream(
                f"{self.base_url}/audio/transcriptions",
                headers=self._headers(context, form.content_type),
                body=body,
                timeout=context.timeout,
            )
        )
        read = self._read(answer)
        heard = answers.transcription_of(read)
        return replace(_answer(heard, answer, read), audio_ms=audio_ms_of(heard))

    async def _post(
        self, route: str, document: Mapping[str, object], context: CallContext
    ) -> HttpAnswer:
        return await _sent(
            self.http.post(
                f"{self.base_url}/{route}",
                headers=self._headers(context, "application/json"),
                body=json.dumps(document, ensure_ascii=False).encode(),
                timeout=context.timeout,
            )
        )

    def _headers(self, context: CallContext, content_type: str) -> Mapping[str, str]:
        headers = {
            "authorization": f"Bearer {self.api_key}",
            "content-type": content_type,
            "idempotency-key": context.idempotency_key,
            "x-client-request-id": context.idempotency_key,
        }
        # platform.openai.com/docs/api-reference/authentication
        optional = {
            "openai-organization": self.organization,
            "openai-project": self.project,
            "traceparent": context.traceparent,
        }
        return headers | {name: value for name, value in optional.items() if value}

    def _read(self, answer: HttpAnswer) -> Mapping[str, Any]:
        if answer.status != 200:
            raise refusal_of(answer, now=self.clock.now())
        document = answers.json_object(answer)
        refused = refusal_within(answer, now=self.clock.now()) if "error" in document else None
        if refused is not None:
            raise refused
        return document


async def _sent(request: Awaitable[HttpAnswer]) -> HttpAnswer:
    try:
        return await request
    except TimeoutError:
        raise fault(Fault.TIMED_OUT) from None
    except Unavailable:
        raise fault(Fault.CONNECTION_LOST) from None
    except TooLarge:
        raise fault(Fault.TOO_LONG) from None


def _again(context: CallContext, spent: timedelta) -> CallContext:
    """Return the context of the second of two requests of one call: another body, another key."""
    return replace(
        context,
        idempotency_key=f"{context.idempotency_key}.again",
        timeout=max(context.timeout - spent, timedelta(milliseconds=10)),
    )


def _wanted(model: str) -> Sequence[tuple[str, str]]:
    """Ask for segments, of models that have them.

    OpenAI's newer ones give a text alone, and refuse to be asked for more
    (platform.openai.com/docs/api-reference/audio/createTranscription, ``response_format``).
    """
    if model.startswith("gpt-"):
        return [("response_format", "json")]
    return [("response_format", "verbose_json"), ("timestamp_granularities[]", "segment")]


def _answer(value: Any, answer: HttpAnswer, document: Mapping[str, Any]) -> Answer:
    input_tokens, output_tokens = answers.tokens_of(document)
    return Answer(
        value=value,
        model=told_name(document.get("model")),
        request_id=answers.request_id_of(answer, document),
        input_tokens=input_tokens,
        output_tokens=output_tokens,
    )
