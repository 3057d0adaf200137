"""What a call costs: prices, the figures of a use, and what is expected of one ahead.

A price or a figure that nobody knows makes a cost unknown, which is None and never 0. A known price
of 0 is 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Final, NamedTuple

from uketsuke.domain.lane import Capability

# Token prices are a million tokens', audio prices a minute's: both become whole parts of this.
_PARTS: Final = 3_000_000
_OF_TOKENS: Final = _PARTS // 1_000_000
_OF_AUDIO: Final = _PARTS // 60_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """A model's price in micro-dollars, as it was on a day; None is what the model is not sold by.

    ``source`` is the page that says so, or who set it.
    """

    as_of: date
    source: str
    input_per_million: int | None = None
    output_per_million: int | None = None
    audio_per_minute: int | None = None


class Rates(NamedTuple):
    """Micro-dollars for a million tokens in, a million out, and a minute of audio."""

    input: int
    output: int
    audio: int


_FREE: Final = Rates(0, 0, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """What a job, or a call, is expected to use at most. ``calls`` are those of models."""

    input_tokens: int = 0
    output_tokens: int = 0
    audio_ms: int = 0
    calls: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Tariff:
    """What a deployment reckons with: each kind's rates, where known, and its tenants' budget.

    ``daily_budget_micros`` is of a tenant that has none of its own; None is no bound.
    """

    rates: Mapping[str, Rates] = field(default_factory=dict)
    daily_budget_micros: int | None = None


NO_TARIFF: Final = Tariff()


def rates_for(price: Price | None, capability: Capability) -> Rates | None:
    """Return what a model's price means for one sort of call; None if it does not say."""
    if price is None:
        return None
    told: tuple[int | None, ...]
    match capability:
        case Capability.CHAT:
            told = (price.input_per_million, price.output_per_million, 0)
        case Capability.EMBED:
            told = (price.input_per_million, 0, 0)
        case Capability.TRANSCRIBE:
            told = (0, 0, price.audio_per_minute)
    if None in told:
        return None
    return Rates(*(rate or 0 for rate in told))


def highest(rates: Iterable[Rates | None]) -> Rates | None:
    """Return rates that none of the given ones exceeds; None if one is unknown.

    A kind that calls several sorts of model is reckoned by these ahead of its work; one that calls
    none costs nothing.
    """
    known = [_FREE]
    for one in rates:
        if one is None:
            return None
        known.append(one)
    return Rates(*map(max, zip(*known, strict=True)))


def cost_of(
    rates: Rates | None,
    *,
    input_tokens: int | None,
    output_tokens: int | None,
    audio_ms: int | None,
) -> int | None:
    """Return the micro-dollars of one call, rounded up; None if a figure that is billed is unknown.

    What costs nothing need not be known.
    """
    if rates is None:
        return None
    figures = ((rates.input, input_tokens), (rates.output, output_tokens), (rates.audio, audio_ms))
    if any(rate and figure is None for rate, figure in figures):
        return None
    return -(-_parts(rates, input_tokens or 0, output_tokens or 0, audio_ms or 0) // _PARTS)


def estimate(rates: Rates | None, expected: Expected) -> int | None:
    """Return the most that the expected calls cost; None if the price is unknown.

    Each call is rounded up by itself, so that several may cost as many micro-dollars more. The
    claiming statement reckons the same (``adapters.sql.cost_statements``).
    """
    if rates is None:
        return None
    parts = _parts(rates, expected.input_tokens, expected.output_tokens, expected.audio_ms)
    return parts // _PARTS + (expected.calls if parts else 0)


def _parts(rates: Rates, input_tokens: int, output_tokens: int, audio_ms: int) -> int:
    tokens = input_tokens * rates.input + output_tokens * rates.output
    return tokens * _OF_TOKENS + audio_ms * rates.audio * _OF_AUDIO


# What a model's own framing adds to each text, on the safe side.
FRAME_TOKENS: Final = 8


def tokens_in(size: int) -> int:
    """Return how many tokens a text of so many bytes may have, on the safe side.

    English has a token for every four bytes or so, Japanese for every three: half the bytes leaves
    room for numbers, names and code.
    """
    return -(-size // 2)
