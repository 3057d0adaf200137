"""Cutting texts and guessing their language."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uketsuke.domain.language import guess_language
from uketsuke.domain.split import cut_text, sentences_in

texts = st.text(alphabet="ab.。\n 、」\t漢", max_size=300)


def pieces_of(text: str, *, size: int) -> list[str]:
    return [text[start:end] for start, end in cut_text(text, size=size)]


@given(text=texts, size=st.integers(1, 50))
def test_pieces_fit_and_lose_nothing_but_white_space(text: str, size: int) -> None:
    pieces = pieces_of(text, size=size)

    assert all(piece and len(piece) <= size for piece in pieces)
    assert re.sub(r"\s", "", "".join(pieces)) == re.sub(r"\s", "", text)


def test_a_text_is_cut_between_paragraphs_if_it_can_be() -> None:
    paragraphs = ["First one. " * 3, "Second one. " * 3, "Third one. " * 3]

    pieces = pieces_of("\n\n".join(paragraphs), size=50)

    assert pieces == [paragraph.strip() for paragraph in paragraphs]


def test_japanese_is_cut_after_its_sentences() -> None:
    text = "受付は朝九時に開く。「お待たせしました。」と係が言う。午後は混む。"

    pieces = pieces_of(text, size=16)

    assert pieces[0] == "受付は朝九時に開く。"
    assert all(piece[-1] in "。」" for piece in pieces[:1])


def test_a_text_without_any_break_is_cut_all_the_same() -> None:
    assert pieces_of("x" * 10, size=4) == ["xxxx", "xxxx", "xx"]


def test_a_line_of_dots_is_cut_in_no_time() -> None:
    # A hundred thousand of them: in quadratic time that took minutes.
    assert len(pieces_of("." * 100_000, size=100_000 - 1)) == 2


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("Version 2.5 costs $3.20. It is good!", ["Version 2.5 costs $3.20.", "It is good!"]),
        ('"Yes." he said?! No', ['"Yes."', "he said?!", "No"]),
        ("3.5円です。「はい。」と言う。", ["3.5円です。", "「はい。」", "と言う。"]),
        ("See www.example.com", ["See www.example.com"]),
        ("...", ["..."]),
    ],
)
def test_a_text_falls_into_its_sentences_and_nothing_of_it_gets_lost(
    text: str, sentences: list[str]
) -> None:
    assert sentences_in(text) == sentences


def test_a_piece_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one"):
        pieces_of("x", size=0)


@pytest.mark.parametrize(
    ("text", "tag"),
    [
        ("The desk is open and the queue of people is long.", "en"),
        ("駅の受付は朝の九時に開きます。", "ja"),
        ("车站的服务台早上九点开门。", "zh"),
        ("안내 데스크는 아침에 엽니다.", "ko"),
        ("Der Schalter ist offen und die Schlange ist lang.", "de"),
        ("Le guichet est ouvert et la file est dans la rue.", "fr"),
        ("La ventanilla está abierta y la cola es larga por el calor.", "es"),
        ("12345 67890", "und"),
        ("", "und"),
        ("qwertz uiop asdf", "und"),
    ],
)
def test_a_language_is_guessed_or_left_open(text: str, tag: str) -> None:
    assert guess_language(text) == tag
