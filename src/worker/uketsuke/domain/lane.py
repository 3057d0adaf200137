"""A lane: a provider and one of its models. Whoever is turned away there, others would be too."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Park:
    """A parked lane, as a job meets it; ``opens_in`` may be over while another one probes.

    ``opened``: it was this job's own failure that parked it. ``leads``: it failed there last, and
    may ask again as soon as the time is over.
    """

    opens_in: timedelta
    opened: bool = False
    leads: bool = False


def wait_for_lane(park: Park, *, time_left: timedelta, spread: timedelta, draw: float) -> timedelta:
    """Return how long a job waits that was turned away from a parked lane.

    Whoever leads comes when the time is over. The others come ``spread`` over the time after it, so
    that the lane's opening is no storm; but in the first half of what is left to them until
    their deadline, so that the wait itself does not end them.
    """
    opens_in = max(park.opens_in, timedelta())
    if park.leads:
        return opens_in
    room = max(time_left - opens_in, timedelta())
    return opens_in + min(spread, room / 2) * draw
