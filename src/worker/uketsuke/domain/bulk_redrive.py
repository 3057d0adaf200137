"""Bulk redrives: what one may touch, how fast it goes, and when it stops by itself."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from uketsuke.domain.dead_letter import (
    REDRIVES_BEFORE_FORCE,
    DeadLetter,
    is_of_a_job,
    replay_of,
)

REDRIVE_ID: Final = re.compile(r"rd_[0-9a-z]{26}")
# What one tick can start in one invocation, of which the platform allows a bounded number of
# queries (see services.redrives): a rate beyond it would be a promise that nobody keeps.
MOST_A_MINUTE: Final = 600
MOST_CANARIES: Final = 100
# So many that were started one after another tell whether to go on.
LOOKS_BACK: Final = 20
# A sweep that was away does not make up for all of that time at once.
_TICKS_AT_ONCE: Final = 2
_MINUTE: Final = timedelta(minutes=1)


class RedriveState(StrEnum):
    """Where a bulk redrive stands."""

    CANARY = "canary"  # the first few are started, and nothing else until they have ended
    RUNNING = "running"
    STOPPED = "stopped"  # by a person, or by itself; what it has started goes on
    DONE = "done"


class StoppedBecause(StrEnum):
    """Why a bulk redrive was stopped."""

    ASKED = "asked"
    CANARIES_FAILED = "canaries_failed"
    STILL_FAILING = "still_failing"


class SkipReason(StrEnum):
    """Why a bulk redrive has passed a letter over and left it open."""

    NOT_REPLAYABLE = "not_replayable"  # as it is: see its own replayable_reason
    INPUT_GONE = "input_gone"
    NEEDS_FORCE = "needs_force"  # its line was redriven too often for a bulk redrive
    NOT_TAKEN = "not_taken"  # this deployment has no such kind, or would not take its input
    RUN_IN_PROGRESS = "run_in_progress"  # a live job holds its run key
    UNAVAILABLE = "unavailable"  # its input could not be read, several ticks in a row
    UNEXPECTED = "unexpected"  # our own fault; the log says where


@dataclass(frozen=True, slots=True, kw_only=True)
class LetterFilter:
    """Which open letters are meant; None is any. ``before`` is of their last failure."""

    error_class: str | None = None
    kind: str | None = None
    fingerprint: str | None = None
    tenant_id: str | None = None
    before: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """What a bulk redrive would touch. ``cost_micros`` leaves out the ``unpriced``.

    It is what one attempt of each that may be redriven as it is would cost at most; None if no
    price of them is known.
    """

    count: int
    replayable: int
    unpriced: int
    cost_micros: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What became of the jobs that a bulk redrive has started, and what it has passed over."""

    started: int = 0
    succeeded: int = 0
    failed: int = 0
    canceled: int = 0
    skipped: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stopping:
    """Why a bulk redrive stops: ``detail`` is our sentence, or what the person said."""

    because: StoppedBecause
    detail: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRedrive:
    """A bulk redrive that is asked for; the key is its caller's own name for the request."""

    id: str
    wanted: LetterFilter
    rate_per_minute: int
    canary: int
    idempotency_key: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkRedrive:
    """One bulk redrive, as its row says."""

    id: str
    state: RedriveState
    wanted: LetterFilter
    reason: str
    rate_per_minute: int
    canary: int
    total: int
    created_at: datetime
    created_by: str
    request_id: str
    all_seen: bool
    tries: int
    paced_at: datetime
    stopping: Stopping | None
    stopped_by: str | None
    finished_at: datetime | None


def first_difference(known: BulkRedrive, new: NewRedrive, *, reason: str) -> str | None:
    """Return the JSON Pointer of what a repeated request asks for otherwise; None if nothing."""
    asked = {
        "/filter": (known.wanted, _as_kept(new.wanted)),
        "/reason": (known.reason, reason),
        "/rate_per_minute": (known.rate_per_minute, new.rate_per_minute),
        "/canary": (known.canary, new.canary),
    }
    return next((pointer for pointer, (before, now) in asked.items() if before != now), None)


def _as_kept(wanted: LetterFilter) -> LetterFilter:
    """Times are kept in whole milliseconds."""
    if wanted.before is None:
        return wanted
    whole = wanted.before.microsecond // 1000 * 1000
    return replace(wanted, before=wanted.before.replace(microsecond=whole))


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """Letters that were started one after another, most of which have ended.

    ``again`` of them failed with the fingerprint that they had before, out of ``started``. It is
    not asked of those that ended last: where a failure is quicker than a success, most of them
    would be failures, however few of all fail.
    """

    again: int
    started: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A bulk redrive as a tick finds it, which alone goes on with it until another takes its turn.

    ``started`` counts its canaries, those that were canceled left out: they tell nothing, and
    others go ahead in their place. ``failed_again`` is of the canaries that ended: whether they
    ended badly with the fingerprint that they had before. ``latest`` is what the others tell, None
    if nothing yet. ``under_way`` is None where nobody needs to know.
    """

    redrive: BulkRedrive
    token: str
    now: datetime
    started: int
    failed_again: Sequence[bool]
    latest: Stretch | None
    under_way: bool | None


def obstacle(letter: DeadLetter) -> SkipReason | None:
    """Say why a letter cannot be redriven in bulk, as far as the letter itself tells."""
    if not replay_of(letter).replayable:
        gone = is_of_a_job(letter) and letter.replayable_until is None
        return SkipReason.INPUT_GONE if gone else SkipReason.NOT_REPLAYABLE
    if letter.redrives >= REDRIVES_BEFORE_FORCE:
        return SkipReason.NEEDS_FORCE
    return None


def judge_canaries(failed_again: Sequence[bool]) -> Stopping | None:
    """Say whether canaries that have all ended tell to stop: most have failed as before."""
    again = sum(failed_again)
    if 2 * again <= len(failed_again):
        return None
    detail = f"{again} of the first {len(failed_again)} failed again with the same fingerprint."
    return Stopping(because=StoppedBecause.CANARIES_FAILED, detail=detail)


def judge_latest(latest: Stretch | None) -> Stopping | None:
    """Say whether the latest stretch that tells anything tells to stop."""
    if latest is None or 2 * latest.again <= LOOKS_BACK:
        return None
    detail = (
        f"{latest.again} of {latest.started} that were started one after another failed again "
        "with the same fingerprint."
    )
    return Stopping(because=StoppedBecause.STILL_FAILING, detail=detail)


def allowance(redrive: BulkRedrive, *, now: datetime, tick: timedelta) -> tuple[int, datetime]:
    """Return how many letters may be started now, and until when the time is used up by them.

    What is left of a minute for less than one letter is kept for the next tick.
    """
    rate, passed = redrive.rate_per_minute, now - redrive.paced_at
    earned = passed * rate // _MINUTE
    most = max(1, _TICKS_AT_ONCE * tick * rate // _MINUTE)
    if earned > most:
        return most, now
    return earned, redrive.paced_at + earned * _MINUTE / rate
