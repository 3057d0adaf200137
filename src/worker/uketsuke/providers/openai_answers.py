"""Answers in OpenAI's shapes, read: a text, a transcript, what was used."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from uketsuke.providers.meaning import Fault, fault
from uketsuke.providers.storable import storable
from uketsuke.providers.transcript import transcript_of
from uketsuke.services.ports import HttpAnswer

# Under these the call is found in the provider's own log, the best first: OpenAI and vLLM
# (platform.openai.com/docs/api-reference/debugging-requests), AI Gateway
# (developers.cloudflare.com/ai-gateway/observability/logging), Azure. Ollama sends none.
_REQUEST_IDS: Final = ("x-request-id", "cf-aig-log-id", "apim-request-id", "cf-ray")

_LONGEST_NAME: Final = 256
_MOST_TOKENS: Final = 10**9  # far beyond any model's context


def json_object(answer: HttpAnswer) -> Mapping[str, Any]:
    """Return an answer's document. A truncated one is no JSON either."""
    try:
        document = json.loads(answer.body)
    except (ValueError, RecursionError):
        raise fault(Fault.NOT_JSON) from None
    if not isinstance(document, dict):
        raise fault(Fault.NOT_JSON)
    return document


def request_id_of(answer: HttpAnswer, document: Mapping[str, Any]) -> str | None:
    found = (string(answer.headers.get(name)) for name in _REQUEST_IDS)
    return next(filter(None, found), None) or string(document.get("id"))


def text_of(document: Mapping[str, Any]) -> str:
    """Return the text of a chat completion's first choice."""
    try:
        choice = document["choices"][0]
        reason, message = choice.get("finish_reason"), choice["message"]
        text, refusal = message.get("content"), message.get("refusal")
    except (LookupError, TypeError, AttributeError):
        raise fault(Fault.NO_CHOICE) from None
    if reason == "content_filter":
        raise fault(Fault.FILTERED)
    if refusal:
        raise fault(Fault.REFUSED)
    if reason == "length":
        raise fault(Fault.CUT_OFF)
    if not isinstance(text, str) or not text.strip():
        raise fault(Fault.NO_TEXT)
    return storable(text, otherwise=Fault.NO_TEXT)


def transcription_of(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a transcription's value, from JSON or verbose JSON.

    Where no duration is told, what is billed for may tell it: ``{"type": "duration", "seconds"}``.
    """
    usage = _mapping(document.get("usage"))
    billed = usage.get("seconds") if usage.get("type") == "duration" else None
    duration = document.get("duration")
    return transcript_of(
        text=document.get("text"),
        language=document.get("language"),
        segments=document.get("segments"),
        duration=billed if duration is None else duration,
    )


def tokens_of(document: Mapping[str, Any]) -> tuple[int | None, int | None]:
    """Return the input's and the output's tokens; audio routes have names of their own."""
    usage = _mapping(document.get("usage"))
    came, went = (
        _count(usage.get("prompt_tokens", usage.get("input_tokens"))),
        _count(usage.get("completion_tokens", usage.get("output_tokens"))),
    )
    return came, went


def string(value: object) -> str | None:
    """Read a name as it may be stored; what is no name is as if it were not told."""
    fits = isinstance(value, str) and 0 < len(value) <= _LONGEST_NAME and value.isprintable()
    return str(value) if fits else None


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _count(value: object) -> int | None:
    """Read a figure. One that cannot be is not known: sums of such would fit no column."""
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if 0 <= value <= _MOST_TOKENS else None
