"""summarize: one text to a short one; a long one in pieces, whose summaries are then joined."""

from __future__ import annotations

import re
from typing import Annotated, Final, Literal

import msgspec

from uketsuke.domain.job import InputForm
from uketsuke.domain.lane import Capability
from uketsuke.domain.language import UNDETERMINED, guess_language
from uketsuke.domain.lifecycle import Engine
from uketsuke.domain.price import Expected
from uketsuke.domain.split import sentences_in
from uketsuke.kinds.kind import Kind, LanguageTag, Work
from uketsuke.kinds.map_reduce import (
    JOINED_AT_ONCE,
    PIECE_CHARACTERS,
    Summarizing,
    Wish,
    expect_summaries,
    plan_of,
)

# What needs more calls than one delivery of the queue should make runs on a Workflow.
_QUEUE_BYTES: Final = PIECE_CHARACTERS * (JOINED_AT_ONCE - 1)
_PLAN: Final = 1


class SummarizeParams(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How the summary should be. ``language`` is a BCP 47 tag; without it, the input's own."""

    max_words: Annotated[int, msgspec.Meta(ge=10, le=1000)] = 120
    language: LanguageTag | None = None
    style: Literal["paragraph", "bullets"] = "paragraph"


async def run(work: Work, params: SummarizeParams) -> dict[str, object]:
    """Return ``{"summary", "language", "chunks"}``."""
    text = await work.text()
    plan = await work.plan(
        _PLAN,
        lambda: plan_of(
            text, words=params.max_words, language=params.language, context=work.context_tokens
        ),
    )
    spans, language = plan["spans"], plan["language"]
    # Plans of before had neither: they asked for all words, and joined the most at once.
    words = plan.get("words", params.max_words)
    way = Summarizing(
        work=work,
        wish=Wish(words=words, language=language, style=params.style),
        at_once=plan.get("at_once", JOINED_AT_ONCE),
        progress=work.progress,
    )
    summary = await way.summarize(text, spans)
    if params.style == "bullets":
        summary = _as_bullets(summary)
    return {
        "summary": summary,
        "language": _language_of(summary, wanted=language),
        "chunks": len(spans),
    }


def _engine(_form: InputForm, size: int) -> Engine:
    return Engine.QUEUE if size <= _QUEUE_BYTES else Engine.WORKFLOW


def _language_of(summary: str, *, wanted: str) -> str:
    """Label the summary with what it is in: not every model writes what it was asked for."""
    guess = guess_language(summary)
    primary = wanted.partition("-")[0].lower()
    return wanted if guess in (UNDETERMINED, primary) else guess


_BULLET: Final = re.compile(r"^\s*[-*•・]\s*")


def _as_bullets(summary: str) -> str:
    """Make sure that each point is a line of its own: not every model does as it is told."""
    lines = [line for line in summary.splitlines() if line.strip()]
    if len(lines) == 1:
        lines = sentences_in(lines[0])
    return "\n".join("- " + _BULLET.sub("", line).strip() for line in lines)


def _expects(_form: InputForm, size: int, params: SummarizeParams) -> Expected:
    return expect_summaries(size, words=params.max_words, texts=1)


KIND: Final = Kind(
    name="summarize",
    params=SummarizeParams,
    forms=frozenset({InputForm.TEXT, InputForm.REF}),
    max_input_bytes=8_388_608,
    engine=_engine,
    calls=frozenset({Capability.CHAT}),
    expects=_expects,
    run=run,
    gives="summary",
)
