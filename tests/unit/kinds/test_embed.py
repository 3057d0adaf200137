"""embed's own work: its calls, their order, and a provider that changes in the middle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.kinds.test_kinds import ScriptedWork
from tests.unit.values import a_job
from uketsuke.domain.failure import AttemptFailed, ErrorClass
from uketsuke.domain.job import EncodedResult, Job
from uketsuke.domain.vectors import VECTORS_TYPE, pack, read_head, unpack
from uketsuke.kinds.embed import EmbedParams, run
from uketsuke.kinds.kind import Embeddings

OLD, NEW, OTHER = ("old", 2), ("new", 3), ("other", 3)
pytestmark = pytest.mark.anyio


@dataclass
class Embedding(ScriptedWork):
    """``kinds.kind.Work`` whose vectors begin with a text's number; ``of`` says what each call has.

    Each call that ``of`` does not name is answered as the last one of them.
    """

    of: Sequence[tuple[str, int]] = (("m", 3),)
    steps: dict[str, Sequence[str]] = field(default_factory=dict)
    job: Job = field(default_factory=lambda: a_job(attempt_no=2))

    async def embed(self, step: str, texts: Sequence[str]) -> Embeddings:
        assert step not in self.steps
        model, size = self.of[min(len(self.steps), len(self.of) - 1)]
        self.steps[step] = texts
        rows = [[float(text.split()[0])] * size for text in texts]
        return Embeddings(model=model, vectors=pack(rows))


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def numbered(count: int, *, words: str = "text") -> list[str]:
    return [f"{number} {words}" for number in range(count)]


def firsts(result: EncodedResult) -> list[float]:
    """Return each row's first number."""
    head = read_head(result.content)
    return list(unpack(result.content[head.start :])[:: head.dimensions])


async def test_vectors_keep_the_order_of_the_texts_over_several_calls() -> None:
    work = Embedding(numbered(150))

    result = await run(work, EmbedParams())

    assert result.content_type == VECTORS_TYPE
    head = read_head(result.content)
    assert (head.model, head.dimensions, head.count) == ("m", 3, 150)
    assert firsts(result) == [float(number) for number in range(150)]
    assert [len(texts) for texts in work.steps.values()] == [64, 64, 22]
    assert list(work.steps) == ["texts-0", "texts-64", "texts-128"]
    assert work.seen == [(0, 3), (1, 3), (2, 3), (3, 3)]


@given(lengths=st.lists(st.integers(1, 150_000), min_size=1, max_size=12))
async def test_calls_are_bounded_by_the_bytes_of_their_texts(lengths: list[int]) -> None:
    texts = [f"{number} ".ljust(length, "é") for number, length in enumerate(lengths)]
    work = Embedding(texts)

    result = await run(work, EmbedParams())

    assert firsts(result) == [float(number) for number in range(len(texts))]
    assert [text for call in work.steps.values() for text in call] == texts
    for call in work.steps.values():
        assert len(call) == 1 or sum(len(text.encode()) for text in call) <= 200_000


async def test_more_texts_than_a_job_may_have_are_refused() -> None:
    with pytest.raises(AttemptFailed) as failed:
        await run(Embedding(numbered(2049)), EmbedParams())

    assert failed.value.failure.error_class is ErrorClass.TOO_LARGE


@pytest.mark.parametrize(
    ("of", "anew"),
    [
        # It changed once: the parts of the old model are asked anew.
        ([OLD, OLD, NEW, NEW], ["texts-0-anew-2.1", "texts-64-anew-2.1"]),
        # It had changed for a while, as an earlier attempt's kept parts may show, and is back.
        (
            [OLD, OLD, NEW, OLD],
            ["texts-0-anew-2.1", "texts-64-anew-2.1", "texts-128-anew-2.2"],
        ),
        # It changed again while it was asked anew.
        (
            [OLD, OLD, NEW, NEW, OTHER],
            ["texts-0-anew-2.1", "texts-64-anew-2.1", "texts-0-anew-2.2", "texts-128-anew-2.2"],
        ),
        # Another size under the same name is another model.
        ([("m", 3), ("m", 4)], ["texts-0-anew-2.1"]),
    ],
)
async def test_parts_of_another_model_are_asked_anew(
    of: list[tuple[str, int]], anew: list[str]
) -> None:
    work = Embedding(numbered(150), of=of)

    result = await run(work, EmbedParams())

    assert list(work.steps)[3:] == anew
    head = read_head(result.content)
    assert (head.model, head.dimensions) == of[-1]
    assert firsts(result) == [float(number) for number in range(150)]


async def test_a_provider_that_goes_on_changing_fails_the_attempt_in_the_end() -> None:
    work = Embedding(numbered(150), of=[OLD, NEW] * 20)

    with pytest.raises(AttemptFailed) as failed:
        await run(work, EmbedParams())

    assert failed.value.failure.error_class is ErrorClass.UNAVAILABLE
    assert failed.value.failure.code == "provider_changed_model"
    assert len(work.steps) <= 3 * 3
