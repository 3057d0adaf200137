"""The kinds of job that this deployment knows. To add one, write its module and name it here."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from types import MappingProxyType
from typing import Final

from uketsuke.kinds import embed, report, summarize, transcribe
from uketsuke.kinds.kind import Kind

KINDS: Final[Mapping[str, Kind]] = MappingProxyType(
    {kind.name: kind for kind in (summarize.KIND, transcribe.KIND, embed.KIND, report.KIND)}
)
RUN_LIMITS: Final[Mapping[str, timedelta]] = MappingProxyType(
    {name: kind.run_limit for name, kind in KINDS.items()}
)
