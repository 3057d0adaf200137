"""Dead letters as operators look through them: lists, groups, and one with its history."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final, TypeVar

from uketsuke.domain.bulk_redrive import REDRIVE_ID
from uketsuke.domain.dead_letter import LETTER_ID, DeadLetter, LetterStatus
from uketsuke.domain.failure import ErrorClass
from uketsuke.domain.ids import JOB_ID
from uketsuke.http.answer import PRIVATE, tagged_answer
from uketsuke.http.context import Context
from uketsuke.http.dead_letter_view import show_letter, show_letter_whole
from uketsuke.http.letter_group_view import show_group
from uketsuke.http.message import Request, Response
from uketsuke.http.paging import (
    next_page,
    page_limit,
    query_fault,
    read_cursor,
    read_list_query,
    write_cursor,
)
from uketsuke.http.problem import Fault, refuse, refuse_faults
from uketsuke.http.query_times import time_faults, time_in
from uketsuke.services.ports import LetterFilter, LetterPage, LetterPlace, Triage

GROUPS_QUERY: Final = frozenset({"status", "class", "kind", "tenant", "limit"})
_URGENT: Final = ("past_triage", "expiring")
_TIMES: Final = ("failed_after", "failed_before")
LIST_QUERY: Final = GROUPS_QUERY | {"fingerprint", *_URGENT, *_TIMES, "redrive_id", "cursor"}
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MS: Final = timedelta(milliseconds=1)
_END_OF_TIME_MS: Final = 10**15  # what D1 takes, and far from any clock
_E = TypeVar("_E", LetterStatus, ErrorClass)


async def list_dead_letters(request: Request, context: Context) -> Response:
    """Answer a page; it may be short, or empty, and still have a next one."""
    asked = _read_query(request.query, context)
    find = _redriven_page if "redrive_id" in asked else _page
    letters, cursor = await find(asked, context.ports.triage)
    document = {
        "items": [show_letter(letter) for letter in letters],
        "next": next_page(request.path, asked, cursor),
    }
    return tagged_answer(document, asked=request.headers, headers=PRIVATE)


async def list_dead_letter_groups(request: Request, context: Context) -> Response:
    """Answer the largest groups, of open letters if nothing else is asked. There is one page."""
    asked = {"status": LetterStatus.OPEN.value, **_read_query(request.query, context)}
    groups = await context.ports.triage.groups(_wanted(asked), limit=page_limit(asked))
    items = [show_group(group, filters=asked) for group in groups]
    return tagged_answer({"items": items, "next": None}, asked=request.headers, headers=PRIVATE)


async def get_dead_letter(request: Request, context: Context, *, letter_id: str) -> Response:
    """Show a dead letter with the history of its job's attempts."""
    letter = None
    if LETTER_ID.fullmatch(letter_id):
        letter = await context.ports.dead_letters.find(letter_id)
    if letter is None:
        raise refuse("not_found")
    attempts = await context.ports.jobs.attempts_of(letter.key) if letter.key else ()
    return tagged_answer(
        show_letter_whole(letter, attempts), asked=request.headers, headers=PRIVATE
    )


async def _page(
    asked: Mapping[str, str], triage: Triage
) -> tuple[Sequence[DeadLetter], str | None]:
    start = time_in(asked, "failed_before")
    before = None if start is None else LetterPlace(max(0, _ms(start)), "")
    if "cursor" in asked:
        before = _read_place(asked["cursor"])
    page = await triage.page(_wanted(asked), before=before, limit=page_limit(asked))
    letters, cursor = _since(time_in(asked, "failed_after"), page)
    return letters, write_cursor(cursor) if cursor else None


def _since(
    begin: datetime | None, page: LetterPage
) -> tuple[Sequence[DeadLetter], LetterPlace | None]:
    """Cut off what failed before ``begin``: behind the first of it there is nothing else."""
    if begin is None:
        return page.letters, page.cursor
    letters = [letter for letter in page.letters if letter.last_failed_at >= begin]
    ends = page.cursor is None or page.cursor.last_failed_ms < _ms(begin)
    return letters, None if ends else page.cursor


def _ms(time: datetime) -> int:
    """Return its epoch milliseconds, rounded up: what is written in them is compared with it."""
    return -((_EPOCH - time) // _MS)


async def _redriven_page(
    asked: Mapping[str, str], triage: Triage
) -> tuple[Sequence[DeadLetter], str | None]:
    """The last to be redriven first: their place is the new job's id."""
    before = asked.get("cursor")
    if before is not None and not JOB_ID.fullmatch(before):
        raise refuse("invalid_cursor")
    page = await triage.redriven_by(
        asked["redrive_id"], _wanted(asked), before=before, limit=page_limit(asked)
    )
    return page.letters, page.cursor


def _read_query(query: Mapping[str, tuple[str, ...]], context: Context) -> Mapping[str, str]:
    asked, faults = read_list_query(query, caller=context.caller)
    for name, words in (("status", LetterStatus), ("class", ErrorClass)):
        if name in asked and asked[name] not in set(words):
            faults.append(query_fault(name, f"is one of {', '.join(words)}"))
    faults += [*_urgent_faults(asked), *_redrive_faults(asked), *time_faults(_TIMES, asked)]
    if faults:
        raise refuse_faults(faults)
    return asked


def _urgent_faults(asked: Mapping[str, str]) -> Iterator[Fault]:
    for name in _URGENT:
        if asked.get(name, "true") != "true":
            yield query_fault(name, "is true, or left out")
        elif name in asked and asked.get("status", "open") != "open":
            yield query_fault(name, "is asked of open letters: leave out status, or say open")


def _redrive_faults(asked: Mapping[str, str]) -> Iterator[Fault]:
    if "redrive_id" not in asked:
        return
    if not REDRIVE_ID.fullmatch(asked["redrive_id"]):
        yield query_fault("redrive_id", "is the id of a bulk redrive, rd_…")
    if asked.get("status", "redriven") != "redriven":
        yield query_fault(
            "redrive_id", "is asked of redriven letters: leave out status, or say redriven"
        )
    for name in _URGENT:
        if name in asked:
            yield query_fault(name, "is of open letters, and redrive_id of redriven ones: ask one")
    for name in _TIMES:
        if name in asked:
            yield query_fault(name, "is not asked together with redrive_id: ask one")


def _wanted(asked: Mapping[str, str]) -> LetterFilter:
    past_triage, expiring = ("past_triage" in asked, "expiring" in asked)
    implied = LetterStatus.OPEN if past_triage or expiring else None
    return LetterFilter(
        status=_word(LetterStatus, asked.get("status")) or implied,
        past_triage=past_triage,
        expiring=expiring,
        error_class=_word(ErrorClass, asked.get("class")),
        kind=asked.get("kind"),
        tenant_id=asked.get("tenant"),
        fingerprint=asked.get("fingerprint"),
    )


def _word(words: type[_E], text: str | None) -> _E | None:
    return None if text is None else words(text)


def _read_place(cursor: str) -> LetterPlace:
    place = read_cursor(cursor, LetterPlace)
    if not LETTER_ID.fullmatch(place.id) or not 0 <= place.last_failed_ms < _END_OF_TIME_MS:
        raise refuse("invalid_cursor")
    return place
