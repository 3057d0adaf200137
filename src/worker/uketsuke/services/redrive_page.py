"""Redrive a page's letters for a bulk redrive, one after another, and note how far that came."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from uketsuke.domain.bulk_redrive import BulkRedrive, SkipReason, obstacle
from uketsuke.domain.dead_letter import DeadLetter
from uketsuke.domain.job import Job, JobKey
from uketsuke.services.ports import BulkPlace, Ports, Unavailable
from uketsuke.services.redrive import (
    AlreadyResolved,
    InputGone,
    NotReplayable,
    Planner,
    Redriven,
    RunHeld,
    StoredInput,
    new_act,
    redrive,
    resubmission,
    stored_input,
)
from uketsuke.telemetry import event, raised

# An invocation may make 1,000 calls to the database, and the other duties need some of them.
CALLS_A_TICK: Final = 700
_CALLS_A_PAGE: Final = 3
# A letter takes one call, and one more if it is refused.
_CALLS_A_LETTER: Final = 1


@dataclass
class Room:
    """How many calls to the database are left."""

    calls: int

    @property
    def none(self) -> bool:
        return self.calls <= 0

    def take_page(self) -> None:
        self.calls -= _CALLS_A_PAGE

    def take_letter(self) -> None:
        self.calls -= _CALLS_A_LETTER


@dataclass
class Walk:
    """How far a walk through a page has come.

    ``unreadable``: the next letter's input could not be read. ``away``: the store did not answer,
    so that nobody knows whether the next letter was redriven.
    """

    place: BulkPlace | None = None
    skipped: dict[str, SkipReason] = field(default_factory=dict)
    started: int = 0
    unreadable: bool = False
    away: bool = False

    @property
    def broken(self) -> bool:
        return self.unreadable or self.away


class _Unreadable(Exception):
    """A letter's input cannot be read now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Walker:
    """Who walks: for which bulk redrive, with what is there of the letters' jobs.

    ``patient`` is false if the first letter's input has been unreadable for long enough.
    """

    bulk: BulkRedrive
    jobs: Mapping[JobKey, tuple[Job, str | None]]
    patient: bool
    planner: Planner
    room: Room
    ports: Ports

    async def through(self, letters: Sequence[DeadLetter], *, most: int) -> Walk:
        """Decide on each letter until ``most`` were redriven, the room is used up, or it breaks."""
        walk = Walk()
        for letter in letters:
            if walk.started >= most or self.room.none:
                break
            await self._pass(letter, walk)
            if walk.broken:
                break
            walk.place = place_of(letter)
        return walk

    async def _pass(self, letter: DeadLetter, walk: Walk) -> None:
        """Redrive a letter, or note why not. Never raises for what one letter meets."""
        try:
            skipped = await self._decide(letter, walk)
        except _Unreadable:
            walk.unreadable = self.patient or walk.place is not None
            skipped = None if walk.unreadable else SkipReason.UNAVAILABLE
        except Unavailable:
            walk.away, skipped = True, None
        except Exception as error:  # the next ones must not wait for what we did wrong with this
            event("letter_not_redriven", redrive_id=self.bulk.id, **raised(error))
            skipped = SkipReason.UNEXPECTED
        if skipped is not None:
            walk.skipped[letter.id] = skipped

    async def _decide(self, letter: DeadLetter, walk: Walk) -> SkipReason | None:
        hopeless = obstacle(letter)
        if hopeless is not None:
            return hopeless
        job, inline = self.jobs.get(letter.key, (None, None)) if letter.key else (None, None)
        given = await self._given(job, inline) if job else None
        if job is None or given is None:
            return SkipReason.INPUT_GONE
        work = self.planner(job.kind, given.form, given.bytes, job.params)
        if work is None:
            return SkipReason.NOT_TAKEN
        self.room.take_letter()
        act = new_act(
            self.bulk.created_by,
            reason=self.bulk.reason,
            request_id=self.bulk.request_id,
            detail={"redrive": self.bulk.id},
            ports=self.ports,
        )
        outcome = await redrive(
            letter,
            resubmission(job, given, work),
            act=act,
            redrive_id=self.bulk.id,
            ports=self.ports,
        )
        if isinstance(outcome, Redriven):
            walk.started += 1
            return None
        self.room.take_letter()
        return _REFUSED[type(outcome)]

    async def _given(self, job: Job, inline: str | None) -> StoredInput | None:
        place = job.input
        if inline is not None and not place.refs and place.object_key is None:
            content = json.loads(inline)
            return StoredInput(form=place.form, content=content, refs=(), bytes=place.bytes)
        try:
            return await stored_input(job, ports=self.ports)
        except Unavailable:
            raise _Unreadable from None


def place_of(letter: DeadLetter) -> BulkPlace:
    return BulkPlace(at=letter.last_failed_at, letter_id=letter.id)


# Somebody else was quicker with a letter that is resolved: that is no skip.
_REFUSED: Final[Mapping[type, SkipReason | None]] = {
    AlreadyResolved: None,
    InputGone: SkipReason.INPUT_GONE,
    RunHeld: SkipReason.RUN_IN_PROGRESS,
    NotReplayable: SkipReason.NOT_REPLAYABLE,
}
