"""A lane: a provider and one of its models. Whoever is turned away there, others would be too."""

from __future__ import annotations

from enum import StrEnum
from typing import Final, NamedTuple


class Capability(StrEnum):
    """What a model can be asked for."""

    CHAT = "chat"
    EMBED = "embed"
    TRANSCRIBE = "transcribe"


class ProviderName(StrEnum):
    """The providers that there is an adapter for."""

    OPENAI_COMPATIBLE = "openai_compatible"
    WORKERS_AI = "workers_ai"


class Lane(NamedTuple):
    """A model at its provider, under the name by which the provider knows it."""

    provider: ProviderName
    model: str

    def __str__(self) -> str:
        return f"{self.provider}/{self.model}"


def parse_lane(text: str) -> Lane:
    """Read ``provider/model``; a model alone is the OpenAI-compatible provider's.

    Models' own names may hold slashes and colons (``@cf/meta/llama``, ``llama3:8b``). Raises
    ``ValueError`` if there is no model.
    """
    head, slash, rest = text.partition("/")
    known = slash and head in _PROVIDERS
    lane = Lane(
        ProviderName(head) if known else ProviderName.OPENAI_COMPATIBLE, rest if known else text
    )
    if not lane.model.strip():
        raise ValueError("a lane needs a model")
    return lane


_PROVIDERS: Final = frozenset(ProviderName)
