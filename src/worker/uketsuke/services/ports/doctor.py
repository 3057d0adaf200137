"""What the services need of the store to hold it against its invariants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from uketsuke.domain.audit import Act
from uketsuke.domain.diagnosis import Finding, Mended, Offender, Question


class Doctor(Protocol):
    """The invariants as questions to the store. Asking reads a bounded number of rows."""

    @property
    def questions(self) -> Mapping[str, Question]:
        """All questions by name, in the order in which they are told."""
        ...

    async def ask(self, names: Sequence[str]) -> Sequence[Finding]:
        """Answer questions, in one call."""
        ...

    async def repairable(self, name: str) -> Sequence[Offender]:
        """Return offenders that the question's repair may mend; at most ``MOST_REPAIRED``."""
        ...

    async def repair(self, name: str, offenders: Sequence[Offender], *, act: Act) -> Mended:
        """Mend those of the offenders that still are, with the act's audit row.

        Repeatable, and safe beside running work: no live lease is touched.
        """
        ...

    async def stored_results(self) -> Sequence[Offender]:
        """Return the newest jobs whose result is an object; its key comes last in theirs."""
        ...
