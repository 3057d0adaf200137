"""What the console says: whole in both languages, and a word for each name that the API has.

A new state, road or act without its words fails here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from enum import StrEnum
from functools import lru_cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, Final

import pytest

import uketsuke.domain
from tests.console.modules import CONSOLE, run_module
from uketsuke.domain.lifecycle import JobState
from uketsuke.kinds.registry import KINDS

LANGUAGES: Final = ("en", "ja")
FILES: Final = sorted(path.name for path in (CONSOLE / "words").glob("*.js"))
Sentence = str | Mapping[str, str]


@lru_cache(maxsize=1)
def all_words() -> dict[str, dict[str, dict[str, dict[str, Sentence]]]]:
    """Return the words: by file, part, language and name."""
    script = """
    const found = {};
    for (const file of given.files) found[file] = { ...(await load(`words/${file}`)) };
    tell(found);
    """
    found: dict[str, dict[str, dict[str, dict[str, Sentence]]]] = run_module(script, files=FILES)
    return found


def forms(sentence: Sentence) -> Mapping[str, str]:
    return {"other": sentence} if isinstance(sentence, str) else sentence


def blanks(sentence: Sentence) -> set[str]:
    """Return what is filled in; the form for one may say the number itself."""
    return {name for form in forms(sentence).values() for name in re.findall(r"\{(\w+)\}", form)}


@pytest.mark.parametrize("file", FILES)
def test_each_sentence_is_said_in_both_languages(file: str) -> None:
    for part, words in all_words()[file].items():
        assert set(words) == set(LANGUAGES), part
        assert set(words["en"]) == set(words["ja"]), part
        for language, sentences in words.items():
            for name, sentence in sentences.items():
                said = forms(sentence)
                assert "other" in said, (part, language, name)
                assert set(said) <= {"one", "other"}, (part, language, name)
                assert all(form.strip() for form in said.values()), (part, language, name)


@pytest.mark.parametrize("file", FILES)
def test_both_languages_fill_in_the_same(file: str) -> None:
    for part, words in all_words()[file].items():
        unlike = {
            name
            for name, sentence in words["en"].items()
            if blanks(sentence) != blanks(words["ja"][name])
        }
        assert unlike == set(), part


@pytest.mark.parametrize("file", FILES)
def test_japanese_is_not_left_in_english(file: str) -> None:
    """A sentence of several words that is the same in both was forgotten."""
    for part, words in all_words()[file].items():
        same = {
            name
            for name, sentence in words["en"].items()
            if sentence == words["ja"][name] and " " in str(sentence)
        }
        assert same == set(), part


def test_each_list_of_names_is_one_that_the_api_has_and_whole() -> None:
    known = dict(api_names())
    for part, words in all_words()["names.js"].items():
        said = frozenset(words["en"])
        near = {name: said ^ names for name, names in known.items() if len(said & names) > 1}
        assert said in known.values(), f"{part} is none of the API's lists; the nearest: {near}"


def test_the_names_that_every_page_shows_have_words() -> None:
    known = dict(api_names())
    said = {frozenset(words["en"]) for words in all_words()["names.js"].values()}

    assert {known[name] for name in ("JobState", "kinds", "Action", "Overlap")} <= said


def api_names() -> Iterator[tuple[str, frozenset[str]]]:
    """Yield each closed list of names that answers may hold."""
    yield "kinds", frozenset(KINDS)
    yield "an occurrence's outcome", frozenset({"started", "skipped"})
    ended = {str(state) for state in JobState if state is not JobState.ACCEPTED}
    yield "what events say of an attempt's end", frozenset({*ended, "deferred"})
    for module in iter_modules(uketsuke.domain.__path__):
        for name, value in vars(import_module(f"uketsuke.domain.{module.name}")).items():
            if is_list(value):
                yield name, frozenset(value)


def is_list(value: Any) -> bool:
    return isinstance(value, type) and issubclass(value, StrEnum) and value is not StrEnum
