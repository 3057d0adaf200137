"""Which variables and bindings a deployment's models need: those of the providers it uses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

from uketsuke.domain.lane import ProviderName
from uketsuke.kinds.kind import Kind
from uketsuke.settings import Settings

AI_BINDING: Final = "AI"
_NEEDS: Final[Mapping[ProviderName, frozenset[str]]] = MappingProxyType(
    {
        ProviderName.OPENAI_COMPATIBLE: frozenset({"MODEL_BASE_URL", "MODEL_API_KEY"}),
        ProviderName.WORKERS_AI: frozenset({AI_BINDING}),
    }
)


def needs_of(settings: Settings, kinds: Iterable[Kind]) -> frozenset[str]:
    """Return what must be set for the lanes that ``kinds`` ask, and for no others."""
    lanes = {settings.lane_of(kind.name, capability) for kind in kinds for capability in kind.calls}
    return frozenset[str]().union(*(_NEEDS[lane.provider] for lane in lanes))
