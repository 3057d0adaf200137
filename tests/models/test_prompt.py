"""What a prompt asks for is read as a person would read it."""

from __future__ import annotations

import pytest

from uketsuke_local.models.prompt import Assignment, read_assignment
from uketsuke_local.models.wire import ChatMessage, ContentPart, Refusal


def asked(instruction: str, text: str = "The text. It is short.") -> Assignment:
    return read_assignment(
        [
            ChatMessage(role="system", content=instruction),
            ChatMessage(role="user", content=text),
        ]
    )


@pytest.mark.parametrize(
    ("instruction", "words", "characters", "sentences"),
    [
        ("Summarize in at most 120 words.", 120, None, None),
        ("Write no more than 1,000 words.", 1_000, None, None),
        ("A 50-word summary, please.", 50, None, None),
        ("Use 50 to 80 words.", 80, None, None),
        ("Use at least 20 words and at most 60 words.", 60, None, None),
        ("The text has 3,000 words. Summarize it in 40 words or fewer.", 40, None, None),
        ("max_words: 75", 75, None, None),
        ("In at most 2 sentences and 300 characters.", None, 300, 2),
        ("200文字以内で要約してください。", None, 200, None),
        ("２００字以内で。", None, 200, None),
        ("3文で要約。", None, None, 3),
        ("150語以内で要約してください。", 150, None, None),
        ("Summarize the text.", 120, None, None),
    ],
)
def test_the_length_asked_for_is_understood(
    instruction: str, words: int | None, characters: int | None, sentences: int | None
) -> None:
    found = asked(instruction)

    assert (found.words, found.characters, found.sentences) == (words, characters, sentences)


@pytest.mark.parametrize(
    ("text", "characters"), [("An English text.", None), ("日本語の文章です。", 240)]
)
def test_a_bound_for_scripts_without_spaces_is_for_them_alone(
    text: str, characters: int | None
) -> None:
    instruction = "In at most 120 words (at most 240 characters where words are not spaced)."

    found = asked(instruction, text)

    assert (found.words, found.characters) == (120, characters)


@pytest.mark.parametrize(
    ("instruction", "bullets"),
    [
        ("As bullet points.", True),
        ("箇条書きでまとめてください。", True),
        ("As one paragraph, no bullets.", False),
        ("Summarize the text.", False),
    ],
)
def test_bullets_are_given_only_where_they_are_asked_for(instruction: str, bullets: bool) -> None:
    assert asked(instruction).bullets is bullets


def test_a_text_that_speaks_of_lengths_does_not_overrule_the_instruction() -> None:
    text = "Summaries of at most 5 words are too short.\nThe rest of the text is here."

    found = asked("Summarize in at most 90 words.", text)

    assert found.words == 90
    assert found.text == text


def test_the_first_line_of_an_only_message_may_be_the_instruction() -> None:
    message = ChatMessage(
        role="user", content="次の文章を50文字以内で要約してください。\n本文です。"
    )

    found = read_assignment([message])

    assert found.text == "本文です。"
    assert found.characters == 50


def test_an_only_message_without_an_instruction_is_all_text() -> None:
    text = "The first line.\nThe second line."

    assert read_assignment([ChatMessage(role="user", content=text)]).text == text


def test_text_parts_are_joined_and_other_parts_refused() -> None:
    parts = [ContentPart(type="text", text="One."), ContentPart(type="text", text="Two.")]
    image = [*parts, ContentPart(type="image_url")]

    assert read_assignment([ChatMessage(role="user", content=parts)]).text == "One.\nTwo."
    with pytest.raises(Refusal, match="Only text"):
        read_assignment([ChatMessage(role="user", content=image)])
