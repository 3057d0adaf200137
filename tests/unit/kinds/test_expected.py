"""What kinds expect at intake is never less than what their calls then set aside."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from tests.unit.kinds.test_kinds import ScriptedWork
from tests.unit.values import a_job
from uketsuke.domain.job import InputForm, InputPlace
from uketsuke.domain.price import Expected, Rates, estimate
from uketsuke.kinds.embed import EmbedParams
from uketsuke.kinds.expected import expect_by_size
from uketsuke.kinds.registry import KINDS
from uketsuke.kinds.report import ReportParams
from uketsuke.kinds.summarize import SummarizeParams
from uketsuke.providers.work import call_expects

pytestmark = pytest.mark.anyio
RATES = Rates(150_000, 600_000, 0)
ENGLISH = "One more sentence of a long story about a reception desk. "
JAPANESE = "受付は、長い話の中のもう一つの文である。"


def cost(expected: Expected) -> int:
    found = estimate(RATES, expected)
    assert found is not None
    return found


@pytest.mark.parametrize("sentence", [ENGLISH, JAPANESE])
@pytest.mark.parametrize("sentences", [1, 100, 5_000])
@pytest.mark.parametrize("max_words", [10, 120, 1000])
async def test_a_summary_expects_what_its_calls_do(
    sentence: str, sentences: int, max_words: int
) -> None:
    text = sentence * sentences
    params = SummarizeParams(max_words=max_words)
    # As long as the cap on the answer lets it be: four bytes a token.
    work = ScriptedWork(text, answer="word" * 4 * max_words)

    await KINDS["summarize"].run(work, params)

    whole = KINDS["summarize"].expects(InputForm.TEXT, len(text.encode()), params)
    calls = [call_expects([call.system, call.user], call.max_output_tokens) for call in work.asked]
    assert sum(map(cost, calls)) <= cost(whole)
    assert len(calls) <= whole.calls


@pytest.mark.parametrize("texts", [["a"] * 2048, [ENGLISH] * 100, [JAPANESE * 50] * 3])
async def test_embedding_expects_what_its_calls_do(texts: Sequence[str]) -> None:
    size = sum(len(text.encode()) for text in texts)
    calls = [texts[start : start + 64] for start in range(0, len(texts), 64)]

    whole = KINDS["embed"].expects(InputForm.TEXTS, size, EmbedParams())

    assert sum(cost(call_expects(asked, 0)) for asked in calls) <= cost(whole)


@pytest.mark.parametrize("sources", [1, 7, 50])
async def test_a_report_expects_what_its_calls_do(sources: int) -> None:
    refs = tuple(f"in_{number}" for number in range(sources))
    place = InputPlace(form=InputForm.REFS, bytes=sources * len(ENGLISH) * 200, refs=refs)
    texts = dict.fromkeys(refs, ENGLISH * 200)
    work = ScriptedWork("", answer="word" * 480, job=a_job(input=place), sources=texts)

    await KINDS["report"].run(work, ReportParams())

    whole = KINDS["report"].expects(InputForm.REFS, place.bytes, ReportParams())
    calls = [call_expects([call.system, call.user], call.max_output_tokens) for call in work.asked]
    assert sum(map(cost, calls)) <= cost(whole)


def test_a_recording_is_expected_to_be_as_long_as_the_thinnest_speech() -> None:
    expected = KINDS["transcribe"].expects(InputForm.REF, 120_000, None)

    assert (expected.audio_ms, expected.calls) == (60_000, 1)


@pytest.mark.parametrize("size", [0, 1, 10**8])
def test_a_kind_that_says_nothing_is_reckoned_by_its_size(size: int) -> None:
    params: Any = None

    expected = expect_by_size(InputForm.REF, size, params)

    assert expected.calls >= 1
    assert (expected.input_tokens, expected.audio_ms) == (-(-size // 2), size // 2)
