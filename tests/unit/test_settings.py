"""A deployment's variables: defaults, conversions, and every mistake at once."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path

import pytest

from uketsuke.domain.lane import Capability
from uketsuke.settings import NAMES, BadSettings, Settings, read_settings


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


def test_no_secret_is_shown() -> None:
    shown = repr(read_settings({"KEY_HASH_SECRET": "hidden-1", "MODEL_API_KEY": "hidden-2"}))

    assert "hidden" not in shown


def test_every_variable_is_documented() -> None:
    page = (Path(__file__).parents[2] / "docs" / "settings.md").read_text()

    assert set(re.findall(r"^\| `([A-Z_]+)`", page, re.MULTILINE)) == set(NAMES)
