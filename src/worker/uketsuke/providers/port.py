"""The port that every provider of models has: chat, embed, transcribe.

What a provider cannot do, or what goes wrong with it, is an ``AttemptFailed`` in our own words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class CallContext:
    """What goes with every call: who it is for, how long it may take, what trace it belongs to."""

    idempotency_key: str
    timeout: timedelta
    traceparent: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A model's answer and what it used; figures that the provider did not tell are None."""

    value: Any
    model: str | None
    request_id: str | None
    input_tokens: int | None = None
    output_tokens: int | None = None
    audio_ms: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Audio:
    """A recording in the object store: ``bytes`` long, its type found by its content.

    Providers tell the format by the end of ``filename``, so it is made up to fit the type.
    """

    object_key: str
    bytes: int
    content_type: str
    filename: str


class Provider(Protocol):
    """One provider. Every method makes one call and raises ``AttemptFailed`` and nothing else."""

    async def chat(
        self, *, model: str, system: str, user: str, max_output_tokens: int, context: CallContext
    ) -> Answer:
        """Ask a chat model once; the answer's value is its text."""
        ...

    async def embed(self, *, model: str, texts: Sequence[str], context: CallContext) -> Answer:
        """Embed texts; the answer's value is their ``Vectors``, in the order of the texts."""
        ...

    async def transcribe(
        self, *, model: str, audio: Audio, language: str | None, context: CallContext
    ) -> Answer:
        """Turn speech into text; ``language`` is an ISO 639-1 code, None lets the model find out.

        The answer's value is ``{"text", "language", "segments": [{"start", "end", "text"}],
        "duration_seconds"}``: times in seconds, ascending. Not every model tells everything:
        ``language`` and ``duration_seconds`` may be None, ``segments`` empty though there is text.
        Silence is a text that is empty. ``audio_ms`` is the duration, as far as it is known.
        """
        ...
