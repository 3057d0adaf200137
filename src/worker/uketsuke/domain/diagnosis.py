"""What the doctor asks of a store, what it finds, and what is done about that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from uketsuke.domain.job import Job

# How many offenders are named, and how far they are counted.
MOST_NAMED: Final = 20
MOST_COUNTED: Final = 10_001
# How many one repair mends; it may be repeated.
MOST_REPAIRED: Final = 100
ALL: Final = "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One thing that must hold of every row. The texts are sentences for a person.

    ``looked_at`` says how much of the store is looked at, ``repair`` what a machine may do about
    an offender (None: nothing), ``by_hand`` what a person does, where that is needed.
    """

    name: str
    holds: str
    looked_at: str
    repair: str | None
    by_hand: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """How a question was answered: the number of offenders, up to a bound, and some ids of them.

    ``unknown`` says that nobody could look.
    """

    question: Question
    count: int
    rows: Sequence[str]
    unknown: bool = False

    @property
    def ok(self) -> bool:
        return self.count == 0 and not self.unknown


@dataclass(frozen=True, slots=True, kw_only=True)
class Offender:
    """A row that a repair is about: the id that people see, and the parts of its key."""

    id: str
    key: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mended:
    """The ids of what a repair mended, and the jobs that it let go on or end."""

    rows: Sequence[str]
    jobs: Sequence[Job]


@dataclass(frozen=True, slots=True, kw_only=True)
class Repaired:
    """What a repair mended, and how many offenders there still are."""

    rows: Sequence[str]
    left: int
