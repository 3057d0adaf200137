"""The sample texts are what the demo and the docs say they are."""

from __future__ import annotations

from uketsuke_local import samples


def test_the_articles_are_of_several_pages() -> None:
    english = samples.article(samples.ENGLISH_ARTICLE)
    japanese = samples.article(samples.JAPANESE_ARTICLE)

    assert 2_500 <= len(english.split()) <= 3_500
    assert 7_000 <= len(japanese) <= 9_000
    for text in (english, japanese):
        assert len(text.split("\n\n")) > 30
        assert "\x00" not in text


def test_each_question_has_a_nearest_passage_that_exists() -> None:
    passages = {passage.id: passage.text for passage in samples.passages()}
    questions = samples.questions()

    assert len(passages) == len(samples.passages()) == len(set(passages.values()))
    assert len(questions) >= 3
    for question in questions:
        assert question.nearest
        assert question.nearest <= passages.keys()


def test_the_passages_are_in_both_languages() -> None:
    japanese = [passage for passage in samples.passages() if not passage.text.isascii()]

    assert len(japanese) >= 10
    assert len(samples.passages()) - len(japanese) >= 10
