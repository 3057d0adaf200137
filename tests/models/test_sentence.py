"""Sentences are cut where a reader would cut them, in both languages, at any length."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uketsuke_local.models.room import Room, cut_to, word_count
from uketsuke_local.models.sentence import blocks, is_sentence, sentences

PIECES = [
    "a",
    "b. ",
    "e.g. ",
    "!",
    "。",
    "「",
    "」",
    "(",
    ")",
    "\n",
    "\n\n",
    "1. ",
    "…",
    "漢",
    "か",
    "😀",
    "\0",
]


def split(text: str) -> list[str]:
    return [sentence for block in blocks(text) for sentence in sentences(block)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Dr. Mori paid $3.5 million. He left.", ["Dr. Mori paid $3.5 million.", "He left."]),
        ("「はい。そうです」と言った。次の文。", ["「はい。そうです」と言った。", "次の文。"]),
        (
            "A line that was wrapped by hand at its end and\ngoes on. Then another.\n\nA new one.",
            [
                "A line that was wrapped by hand at its end and goes on.",
                "Then another.",
                "A new one.",
            ],
        ),
        (
            "四十字より長い行は途中で折り返されていることが多いので、次の行に続いて\nいると見る。",
            ["四十字より長い行は途中で折り返されていることが多いので、次の行に続いていると見る。"],
        ),
        ("Heading\nA sentence follows it.", ["Heading", "A sentence follows it."]),
    ],
)
def test_a_text_is_cut_into_its_sentences(text: str, expected: list[str]) -> None:
    assert split(text) == expected


def test_a_long_text_is_cut_the_same_way_as_a_short_one() -> None:
    sentence = "The queue accepts the work number {} at once and answers."
    expected = [sentence.format(n) for n in range(500)]

    assert split(" ".join(expected)) == expected


@given(st.lists(st.sampled_from(PIECES), max_size=80).map("".join))
def test_no_letter_is_lost_and_none_is_invented(text: str) -> None:
    letters = [c for c in text if c.isalpha()]

    assert [c for sentence in split(text) for c in sentence if c.isalpha()] == letters


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("This is a whole sentence.", True),
        ("これは一つの文である。", True),
        ("A heading of four words", False),
        ("Yes.", False),
        ("見出し", False),
    ],
)
def test_headings_and_fragments_are_no_sentences(text: str, expected: bool) -> None:
    assert is_sentence(text) is expected


def test_two_japanese_characters_count_as_a_word() -> None:
    assert word_count("three plain words") == 3
    assert word_count("四つの漢字。") == 3


@given(
    item=st.text(min_size=1, max_size=60),
    words=st.integers(1, 12),
    characters=st.integers(1, 40),
)
def test_a_cut_sentence_fits_and_ends_with_an_ellipsis(
    item: str, words: int, characters: int
) -> None:
    room = Room(words=words, characters=characters, sentences=1, tokens=100)

    cut = cut_to(item, room)

    assert room.fits(cut)
    assert cut.endswith("…")
