"""The kinds of the histories: the product's, and one whose runs take several paid steps."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import msgspec

from tests.simulation.provider import summary_of
from uketsuke.domain.job import InputForm
from uketsuke.domain.lane import Capability
from uketsuke.domain.lifecycle import Engine
from uketsuke.kinds.kind import Chat, Kind, Work
from uketsuke.kinds.registry import KINDS


class BookParams(msgspec.Struct, frozen=True, kw_only=True):
    """``padding`` makes each step's answer so many characters longer."""

    chapters: int
    padding: int = 0


async def run(work: Work, params: BookParams) -> dict[str, object]:
    """Return ``{"book"}``: what the provider made of each chapter, one step each."""
    text = (await work.text())[:]
    plan = await work.plan(1, lambda: {"chapters": params.chapters})
    total, book = plan["chapters"], []
    for number in range(1, total + 1):
        await work.progress(number - 1, total)
        asked = chapter_of(text, number, padding=params.padding)
        call = Chat(step=f"chapter-{number}", system="", user=asked, max_output_tokens=10)
        book.append(await work.chat(call))
    await work.progress(total, total)
    return {"book": book}


def chapter_of(text: str, number: int, *, padding: int) -> str:
    """Return what the provider is asked in one step."""
    return f"{text} Chapter {number}{'.' * padding}"


def expected_of(text: str, kind: str, params: Mapping[str, object]) -> list[str]:
    """Return what the result of a job must hold."""
    if kind != BOOK.name:
        return [summary_of(text)]
    asked = msgspec.convert(params, BookParams)
    chapters = range(1, asked.chapters + 1)
    return [summary_of(chapter_of(text, n, padding=asked.padding)) for n in chapters]


BOOK: Final = Kind(
    name="book",
    params=BookParams,
    forms=frozenset({InputForm.TEXT, InputForm.REF}),
    max_input_bytes=1_000_000,
    engine=lambda _form, _size: Engine.WORKFLOW,
    calls=frozenset({Capability.CHAT}),
    run=run,
)
SIMULATED: Final[Mapping[str, Kind]] = MappingProxyType({**KINDS, BOOK.name: BOOK})
