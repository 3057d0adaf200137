"""Dead letters: the record of a job that ended badly, and whether it may be worked again."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from uketsuke.domain.failure import NO_MODEL, ErrorClass, Road
from uketsuke.domain.job import JobKey

LETTER_ID: Final = re.compile(r"dl_[0-9a-z]{26}")
# Whoever has sent the same work around so often should say that it is meant.
REDRIVES_BEFORE_FORCE: Final = 3
# The version of the rows and messages that this code reads.
READABLE_VERSIONS: Final = frozenset({1})


class LetterStatus(StrEnum):
    """What was done about a dead letter."""

    OPEN = "open"
    REDRIVEN = "redriven"
    DISCARDED = "discarded"


class Verdict(StrEnum):
    """What most likely helps."""

    REDRIVE = "redrive"
    FIX_INPUT = "fix_input"
    FIX_CONFIGURATION = "fix_configuration"
    WAIT = "wait"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadLetter:
    """One record. ``replayable_until`` is when its input goes; None if it is gone, or never was.

    ``job_there`` says whether the job's row, with its parameters, is still kept. ``redrives``
    counts those of the job's line before this end. ``body_shape`` is JSON without content, of a
    message that is no job's.
    """

    id: str
    job_id: str | None
    tenant_id: str | None
    kind: str | None
    status: LetterStatus
    road: Road
    error_class: ErrorClass
    code: str
    model: str | None
    fingerprint: str
    attempts: int
    queue: str | None
    message_id: str | None
    schema_version: int | None
    first_failed_at: datetime
    last_failed_at: datetime
    triage_due_at: datetime
    replayable_until: datetime | None
    job_there: bool
    redrives: int
    redriven_to: str | None
    redrive_id: str | None
    resolved_by: str | None
    resolved_at: datetime | None
    reason: str | None
    body_sha256: str | None
    body_shape: str | None

    @property
    def key(self) -> JobKey | None:
        """The job's name; None for a message that is no job's."""
        if self.tenant_id is None or self.job_id is None:
            return None
        return JobKey(self.tenant_id, self.job_id)

    @property
    def redrive_count(self) -> int:
        """The redrives of its line so far, its own included."""
        return self.redrives + (self.status is LetterStatus.REDRIVEN)


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """Whether a letter's job may be redriven as it is, and why or why not."""

    replayable: bool
    reason: str


def verdict_of(error_class: ErrorClass, code: str) -> Verdict:
    """Say what most likely helps against a failure."""
    if code in _BY_CODE:
        return _BY_CODE[code]
    return _BY_CLASS.get(error_class, Verdict.REDRIVE)


def replay_of(letter: DeadLetter) -> Replay:
    """Say whether the letter's job may be redriven without a patch."""
    if letter.status is not LetterStatus.OPEN:
        return Replay(replayable=False, reason=_RESOLVED[letter.status])
    if letter.key is None or letter.road is Road.UNDECODABLE or letter.kind is None:
        return Replay(replayable=False, reason="No job belongs to it: there is nothing to redrive.")
    if letter.schema_version not in READABLE_VERSIONS:
        return Replay(replayable=False, reason="A version wrote it that this code does not read.")
    if letter.replayable_until is None:
        gone = _INPUT_IS_GONE if letter.job_there else _JOB_IS_GONE
        return Replay(replayable=False, reason=gone)
    verdict = verdict_of(letter.error_class, letter.code)
    return Replay(replayable=verdict is not Verdict.FIX_INPUT, reason=_REASONS[verdict])


def is_of_a_job(letter: DeadLetter) -> bool:
    """Whether a job ended so that this code can read; a message that is no job's never did."""
    told = letter.key is not None and letter.kind is not None
    readable = letter.schema_version in READABLE_VERSIONS
    return told and readable and letter.road is not Road.UNDECODABLE


_INPUT_IS_GONE: Final = "Its input was deleted after its time. A patch may bring another."
_JOB_IS_GONE: Final = "Its job was deleted after its time, with its input."
_RESOLVED: Final = {
    LetterStatus.REDRIVEN: "It was redriven already; see redriven_to.",
    LetterStatus.DISCARDED: "It was discarded.",
}
_BY_CLASS: Final = {
    ErrorClass.INVALID_INPUT: Verdict.FIX_INPUT,
    ErrorClass.TOO_LARGE: Verdict.FIX_INPUT,
    ErrorClass.REFUSED: Verdict.FIX_INPUT,
    ErrorClass.DENIED: Verdict.FIX_CONFIGURATION,
    ErrorClass.BUDGET: Verdict.FIX_CONFIGURATION,
    ErrorClass.THROTTLED: Verdict.WAIT,
    ErrorClass.QUOTA: Verdict.WAIT,
    ErrorClass.NOT_FOUND: Verdict.FIX_INPUT,
}
_BY_CODE: Final = {
    NO_MODEL: Verdict.FIX_CONFIGURATION,
    "kind_unknown": Verdict.FIX_CONFIGURATION,
    "not_supported": Verdict.REDRIVE,
    "schema_newer": Verdict.FIX_CONFIGURATION,
    "body_undecodable": Verdict.FIX_CONFIGURATION,
    "job_unknown": Verdict.FIX_CONFIGURATION,
}
_REASONS: Final = {
    Verdict.REDRIVE: "Nothing is wrong with the input: redrive it once the cause is over.",
    Verdict.FIX_INPUT: "The same input would fail again: redrive it with a patch.",
    Verdict.FIX_CONFIGURATION: "Mend the deployment first (key, model, budget), then redrive.",
    Verdict.WAIT: "The provider's allowance was used up: wait until it renews, then redrive.",
}
# For the statements that choose what may be redriven as it is.
CLASSES_TO_PATCH: Final = tuple(c for c, v in _BY_CLASS.items() if v is Verdict.FIX_INPUT)
CODES_NOT_TO_PATCH: Final = tuple(c for c, v in _BY_CODE.items() if v is not Verdict.FIX_INPUT)
