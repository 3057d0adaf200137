"""The platform's own AI models, as its binding offers them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Protocol


class AudioForm(StrEnum):
    """How a model takes a recording: as a stream, or whole, written in one of two ways."""

    STREAM = "stream"
    BASE64 = "base64"
    NUMBERS = "numbers"


@dataclass(frozen=True, slots=True, kw_only=True)
class AudioInput:
    """A recording for a model's ``audio``; ``stream`` is what ``Blobs.stream`` gave."""

    stream: object
    content_type: str
    form: AudioForm


class AiRefused(Exception):
    """The binding raised. ``words`` are its own, and may quote: to be matched, never to be kept."""

    def __init__(self, words: str) -> None:
        super().__init__("the AI binding raised")
        self.words = words


class AiBinding(Protocol):
    """The binding's ``run``."""

    async def run(
        self,
        model: str,
        inputs: Mapping[str, object],
        *,
        audio: AudioInput | None,
        options: Mapping[str, object],
        timeout: timedelta,
    ) -> object:
        """Return the model's JSON answer. Raises ``TimeoutError`` and ``AiRefused``.

        None stands for an answer that is no JSON. The recording never crosses into Python. After a
        timeout the model may go on for nobody.
        """
        ...
