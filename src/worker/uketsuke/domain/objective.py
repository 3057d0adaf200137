"""What a deployment wants of itself: a bound for each condition, and which are worth an alert."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import timedelta
from types import MappingProxyType
from typing import Final

from uketsuke.domain.condition import Bounds, ConditionName

# None: it is reckoned all the same, but nobody is alerted.
Objectives = Mapping[ConditionName, int | None]

# A message about a job that is being worked comes back after each lease, a hundred times at most:
# with leases of a minute that is an hour and 40 minutes. What is older, nobody takes.
_DLQ_PATIENCE_SECONDS: Final = 7200
_DEFAULTS: Final[Bounds] = MappingProxyType(
    {
        ConditionName.PAST_TRIAGE: 0,
        ConditionName.EXPIRING: 0,
        ConditionName.GROWTH: 10,
        ConditionName.DLQ_OLDEST: _DLQ_PATIENCE_SECONDS,
        ConditionName.WAITING: 3600,
        ConditionName.DUE: 900,
        ConditionName.FAILED: 100,
        ConditionName.BUDGET: 80,
        ConditionName.SWEEP_LAG: 300,
        ConditionName.DENIED: 0,
    }
)
# What a day may cost, only the deployment knows: without a bound it is not reckoned.
DEFAULT_OBJECTIVES: Final[Objectives] = MappingProxyType(
    {**_DEFAULTS, ConditionName.SPEND: None},
)

# How long a condition must hold before it is worth a message, where one look may be mistaken: a
# burst of failures after a quiet hour, a key that was refused once.
_HOLD: Final = MappingProxyType(
    {
        ConditionName.DUE: timedelta(minutes=2),
        ConditionName.FAILED: timedelta(minutes=5),
        ConditionName.DENIED: timedelta(minutes=2),
    }
)

_MOST: Final = 10**12
# Plain HTTP would show the URL, which is a secret, to whoever listens: only this machine may.
_RECEIVER: Final = re.compile(
    r"(https://[^\s/?#@]+|http://(127\.0\.0\.1|localhost|\[::1\])(:[0-9]+)?)([/?#]\S*)?", re.ASCII
)


def hold_of(name: str) -> timedelta:
    """Return how long the condition must hold before its alert fires."""
    return next((hold for known, hold in _HOLD.items() if known == name), timedelta())


def bounds_of(objectives: Objectives) -> Bounds:
    """Return the bounds of all that is reckoned."""
    told = {name: bound for name, bound in objectives.items() if bound is not None}
    return {**_DEFAULTS, **told}


def parse_objectives(text: str) -> Objectives:
    """Read JSON of bounds by condition, null for no alert; others keep theirs.

    Raises ``ValueError``, ``AttributeError`` or ``TypeError``.
    """
    told = {ConditionName(name): bound for name, bound in json.loads(text).items()}
    if told.keys() - DEFAULT_OBJECTIVES.keys():
        raise ValueError("that an open dead letter is there is worth no alert")
    for bound in told.values():
        if bound is not None and (type(bound) is not int or not 0 <= bound <= _MOST):
            raise ValueError("a bound is a whole number, zero or more")
    return {**DEFAULT_OBJECTIVES, **told}


def parse_receiver(text: str) -> str:
    """Read the URL of who is told: https, or this very machine. Raises ``ValueError``."""
    if text and not _RECEIVER.fullmatch(text):
        raise ValueError("must be an https URL")
    return text
