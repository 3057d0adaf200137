"""What the services need of the store for bulk redrives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from uketsuke.domain.audit import Act
from uketsuke.domain.bulk_redrive import (
    BulkRedrive,
    Estimate,
    Figures,
    LetterFilter,
    NewRedrive,
    SkipReason,
    Stopping,
    Turn,
)
from uketsuke.domain.dead_letter import DeadLetter
from uketsuke.domain.job import Job, JobKey


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownRedrive:
    """A bulk redrive with its figures of now."""

    redrive: BulkRedrive
    figures: Figures


@dataclass(frozen=True, slots=True, kw_only=True)
class RedrivePage:
    """Some bulk redrives, newest first, and where the next page begins; None at the end."""

    redrives: Sequence[ShownRedrive]
    cursor: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkPlace:
    """A place in the order in which letters are looked at: the oldest failure first."""

    at: datetime
    letter_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """Open letters that fit, oldest first. ``end`` is up to where was looked; None: to the end."""

    letters: Sequence[DeadLetter]
    end: BulkPlace | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """How far a tick has come: up to ``place`` (None: no farther than before).

    ``skipped`` are the letters on the way that it has passed over; ``all_seen`` says that none
    lies behind; ``broke_off`` that the next one could not be decided on.
    """

    place: BulkPlace | None
    skipped: Mapping[str, SkipReason]
    all_seen: bool
    broke_off: bool = False


class Redrives(Protocol):
    """Bulk redrives. What one has started is read from the letters, and never counted up."""

    async def estimate(self, wanted: LetterFilter) -> Estimate: ...

    async def start(self, new: NewRedrive, *, act: Act) -> ShownRedrive:
        """Write one down, with the person's act. If nothing fits it is done.

        Under an idempotency key that the actor has used nothing is written, and what stands under
        it is returned: another id tells.
        """
        ...

    async def find(self, redrive_id: str) -> ShownRedrive | None: ...

    async def page(self, *, before: str | None, limit: int) -> RedrivePage: ...

    async def stop(self, redrive_id: str, *, act: Act) -> ShownRedrive | None:
        """Stop one that goes on, with the person's act; return how it stands then.

        From here on no letter is redriven by it: each letter's own transaction looks at its state.
        """
        ...

    async def open_ones(self, *, limit: int) -> Sequence[str]:
        """Return those that must be looked at, the one that has waited longest first."""
        ...

    async def take_turn(self, redrive_id: str, *, token: str) -> Turn | None:
        """Go on with one from here on alone; None if there is nothing to do for it any more."""
        ...

    # All that follows does nothing, and says so, once the turn is another's or a person stopped it.

    async def claim(self, turn: Turn, *, paced_at: datetime) -> bool:
        """Use up the time until ``paced_at``, before anything is started for it."""
        ...

    async def candidates(self, turn: Turn, *, limit: int) -> Candidates | None:
        """Return what comes next. Reads a bounded stretch, so that it may be short or empty."""
        ...

    async def jobs_of(self, keys: Sequence[JobKey]) -> Mapping[JobKey, tuple[Job, str | None]]:
        """Return the jobs that there are, each with the input that lies beside its row."""
        ...

    async def decided(self, turn: Turn, done: Decided) -> bool:
        """Keep how far it has come, so that nothing is looked at again. Safe to repeat."""
        ...

    async def run(self, turn: Turn) -> bool:
        """Leave the canaries behind."""
        ...

    async def stop_itself(self, turn: Turn, stopping: Stopping) -> bool: ...

    async def finish(self, turn: Turn) -> bool:
        """Say that it is done, and keep its figures; nothing of it may be under way."""
        ...

    async def close(self, turn: Turn) -> bool:
        """Keep the figures of one that was stopped; nothing of it may be under way."""
        ...
