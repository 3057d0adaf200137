"""report: several sources to one Markdown document; each is summarized, then all of them together.

A source's words are material: they neither instruct the model nor shape the document.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Final, Literal

import msgspec

from uketsuke.domain.failure import AttemptFailed, ErrorClass, Failure
from uketsuke.domain.job import InputForm
from uketsuke.domain.lane import Capability
from uketsuke.domain.language import guess_language
from uketsuke.domain.lifecycle import Engine
from uketsuke.domain.price import Expected
from uketsuke.kinds.kind import Kind, LanguageTag, Work
from uketsuke.kinds.map_reduce import Summarizing, Wish, expect_summaries, plan_of, room_for
from uketsuke.kinds.report_document import Section, write_report

_PLAN: Final = 1
# A report is reckoned to have as many sources as may be named, or texts of a few sentences.
_MOST_REFS: Final = 50
_BYTES_A_TEXT: Final = 500
# What is said of a source and not of our own state: another try would say the same.
_SOURCES_OWN: Final = frozenset(
    {ErrorClass.INVALID_INPUT, ErrorClass.TOO_LARGE, ErrorClass.REFUSED}
)


class ReportParams(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How the report should be. ``language`` is a BCP 47 tag; without it, each source's own.

    ``on_source_failure`` says whether a source that cannot be used fails the job or is listed as
    missing.
    """

    title: Annotated[str, msgspec.Meta(min_length=1, max_length=200)] | None = None
    language: LanguageTag | None = None
    max_words_per_source: Annotated[int, msgspec.Meta(ge=10, le=1000)] = 120
    on_source_failure: Literal["fail", "list"] = "fail"


async def run(work: Work, params: ReportParams) -> dict[str, object]:
    """Return ``{"markdown", "sources": [{"ref", "summary" | "missing": reason}]}``."""
    sources = await _sources(work)
    sections = [await _section(work, params, source, of=len(sources)) for source in sources]
    usable = [section.summary for section in sections if section.summary is not None]
    if not usable:
        raise AttemptFailed(ErrorClass.INVALID_INPUT, "no_source_usable")
    overview, language = await _overview(work, params, usable)
    total = len(sections) + 1
    await work.progress(total, total)
    return {
        "markdown": write_report(
            sections, title=params.title, overview=overview, language=language
        ),
        "sources": [section.entry for section in sections],
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class _Source:
    """One of the inputs, by its place from 1; ``text`` is None until it is loaded."""

    number: int
    ref: str
    text: str | None


async def _sources(work: Work) -> Sequence[_Source]:
    refs = work.job.input.refs
    if refs:  # each is loaded in its turn: all of them at once are too much for one isolate
        return [_Source(number=n, ref=ref, text=None) for n, ref in enumerate(refs, 1)]
    texts = enumerate(await work.texts(), 1)
    return [_Source(number=n, ref=f"text-{n}", text=text) for n, text in texts]


async def _section(work: Work, params: ReportParams, source: _Source, *, of: int) -> Section:
    section = Section(number=source.number, ref=source.ref)
    try:
        return replace(section, summary=await _summary(work, params, source, of=of))
    except AttemptFailed as failed:
        if params.on_source_failure == "fail" or not _is_its_own(failed.failure):
            raise
        return replace(section, missing=failed.failure.message)


def _is_its_own(failure: Failure) -> bool:
    return failure.error_class in _SOURCES_OWN or failure.code == "input_gone"


async def _summary(work: Work, params: ReportParams, source: _Source, *, of: int) -> str:
    await work.progress(source.number - 1, of + 1)
    text = await work.source(source.ref) if source.text is None else source.text
    words, context = params.max_words_per_source, work.context_tokens
    plan = await work.plan(
        _PLAN,
        lambda: plan_of(text, words=words, language=params.language, context=context),
        step=f"source-{source.number}-plan",
    )
    way = Summarizing(
        work=work,
        wish=Wish(words=plan["words"], language=plan["language"]),
        at_once=plan["at_once"],
        progress=_silent,
        prefix=f"source-{source.number}-",
    )
    return await way.summarize(text, plan["spans"])


async def _overview(work: Work, params: ReportParams, summaries: Sequence[str]) -> tuple[str, str]:
    """Return a summary of the summaries, and the language of the whole."""
    language = params.language or guess_language("\n".join(summaries))
    if len(summaries) == 1:  # there is no more to say
        return summaries[0], language
    room = room_for(params.max_words_per_source, context=work.context_tokens)
    way = Summarizing(
        work=work,
        wish=Wish(words=room.words, language=language),
        at_once=room.at_once,
        progress=_silent,
        prefix="overview-",
    )
    return await way.join(list(summaries)), language


async def _silent(_done: int, _total: int) -> None:
    """A report's progress is counted in sources."""


def _engine(_form: InputForm, _size: int) -> Engine:
    return Engine.WORKFLOW


def _expects(form: InputForm, size: int, params: ReportParams) -> Expected:
    sources = _MOST_REFS if form is InputForm.REFS else 1 + size // _BYTES_A_TEXT
    return expect_summaries(size, words=params.max_words_per_source, texts=sources)


KIND: Final = Kind(
    name="report",
    params=ReportParams,
    forms=frozenset({InputForm.TEXTS, InputForm.REFS}),
    max_input_bytes=16_777_216,
    engine=_engine,
    calls=frozenset({Capability.CHAT}),
    expects=_expects,
    run=run,
    gives="markdown",
)
