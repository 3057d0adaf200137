"""What the services need of the store to look through dead letters, and to know when to."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from uketsuke.domain.condition import Condition, LetterFigures, Measure
from uketsuke.domain.dead_letter import DeadLetter, LetterStatus
from uketsuke.domain.failure import ErrorClass
from uketsuke.domain.letter_group import LetterGroup


@dataclass(frozen=True, slots=True, kw_only=True)
class LetterFilter:
    """Which dead letters are meant; None is any.

    Of open ones: those that are ``past_triage``, and those whose input is ``expiring``, as
    ``LetterFigures`` counts them.
    """

    status: LetterStatus | None = None
    error_class: ErrorClass | None = None
    kind: str | None = None
    tenant_id: str | None = None
    fingerprint: str | None = None
    past_triage: bool = False
    expiring: bool = False


class LetterPlace(NamedTuple):
    """A letter's place in the list: when it failed last, in epoch milliseconds, and its id."""

    last_failed_ms: int
    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LetterPage:
    """Some letters, the last to fail first, and after which the next page begins; None: the end."""

    letters: Sequence[DeadLetter]
    cursor: LetterPlace | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RedrivenPage:
    """Some letters, the last to be redriven first, and the new job before which the next page is.

    None: that was the end.
    """

    letters: Sequence[DeadLetter]
    cursor: str | None


class Triage(Protocol):
    """Dead letters by what they have in common."""

    async def page(
        self, wanted: LetterFilter, *, before: LetterPlace | None, limit: int
    ) -> LetterPage:
        """Return fitting letters behind ``before``.

        Reads a bounded number of rows: the page may be short and still have a next one.
        """
        ...

    async def redriven_by(
        self, redrive_id: str, wanted: LetterFilter, *, before: str | None, limit: int
    ) -> RedrivenPage:
        """Return letters that a bulk redrive has redriven, behind that of the job ``before``.

        Reads a bounded number of rows: the page may be short and still have a next one.
        """
        ...

    async def groups(self, wanted: LetterFilter, *, limit: int) -> Sequence[LetterGroup]:
        """Return the largest groups first. Of open letters all are counted.

        Of others, only as many of the last to fail as can be read at once.
        """
        ...


class Conditions(Protocol):
    """What is worth an alert: reckoned from the rows, and kept with the time since it holds."""

    async def figures(self) -> LetterFigures:
        """Count the dead letters as they are now."""
        ...

    async def glance(self) -> LetterFigures | None:
        """Count them too, but read a bounded number of rows; None if there are more."""
        ...

    async def keep(self, measures: Sequence[Measure], *, forget: Collection[str] = ()) -> int:
        """Keep the measures in place of those before; return how many began to hold.

        Those to ``forget`` are not measured any more, and have no alert.
        """
        ...

    async def kept(self) -> Sequence[Condition]: ...
