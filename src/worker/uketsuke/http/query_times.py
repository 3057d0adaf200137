"""Stretches of time in the query of a list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from uketsuke.http.instant import LIKE, read_instant
from uketsuke.http.paging import query_fault
from uketsuke.http.problem import Fault


def time_faults(names: Sequence[str], asked: Mapping[str, str]) -> Sequence[Fault]:
    """Find what is asked for under ``names`` and is no time."""
    # Whoever writes +09:00 as it is has sent a space.
    what = f"is {LIKE}, with its offset; a + is written %2B"
    wrong = [name for name in names if name in asked and time_in(asked, name) is None]
    return [query_fault(name, what) for name in wrong]


def time_in(asked: Mapping[str, str], name: str) -> datetime | None:
    return read_instant(asked[name]) if name in asked else None
