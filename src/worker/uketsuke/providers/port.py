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
