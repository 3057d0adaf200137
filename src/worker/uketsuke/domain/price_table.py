"""What well-known models cost, with the page that says so and when that was looked up.

Prices change: ``PRICES`` (docs/settings.md) overrides and extends this table.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from types import MappingProxyType
from typing import Final

from uketsuke.domain.lane import Lane, ProviderName
from uketsuke.domain.money import parse_usd
from uketsuke.domain.price import Price

_OPENAI: Final = "https://developers.openai.com/api/docs/pricing"
_WORKERS_AI: Final = "https://developers.cloudflare.com/workers-ai/platform/pricing/"

# model: dollars for a million tokens in and out; as of
_OPENAI_TOKENS: Final = (
    ("gpt-4o-mini", "0.15", "0.60", date(2026, 4, 6)),
    ("gpt-4o", "2.50", "10.00", date(2026, 4, 6)),
    ("gpt-4.1-mini", "0.40", "1.60", date(2026, 6, 21)),
    ("gpt-4.1", "2.00", "8.00", date(2026, 6, 21)),
    ("text-embedding-3-small", "0.02", None, date(2026, 6, 21)),
    ("text-embedding-3-large", "0.13", None, date(2026, 4, 6)),
)
_WORKERS_AI_TOKENS: Final = (
    ("@cf/meta/llama-3.1-8b-instruct", "0.282", "0.827", date(2025, 2, 25)),
    ("@cf/meta/llama-3.1-8b-instruct-fp8-fast", "0.045", "0.384", date(2025, 2, 25)),
    ("@cf/meta/llama-3.3-70b-instruct-fp8-fast", "0.293", "2.253", date(2025, 2, 25)),
    ("@cf/baai/bge-base-en-v1.5", "0.067", None, date(2025, 2, 25)),
    ("@cf/baai/bge-large-en-v1.5", "0.204", None, date(2025, 2, 25)),
)
# model: dollars for a minute of audio; as of
_OPENAI_AUDIO: Final = (("whisper-1", "0.006", date(2026, 4, 6)),)
_WORKERS_AI_AUDIO: Final = (
    ("@cf/openai/whisper", "0.0005", date(2025, 8, 27)),
    ("@cf/openai/whisper-large-v3-turbo", "0.0005", date(2025, 8, 27)),
)


def _table() -> dict[Lane, Price]:
    table = {}
    for provider, source, tokens, audio in (
        (ProviderName.OPENAI_COMPATIBLE, _OPENAI, _OPENAI_TOKENS, _OPENAI_AUDIO),
        (ProviderName.WORKERS_AI, _WORKERS_AI, _WORKERS_AI_TOKENS, _WORKERS_AI_AUDIO),
    ):
        for model, put_in, out, as_of in tokens:
            table[Lane(provider, model)] = Price(
                as_of=as_of,
                source=source,
                input_per_million=parse_usd(put_in),
                output_per_million=None if out is None else parse_usd(out),
            )
        for model, minute, as_of in audio:
            table[Lane(provider, model)] = Price(
                as_of=as_of, source=source, audio_per_minute=parse_usd(minute)
            )
    return table


PRICE_TABLE: Final[Mapping[Lane, Price]] = MappingProxyType(_table())
