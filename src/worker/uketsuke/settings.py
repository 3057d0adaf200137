"""What a deployment may set: one frozen value, read from the Worker's variables.

Every setting has a type, a default that suits production, and its unit in its name. All
mistakes are told at once, at the first event.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from types import MappingProxyType
from typing import Any, Final

from uketsuke.domain.lane import Capability, Lane, parse_lane
from uketsuke.domain.money import parse_usd
from uketsuke.domain.objective import (
    DEFAULT_OBJECTIVES,
    Objectives,
    parse_objectives,
    parse_receiver,
)
from uketsuke.domain.price import Price, Rates, Tariff, highest, rates_for
from uketsuke.domain.price_table import PRICE_TABLE


class BadSettings(Exception):
    """The deployment's variables do not make sense. The message lists every mistake."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """See ``NAMES`` for the variable behind each field."""

    lease: timedelta = timedelta(seconds=60)
    renew_every: timedelta = timedelta(seconds=20)
    attempt_limit: timedelta = timedelta(seconds=300)
    longest_run: timedelta = timedelta(hours=24)
    step_retries: int = 2
    event_limit: timedelta = timedelta(minutes=10)
    jobs_at_once: int = 6
    first_wake: timedelta = timedelta(seconds=60)
    longest_knock: timedelta = timedelta(minutes=15)
    retry_base: timedelta = timedelta(seconds=5)
    retry_cap: timedelta = timedelta(minutes=10)
    lane_spread: timedelta = timedelta(seconds=60)
    lane_memory: timedelta = timedelta(hours=1)
    park_throttled: timedelta = timedelta(seconds=5)
    park_throttled_cap: timedelta = timedelta(minutes=5)
    park_quota: timedelta = timedelta(minutes=10)
    park_quota_cap: timedelta = timedelta(hours=1)
    park_denied: timedelta = timedelta(minutes=1)
    park_denied_cap: timedelta = timedelta(hours=1)
    intake_database_timeout: timedelta = timedelta(seconds=5)
    intake_send_timeout: timedelta = timedelta(seconds=2)
    sweep_every: timedelta = timedelta(seconds=60)
    progress_every: timedelta = timedelta(seconds=2)
    keep_inputs: timedelta = timedelta(days=30)
    keep_results: timedelta = timedelta(days=30)
    triage_within: timedelta = timedelta(hours=72)
    expiring_within: timedelta = timedelta(hours=72)
    keep_dead_letters: timedelta = timedelta(days=90)
    objectives: Objectives = field(default_factory=lambda: DEFAULT_OBJECTIVES)
    alert_webhook_url: str = field(default="", repr=False)
    alert_remind: timedelta = timedelta(hours=4)
    alert_clear: timedelta = timedelta(minutes=10)
    alert_least_ended: int = 20
    inline_bytes: int = 4096
    max_body_bytes: int = 1_048_576
    max_text_bytes: int = 524_288
    max_upload_bytes: int = 100_000_000
    transcribe_max_bytes: int = 25_000_000
    chat_context_tokens: int = 32_768
    key_cache: timedelta = timedelta(seconds=30)
    default_max_attempts: int = 5
    default_deadline: timedelta = timedelta(hours=24)
    key_hash_secret: bytes = field(default=b"", repr=False)
    model_base_url: str = ""
    model_api_key: str = field(default="", repr=False)
    model_organization: str = ""
    model_project: str = ""
    ai_gateway_id: str = ""
    models: Mapping[Capability, Lane] = field(default_factory=lambda: _DEFAULT_MODELS)
    kind_models: Mapping[str, Mapping[Capability, Lane]] = field(default_factory=dict)
    prices: Mapping[Lane, Price] = field(default_factory=lambda: PRICE_TABLE)
    daily_budget_micros: int | None = None

    def lane_of(self, kind: str, capability: Capability) -> Lane:
        """Return the model that a kind asks: its own, or the one that all ask."""
        return self.kind_models.get(kind, {}).get(capability, self.models[capability])

    def rates_of(self, kind: str, capability: Capability) -> Rates | None:
        """Return what a kind's calls of one sort are billed by; None if the price is unknown."""
        return rates_for(self.prices.get(self.lane_of(kind, capability)), capability)

    def tariff(self, calls: Mapping[str, Collection[Capability]]) -> Tariff:
        """Return what the kinds are reckoned by ahead of their work, given what each calls."""
        rates = {
            kind: highest(self.rates_of(kind, capability) for capability in capabilities)
            for kind, capabilities in calls.items()
        }
        known = {kind: found for kind, found in rates.items() if found is not None}
        return Tariff(rates=known, daily_budget_micros=self.daily_budget_micros)


_DEFAULT_MODELS: Final[Mapping[Capability, Lane]] = MappingProxyType(
    {
        Capability.CHAT: parse_lane("extractive-e5"),
        Capability.EMBED: parse_lane("multilingual-e5-small"),
        Capability.TRANSCRIBE: parse_lane("whisper-base"),
    }
)
_SECONDS: Final = {
    "LEASE_SECONDS": "lease",
    "RENEW_EVERY_SECONDS": "renew_every",
    "ATTEMPT_LIMIT_SECONDS": "attempt_limit",
    "LONGEST_RUN_SECONDS": "longest_run",
    "EVENT_LIMIT_SECONDS": "event_limit",
    "FIRST_WAKE_SECONDS": "first_wake",
    "LONGEST_KNOCK_SECONDS": "longest_knock",
    "RETRY_BASE_SECONDS": "retry_base",
    "RETRY_CAP_SECONDS": "retry_cap",
    "LANE_SPREAD_SECONDS": "lane_spread",
    "LANE_MEMORY_SECONDS": "lane_memory",
    "PARK_THROTTLED_SECONDS": "park_throttled",
    "PARK_THROTTLED_CAP_SECONDS": "park_throttled_cap",
    "PARK_QUOTA_SECONDS": "park_quota",
    "PARK_QUOTA_CAP_SECONDS": "park_quota_cap",
    "PARK_DENIED_SECONDS": "park_denied",
    "PARK_DENIED_CAP_SECONDS": "park_denied_cap",
    "INTAKE_DATABASE_TIMEOUT_SECONDS": "intake_database_timeout",
    "INTAKE_SEND_TIMEOUT_SECONDS": "intake_send_timeout",
    "SWEEP_EVERY_SECONDS": "sweep_every",
    "PROGRESS_EVERY_SECONDS": "progress_every",
    "KEEP_INPUTS_SECONDS": "keep_inputs",
    "KEEP_RESULTS_SECONDS": "keep_results",
    "TRIAGE_WITHIN_SECONDS": "triage_within",
    "EXPIRING_WITHIN_SECONDS": "expiring_within",
    "KEEP_DEAD_LETTERS_SECONDS": "keep_dead_letters",
    "ALERT_REMIND_SECONDS": "alert_remind",
    "ALERT_CLEAR_SECONDS": "alert_clear",
    "KEY_CACHE_SECONDS": "key_cache",
}
# Less holds no instructions, a piece of text and its summary at once.
_LEAST_CONTEXT: Final = 1024
# The first wait of each, and the most that it doubles to.
_BACKOFFS: Final = (
    ("RETRY_BASE_SECONDS", "RETRY_CAP_SECONDS"),
    ("PARK_THROTTLED_SECONDS", "PARK_THROTTLED_CAP_SECONDS"),
    ("PARK_QUOTA_SECONDS", "PARK_QUOTA_CAP_SECONDS"),
    ("PARK_DENIED_SECONDS", "PARK_DENIED_CAP_SECONDS"),
)
_COUNTS: Final = {
    "JOBS_AT_ONCE": "jobs_at_once",
    "INLINE_BYTES": "inline_bytes",
    "STEP_RETRIES": "step_retries",
    "CHAT_CONTEXT_TOKENS": "chat_context_tokens",
    "TRANSCRIBE_MAX_BYTES": "transcribe_max_bytes",
    "ALERT_LEAST_ENDED": "alert_least_ended",
}
_TEXTS: Final = {
    "MODEL_BASE_URL": "model_base_url",
    "MODEL_API_KEY": "model_api_key",
    "MODEL_ORGANIZATION": "model_organization",
    "MODEL_PROJECT": "model_project",
    "AI_GATEWAY_ID": "ai_gateway_id",
}
_MODELS: Final = {
    "CHAT_MODEL": Capability.CHAT,
    "EMBED_MODEL": Capability.EMBED,
    "TRANSCRIBE_MODEL": Capability.TRANSCRIBE,
}
NAMES: Final = {
    **_SECONDS,
    **_COUNTS,
    **_TEXTS,
    **dict.fromkeys(_MODELS, "models"),
    "KIND_MODELS": "kind_models",
    "PRICES": "prices",
    "DAILY_BUDGET_USD": "daily_budget_micros",
    "ALERT_OBJECTIVES": "objectives",
    "ALERT_WEBHOOK_URL": "alert_webhook_url",
    "KEY_HASH_SECRET": "key_hash_secret",
}


def needs_nothing(_settings: Settings) -> frozenset[str]:
    return frozenset()


def read_settings(
    variables: Mapping[str, object],
    *,
    needs: Callable[[Settings], frozenset[str]] = needs_nothing,
) -> Settings:
    """Build the settings from the Worker's variables; absent ones keep their defaults.

    Raises ``BadSettings`` with every mistake; what the settings ``needs`` must be set too. Names
    that are not ours are left alone: bindings and other variables live beside them.
    """
    values: dict[str, Any] = {}
    mistakes: list[str] = []
    for name, field_name in NAMES.items():
        if name not in variables:
            continue
        try:
            value = _convert(name, str(variables[name]))
        except (ValueError, TypeError, AttributeError, KeyError, RecursionError):
            # Its value may be a secret that landed in the wrong place: only the name is told.
            mistakes.append(f"{name}: must be {_expected(name)}")
            continue
        if name in _MODELS:
            value = {**values.get(field_name, _DEFAULT_MODELS), _MODELS[name]: value}
        values[field_name] = value
    settings = Settings(**values)
    missing = (name for name in sorted(needs(settings)) if not variables.get(name))
    mistakes += [f"{name}: must be set" for name in missing]
    mistakes += _contradictions(settings)
    if mistakes:
        raise BadSettings("; ".join(mistakes))
    return settings


def _expected(name: str) -> str:
    if name in _SECONDS:
        return "a number of seconds above 0"
    if name in _MODELS:
        return "a model, or provider/model"
    return _EXPECTED.get(name, "a whole number of at least 1")


_EXPECTED: Final = {
    "KIND_MODELS": 'JSON like {"report": {"chat": "provider/model"}}',
    "PRICES": 'JSON like {"provider/model": {"input_per_million": "0.15", "output_per_million": '
    '"0.60", "as_of": "2026-11-01"}}',
    "DAILY_BUDGET_USD": 'dollars like "25" or "0.50"',
    "ALERT_OBJECTIVES": 'JSON like {"oldest_due_seconds": 600, "dead_letters_growth": null}',
    "ALERT_WEBHOOK_URL": "an https URL, or http on this very machine",
}


def _convert(name: str, text: str) -> object:
    if name in _SECONDS:
        seconds = float(text)
        if not 0 < seconds < 10**9:
            raise ValueError("must be a number of seconds above 0")
        return timedelta(seconds=seconds)
    if name in _COUNTS:
        count = int(text)
        if count < 1:
            raise ValueError("must be at least 1")
        return count
    if name in _MODELS:
        return parse_lane(text)
    return _CONVERTERS.get(name, str)(text)


def _kind_models(text: str) -> Mapping[str, Mapping[Capability, Lane]]:
    return {
        kind: {Capability(capability): parse_lane(lane) for capability, lane in models.items()}
        for kind, models in json.loads(text).items()
    }


_HIGHEST_PRICE: Final = parse_usd("1000000")


def _prices(text: str) -> Mapping[Lane, Price]:
    set_here = {parse_lane(lane): _price(**members) for lane, members in json.loads(text).items()}
    return {**PRICE_TABLE, **set_here}


def _price(
    *,
    as_of: str,
    input_per_million: str | None = None,
    output_per_million: str | None = None,
    audio_per_minute: str | None = None,
) -> Price:
    """Read one entry of ``PRICES``. It replaces the table's whole entry."""
    told = (input_per_million, output_per_million, audio_per_minute)
    put_in, out, minute = (None if usd is None else parse_usd(usd) for usd in told)
    if told == (None, None, None):
        raise ValueError("a price says what something costs")
    if max(put_in or 0, out or 0, minute or 0) > _HIGHEST_PRICE:
        raise ValueError("no model is as dear, and sums of such prices would fit no column")
    return Price(
        as_of=date.fromisoformat(as_of),
        source="PRICES",
        input_per_million=put_in,
        output_per_million=out,
        audio_per_minute=minute,
    )


_CONVERTERS: Final[Mapping[str, Callable[[str], object]]] = {
    "KIND_MODELS": _kind_models,
    "PRICES": _prices,
    "DAILY_BUDGET_USD": parse_usd,
    "ALERT_OBJECTIVES": parse_objectives,
    "ALERT_WEBHOOK_URL": parse_receiver,
    "KEY_HASH_SECRET": str.encode,
}


def _contradictions(settings: Settings) -> list[str]:
    found = []
    if settings.renew_every * 2 > settings.lease:
        found.append("RENEW_EVERY_SECONDS must be at most half of LEASE_SECONDS")
    if settings.chat_context_tokens < _LEAST_CONTEXT:
        found.append(f"CHAT_CONTEXT_TOKENS must be at least {_LEAST_CONTEXT}")
    for base, cap in _BACKOFFS:
        if getattr(settings, _SECONDS[base]) > getattr(settings, _SECONDS[cap]):
            found.append(f"{base} must not exceed {cap}")
    return found
