"""A deployment's variables: defaults, conversions, and every mistake at once."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from pathlib import Path

import pytest

from uketsuke.domain.lane import Capability, parse_lane
from uketsuke.settings import NAMES, BadSettings, Settings, read_settings
from uketsuke_local.models.names import local_prices


def test_without_variables_the_defaults_hold() -> None:
    assert read_settings({}) == Settings()


def test_variables_are_converted_to_their_fields_types() -> None:
    settings = read_settings(
        {"LEASE_SECONDS": "7.5", "RENEW_EVERY_SECONDS": 2, "JOBS_AT_ONCE": 3, "OTHER": object()}
    )

    assert settings.lease == timedelta(seconds=7.5)
    assert settings.renew_every == timedelta(seconds=2)
    assert settings.jobs_at_once == 3


def test_every_mistake_is_told_at_once() -> None:
    mistaken = {"LEASE_SECONDS": "long", "JOBS_AT_ONCE": "0", "RETRY_BASE_SECONDS": "-1"}

    with pytest.raises(BadSettings) as told:
        read_settings(mistaken, needs=lambda _: frozenset({"KEY_HASH_SECRET"}))

    assert all(name in str(told.value) for name in (*mistaken, "KEY_HASH_SECRET"))


def test_settings_that_contradict_each_other_are_refused() -> None:
    with pytest.raises(BadSettings, match="RENEW_EVERY_SECONDS must be at most half"):
        read_settings({"LEASE_SECONDS": "10", "RENEW_EVERY_SECONDS": "9"})
    with pytest.raises(BadSettings, match="RETRY_BASE_SECONDS must not exceed"):
        read_settings({"RETRY_BASE_SECONDS": "1000"})
    with pytest.raises(BadSettings, match="CHAT_CONTEXT_TOKENS must be at least 1024"):
        read_settings({"CHAT_CONTEXT_TOKENS": "1023"})


def test_each_kind_may_have_models_of_its_own() -> None:
    settings = read_settings(
        {
            "CHAT_MODEL": "workers_ai/@cf/meta/llama",
            "KIND_MODELS": '{"report": {"chat": "meta-llama/Llama:8b"}}',
        }
    )

    assert settings.lane_of("summarize", Capability.CHAT) == ("workers_ai", "@cf/meta/llama")
    assert settings.lane_of("report", Capability.CHAT) == (
        "openai_compatible",
        "meta-llama/Llama:8b",
    )
    assert settings.lane_of("report", Capability.EMBED).model == "multilingual-e5-small"


@pytest.mark.parametrize(
    "mistaken",
    ["[]", "{", '{"report": {"sing": "m"}}', '{"report": "m"}', '{"report": {"chat": ""}}'],
)
def test_models_that_make_no_sense_are_refused(mistaken: str) -> None:
    with pytest.raises(BadSettings, match="KIND_MODELS: must be JSON"):
        read_settings({"KIND_MODELS": mistaken})


def test_prices_override_and_extend_the_table() -> None:
    prices = {
        "gpt-4o-mini": {"input_per_million": "1", "output_per_million": "2", "as_of": "2026-11-01"},
        "workers_ai/@cf/ours": {"audio_per_minute": "0.006", "as_of": "2026-11-02"},
    }
    models = {"CHAT_MODEL": "gpt-4o-mini", "TRANSCRIBE_MODEL": "workers_ai/@cf/ours"}
    settings = read_settings({"PRICES": json.dumps(prices), **models})

    assert settings.rates_of("summarize", Capability.CHAT) == (1_000_000, 2_000_000, 0)
    assert settings.rates_of("transcribe", Capability.TRANSCRIBE) == (0, 0, 6_000)
    assert settings.rates_of("embed", Capability.EMBED) is None
    assert settings.prices[parse_lane("gpt-4o")].input_per_million == 2_500_000


@pytest.mark.parametrize(
    "mistaken",
    [
        "[]",
        "{",
        '{"m": {}}',
        '{"m": {"as_of": "2026-11-01"}}',
        '{"m": {"input_per_million": "1"}}',
        '{"m": {"input_per_million": 1, "as_of": "2026-11-01"}}',
        '{"m": {"input_per_million": "-1", "as_of": "2026-11-01"}}',
        '{"m": {"input_per_million": "1", "as_of": "lately"}}',
        '{"m": {"input": "1", "as_of": "2026-11-01"}}',
        '{"m": {"input_per_million": "1e3", "as_of": "2026-11-01"}}',
        '{"m": {"input_per_million": "1000000.000001", "as_of": "2026-11-01"}}',
        '{"": {"input_per_million": "1", "as_of": "2026-11-01"}}',
    ],
)
def test_prices_that_make_no_sense_are_refused(mistaken: str) -> None:
    with pytest.raises(BadSettings, match="PRICES: must be JSON"):
        read_settings({"PRICES": mistaken})


def test_a_daily_budget_is_dollars() -> None:
    assert read_settings({"DAILY_BUDGET_USD": "25.5"}).daily_budget_micros == 25_500_000
    assert read_settings({}).daily_budget_micros is None
    with pytest.raises(BadSettings, match="DAILY_BUDGET_USD: must be dollars"):
        read_settings({"DAILY_BUDGET_USD": "lots"})


def test_kinds_are_reckoned_by_what_they_call() -> None:
    settings = read_settings({"CHAT_MODEL": "gpt-4o-mini", "EMBED_MODEL": "nobody-knows"})

    calls = {"summarize": {Capability.CHAT}, "embed": {Capability.EMBED}, "count-words": set()}
    tariff = settings.tariff(calls)

    # A kind that calls no model costs nothing, and is not held up where a budget binds.
    assert tariff.rates == {"summarize": (150_000, 600_000, 0), "count-words": (0, 0, 0)}


def test_the_local_models_are_free_and_known() -> None:
    settings = read_settings({"PRICES": json.dumps(local_prices())})

    for capability in Capability:
        assert settings.rates_of("any", capability) == (0, 0, 0)


def test_no_secret_is_shown() -> None:
    shown = repr(read_settings({"KEY_HASH_SECRET": "hidden-1", "MODEL_API_KEY": "hidden-2"}))

    assert "hidden" not in shown


def test_every_variable_is_documented() -> None:
    page = (Path(__file__).parents[2] / "docs" / "settings.md").read_text()

    assert set(re.findall(r"^\| `([A-Z_]+)`", page, re.MULTILINE)) == set(NAMES)
