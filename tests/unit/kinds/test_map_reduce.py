"""Texts within a model's context: pieces, answers and joins always fit, however small it is."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.kinds.test_kinds import ScriptedWork
from uketsuke.domain.failure import AttemptFailed, ErrorClass
from uketsuke.domain.tokens import estimate_tokens
from uketsuke.kinds.kind import Chat
from uketsuke.kinds.map_reduce import cut_to_fit, room_for
from uketsuke.kinds.summarize import SummarizeParams, run

pytestmark = pytest.mark.anyio
ENGLISH = "One more sentence of the long story. "
JAPANESE = "もう一つの文がここにある。"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def tokens_of(call: Chat) -> int:
    return estimate_tokens(call.system) + estimate_tokens(call.user) + call.max_output_tokens


@pytest.mark.parametrize("context", [1024, 2000, 4096, 32_768])
@pytest.mark.parametrize("sentence", [ENGLISH, JAPANESE], ids=["English", "Japanese"])
@pytest.mark.parametrize("max_words", [10, 120, 1000])
async def test_every_call_fits_into_the_context(
    context: int, sentence: str, max_words: int
) -> None:
    # An answer as long as the model may make it: real tokens, which the estimate overstates.
    work = ScriptedWork(sentence * 900, context_tokens=context, answer="Short answer.")

    result = await run(work, SummarizeParams(max_words=max_words))

    assert result["summary"] == "Short answer."
    assert max(map(tokens_of, work.asked)) <= context
    assert work.seen[-1] == (len(work.asked), len(work.asked))


async def test_a_text_of_more_pieces_than_a_run_has_steps_for_is_too_large() -> None:
    work = ScriptedWork(JAPANESE * 70_000, context_tokens=1024)

    with pytest.raises(AttemptFailed) as failed:
        await run(work, SummarizeParams())

    assert failed.value.failure.error_class is ErrorClass.TOO_LARGE
    assert work.asked == []


@given(words=st.integers(1, 1000), context=st.integers(1024, 200_000))
def test_summaries_as_long_as_they_may_be_fit_into_the_call_that_joins_them(
    words: int, context: int
) -> None:
    room = room_for(words, context=context)

    assert room.at_once >= 2
    assert room.words <= words
    assert room.at_once * (room.answer + 2) <= max(room.text, 2 * (room.answer + 2))
    assert 2 * (room.answer + 2) + room.answer < context


@given(text=st.text(max_size=300), tokens=st.integers(4, 80))
def test_pieces_are_within_their_tokens_and_lose_nothing(text: str, tokens: int) -> None:
    spans = cut_to_fit(text, tokens=tokens)

    assert all(estimate_tokens(text[start:end]) <= tokens for start, end in spans)
    kept = "".join(text[start:end] for start, end in spans)
    assert "".join(kept.split()) == "".join(text.split())


def test_pieces_end_where_sentences_do_in_both_languages() -> None:
    for sentence, end in ((ENGLISH, "."), (JAPANESE, "。")):
        text = sentence * 200
        pieces = [text[start:stop] for start, stop in cut_to_fit(text, tokens=500)]

        assert len(pieces) > 2
        assert all(piece.endswith(end) for piece in pieces)


async def test_a_smaller_context_asks_for_fewer_words_than_were_wished_for() -> None:
    work = ScriptedWork(ENGLISH, context_tokens=1024)

    await run(work, SummarizeParams(max_words=1000))

    assert "at most 64 words" in work.asked[0].system
    assert work.asked[0].max_output_tokens == 256


@dataclass
class SmallModel(ScriptedWork):
    """A model that takes fewer characters than its configuration says."""

    most: int = 1500

    async def chat(self, call: Chat) -> str:
        answer = await super().chat(call)
        if len(call.user) > self.most:
            raise AttemptFailed(ErrorClass.TOO_LARGE, "input_too_large")
        return answer


async def test_a_piece_that_the_model_finds_too_large_goes_in_halves() -> None:
    text = (ENGLISH * 130)[:4400]
    work = SmallModel(text, answer="Short answer.")

    result = await run(work, SummarizeParams())

    steps = [call.step for call in work.asked]
    assert steps == [
        "piece-1", "piece-1.1", "piece-1.1.1", "piece-1.1.2", "piece-1.1.join",
        "piece-1.2", "piece-1.2.1", "piece-1.2.2", "piece-1.2.join", "piece-1.join",
    ]  # fmt: skip
    assert result["summary"] == "Short answer."


async def test_a_text_that_stays_too_large_fails_after_two_halvings() -> None:
    work = SmallModel(ENGLISH * 100, most=10)

    with pytest.raises(AttemptFailed) as failed:
        await run(work, SummarizeParams())

    assert failed.value.failure.code == "input_too_large"
    assert [call.step for call in work.asked] == ["piece-1", "piece-1.1", "piece-1.1.1"]
