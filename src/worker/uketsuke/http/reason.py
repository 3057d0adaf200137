"""The reason that a person gives for an act: the audit keeps it, so it is one readable line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Final

from msgspec import Meta

from uketsuke.domain.audit import LONGEST_REASON
from uketsuke.http.problem import Fault

Reason = Annotated[str, Meta(min_length=1, max_length=LONGEST_REASON)]

# NUL is refused in every string, by characters.py. What turns the direction of writing would also
# turn what a list shows behind the reason: whose the letter was, and what became of it.
_CONTROL: Final = re.compile("[\x01-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_UNSEEN: Final = re.compile(r"[\s\u00ad\u200b-\u200f\u2060-\u2064\ufeff]+")


def reason_faults(document: object) -> Iterator[Fault]:
    """Find what is wrong with a document's ``reason`` beyond its type and length."""
    reason = document.get("reason") if isinstance(document, dict) else None
    if not isinstance(reason, str) or not reason:
        return
    if _UNSEEN.fullmatch(reason):
        yield Fault(pointer="/reason", code="empty", detail="Say why, for those who ask later.")
    elif _CONTROL.search(reason):
        detail = "Give the reason as one line, without control characters."
        yield Fault(pointer="/reason", code="bad_value", detail=detail)
