"""The kinds' own work, against models that answer what the test says."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.unit.values import a_job
from uketsuke.domain.failure import AttemptFailed
from uketsuke.domain.job import InputForm, Job
from uketsuke.domain.lifecycle import Engine
from uketsuke.kinds.kind import Chat, Embeddings
from uketsuke.kinds.registry import KINDS
from uketsuke.kinds.summarize import SummarizeParams
from uketsuke.kinds.summarize import run as summarize

pytestmark = pytest.mark.anyio


@dataclass
class ScriptedWork:
    """``kinds.kind.Work`` with given inputs; it notes what was asked of the models."""

    input: Any
    answer: str = "A summary."
    asked: list[Chat] = field(default_factory=list)
    seen: list[tuple[int, int]] = field(default_factory=list)
    job: Job = field(default_factory=a_job)
    context_tokens: int = 32_768
    sources: Mapping[str, str | AttemptFailed] = field(default_factory=dict)
    heard: dict[str, Any] = field(default_factory=dict)
    language_asked: list[str | None] = field(default_factory=list)
    plans: dict[str, dict[str, Any]] = field(default_factory=dict)

    async def text(self) -> str:
        return str(self.input)

    async def texts(self) -> Sequence[str]:
        return list(self.input)

    async def source(self, ref: str) -> str:
        found = self.sources[ref]
        if isinstance(found, AttemptFailed):
            raise found
        return found

    async def transcribe(self, step: str, language: str | None) -> dict[str, Any]:
        self.language_asked.append(language)
        return self.heard

    async def plan(
        self, version: int, make: Callable[[], dict[str, Any]], *, step: str = "plan"
    ) -> dict[str, Any]:
        # As it comes back from a checkpoint.
        plan: dict[str, Any] = json.loads(json.dumps({"version": version, **make()}))
        self.plans[step] = plan
        return plan

    async def chat(self, call: Chat) -> str:
        self.asked.append(call)
        return self.answer

    async def embed(self, step: str, texts: Sequence[str]) -> Embeddings:
        raise NotImplementedError("tests of embed have a work of their own")

    async def progress(self, done: int, total: int) -> None:
        self.seen.append((done, total))


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def test_a_short_text_is_summarized_in_one_call() -> None:
    work = ScriptedWork("The desk is open. The queue is long and the people wait in it.")

    result = await summarize(work, SummarizeParams(max_words=50))

    assert result == {"summary": "A summary.", "language": "en", "chunks": 1}
    (call,) = work.asked
    assert call.user == work.input
    assert "at most 50 words" in call.system
    assert work.seen[-1] == (1, 1)


@pytest.mark.parametrize(
    ("characters", "calls"),
    [(6_001, 2 + 1), (36_000, 7 + 1), (100_000, 17 + 3 + 1), (524_288, 89 + 13 + 2 + 1)],
)
async def test_a_long_text_is_joined_in_as_many_levels_as_it_takes(
    characters: int, calls: int
) -> None:
    sentence = "One more sentence of the long story. "
    work = ScriptedWork((sentence * (characters // len(sentence) + 1))[:characters])

    result = await summarize(work, SummarizeParams())

    joins = [call for call in work.asked if call.step.startswith("join")]
    assert abs(len(work.asked) - calls) <= 2  # where the sentences end decides about the last piece
    assert result["chunks"] == len(work.asked) - len(joins)
    assert all(call.user == "\n\n".join(["A summary."] * _joined(call)) for call in joins)
    assert work.asked[-1].step == "join"
    assert len({call.step for call in work.asked}) == len(work.asked)
    assert work.seen == [(done, len(work.asked)) for done in range(len(work.asked) + 1)]


def _joined(call: Chat) -> int:
    return call.user.count("A summary.")


@pytest.mark.parametrize(("size", "engine"), [(36_000, Engine.QUEUE), (36_001, Engine.WORKFLOW)])
def test_a_text_that_takes_more_calls_than_a_delivery_should_make_runs_on_a_workflow(
    size: int, engine: Engine
) -> None:
    assert KINDS["summarize"].engine(InputForm.REF, size) is engine


async def test_a_summary_follows_the_plan_that_its_job_began_with() -> None:
    class Planned(ScriptedWork):
        async def plan(
            self, version: int, make: Callable[[], dict[str, Any]], *, step: str = "plan"
        ) -> dict[str, Any]:
            return {"version": version, "spans": [[0, 4], [5, 9]], "language": "fr"}

    work = Planned("some text")

    result = await summarize(work, SummarizeParams())

    assert [call.user for call in work.asked[:2]] == ["some", "text"]
    assert "'fr'" in work.asked[0].system
    assert result["chunks"] == 2


async def test_the_wanted_language_and_style_reach_the_model_and_the_result() -> None:
    work = ScriptedWork("some text", answer="First point. Second point. ")

    result = await summarize(work, SummarizeParams(language="ja", style="bullets"))

    assert "'ja'" in work.asked[0].system
    assert "bullet" in work.asked[0].system
    assert result["summary"] == "- First point.\n- Second point."
    assert result["language"] == "ja"


async def test_a_summary_is_labeled_with_the_language_that_it_is_in() -> None:
    work = ScriptedWork("some text", answer="The desk is open and the people wait in the hall.")

    asked_for_another = await summarize(work, SummarizeParams(language="ja"))
    asked_for_its_own = await summarize(work, SummarizeParams(language="en-GB"))

    assert asked_for_another["language"] == "en"
    assert asked_for_its_own["language"] == "en-GB"


async def test_bullets_that_the_model_made_are_kept() -> None:
    work = ScriptedWork("some text", answer="* one\n\n- two")

    result = await summarize(work, SummarizeParams(style="bullets"))

    assert result["summary"] == "- one\n- two"


def test_a_kind_is_found_by_its_own_name() -> None:
    assert all(kind.name == name for name, kind in KINDS.items())
