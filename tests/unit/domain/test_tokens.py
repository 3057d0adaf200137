"""The estimate of tokens: on the safe side of real vocabularies, and of its own parts."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from uketsuke.domain.tokens import estimate_tokens
from uketsuke_local.models import weights

ROOT = Path(__file__).parents[3]
SAMPLES = resources.files("uketsuke_local") / "samples"
WRITTEN = {
    "English": (SAMPLES / "harbour.en.txt").read_text(),
    "Japanese": (SAMPLES / "lost_property.ja.txt").read_text(),
    "German": "Straßenbahn fährt über die Brücke; Größe außergewöhnlich, Fußgängerüberweg. " * 9,
    "Thai": "ภาษาไทยเป็นภาษาที่สวยงาม" * 9,
    "rare characters": "鬱蒼麒麟齟齬𠮷" * 9,
    "pictures": "😀🎉👩‍👩‍👧‍👦🇯🇵" * 9,
    "Python": (ROOT / "src" / "uketsuke_local" / "stack.py").read_text(),
    "Markdown": (ROOT / "docs" / "schedules.md").read_text(),
    "JSON": json.dumps([{"index": n, "value": n * 1.5} for n in range(99)]),
}
_TEXT = st.text(max_size=40)


@given(first=_TEXT, second=_TEXT)
def test_a_text_is_no_more_than_its_parts_and_no_less_than_either(first: str, second: str) -> None:
    whole = estimate_tokens(first + second)

    assert whole <= estimate_tokens(first) + estimate_tokens(second)
    assert whole >= max(estimate_tokens(first), estimate_tokens(second))


@given(text=st.text(min_size=1))
def test_what_is_not_empty_has_a_token(text: str) -> None:
    assert 1 <= estimate_tokens(text) <= 4 * len(text)


@pytest.mark.parametrize("sample", WRITTEN)
def test_a_vocabulary_of_bytes_takes_no_more_tokens_than_estimated(sample: str) -> None:
    vocabulary = weights.directory() / "tokenizer.json"
    if not vocabulary.is_file():
        pytest.skip(f"the speech model's vocabulary is not here: {weights.COMMAND}")
    text = WRITTEN[sample]

    real = len(Tokenizer.from_file(str(vocabulary)).encode(text, add_special_tokens=False).ids)

    assert real <= estimate_tokens(text) <= 4 * real
