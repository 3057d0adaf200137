"""What operators do, as the audit keeps it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final

# What a dead letter's redrive, its discarding and the like must be given.
LONGEST_REASON: Final = 500
AUDIT_ID: Final = re.compile(r"au_[0-9a-z]{26}")


class Action(StrEnum):
    """What was done. The target is a dead letter, a bulk redrive, or a check of the doctor's."""

    LETTER_REDRIVEN = "dead_letter.redriven"
    LETTER_DISCARDED = "dead_letter.discarded"
    REDRIVE_STARTED = "redrive.started"
    REDRIVE_STOPPED = "redrive.stopped"
    DOCTOR_REPAIRED = "doctor.repaired"


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """One act of a person: ``id`` is its audit row's, ``actor`` the id of the key that was used.

    ``detail`` holds names and ids, never content.
    """

    id: str
    actor: str
    reason: str | None
    request_id: str
    detail: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRow:
    """An act as it was written. ``tenant_id`` None: its target is no one tenant's."""

    act: Act
    at: datetime
    action: str
    target: str
    tenant_id: str | None
