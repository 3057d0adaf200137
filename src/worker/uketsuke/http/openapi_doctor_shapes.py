"""The shapes of the doctor's answers."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from uketsuke.domain.diagnosis import MOST_COUNTED, MOST_NAMED
from uketsuke.http.openapi_shapes import Shape

Ids = Annotated[list[str], Meta(max_length=MOST_NAMED)]
Count = Annotated[
    int, Meta(ge=0, le=MOST_COUNTED, description="Not counted further than the maximum")
]


class CheckResult(Shape):
    """One check. ``repair`` is what a machine may do about its rows, ``by_hand`` what people do.

    It is not ok either when nobody could look; then there are no rows.
    """

    check: str
    description: Annotated[str, Meta(description="What must hold")]
    ok: bool
    count: Count
    rows: Ids
    looked_at: Annotated[str, Meta(description="How much of the store was looked at")]
    repair: str | None
    by_hand: str | None


class Diagnosis(Shape):
    """All checks, or the one that was asked for."""

    ok: bool
    items: list[CheckResult]


class RepairReport(Shape):
    """What was mended, and how many offenders are left: a repair does a bounded number."""

    check: str
    count: int
    rows: list[str]
    left: Count
