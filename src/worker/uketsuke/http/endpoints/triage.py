"""Dead letters as operators look through them: lists, groups, and one with its history."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeVar

from uketsuke.domain.dead_letter import LETTER_ID, LetterStatus
from uketsuke.domain.failure import ErrorClass
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
from uketsuke.http.problem import refuse, refuse_faults
from uketsuke.services.ports import LetterFilter, LetterPlace

GROUPS_QUERY: Final = frozenset({"status", "class", "kind", "tenant", "limit"})
LIST_QUERY: Final = GROUPS_QUERY | {"fingerprint", "cursor"}
_END_OF_TIME_MS: Final = 10**15  # what D1 takes, and far from any clock
_E = TypeVar("_E", LetterStatus, ErrorClass)


async def list_dead_letters(request: Request, context: Context) -> Response:
    """Answer a page; it may be short, or empty, and still have a next one."""
    asked = _read_query(request.query, context)
    before = _read_place(asked["cursor"]) if "cursor" in asked else None
    page = await context.ports.triage.page(_wanted(asked), before=before, limit=page_limit(asked))
    cursor = write_cursor(page.cursor) if page.cursor else None
    document = {
        "items": [show_letter(letter) for letter in page.letters],
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


def _read_query(query: Mapping[str, tuple[str, ...]], context: Context) -> Mapping[str, str]:
    asked, faults = read_list_query(query, caller=context.caller)
    for name, words in (("status", LetterStatus), ("class", ErrorClass)):
        if name in asked and asked[name] not in set(words):
            faults.append(query_fault(name, f"is one of {', '.join(words)}"))
    if faults:
        raise refuse_faults(faults)
    return asked


def _wanted(asked: Mapping[str, str]) -> LetterFilter:
    return LetterFilter(
        status=_word(LetterStatus, asked.get("status")),
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
