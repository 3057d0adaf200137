"""The lifecycle of a job, as data: what may happen to it, and where that leads.

The SQL statements guard these transitions one by one; the contract tests hold both
drivers, the documentation and this table together.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final


class JobState(StrEnum):
    """Where a job stands. (An *outcome* is an attempt's; a *status* is HTTP's.)"""

    ACCEPTED = "accepted"  # durable, waiting for a lease
    RUNNING = "running"  # one attempt holds the lease
    RETRYING = "retrying"  # the last attempt failed; waiting out its backoff
    SUCCEEDED = "succeeded"
    FAILED = "failed"  # ended badly; its dead letter says what may be done
    CANCELED = "canceled"


class JobEvent(StrEnum):
    """What moves a job. Named in the past tense: it is what happened, not a wish."""

    LEASED = "leased"  # due, attempts left, before the deadline, no cancel wish
    POSTPONED = "postponed"  # a lane that it asks is parked: only the due time moves
    LEASED_AGAIN = "leased_again"  # the lease had expired; a new holder takes over
    RENEWED = "renewed"  # the holder lives; progress rides along
    NUDGED = "nudged"  # a silent run's instance was woken, or made; its lease goes on once
    COMPLETED = "completed"
    FOUND_COMPLETE = "found_complete"  # the instance was done, its last write was lost
    DEFERRED = "deferred"  # failed, may be tried again
    GAVE_UP = "gave_up"  # failed for good, or spent
    CANCEL_REQUESTED = "cancel_requested"  # while running: a wish, a completion may win
    CANCELED = "canceled"  # before it ran, or the holder noticed the wish
    TAKEN_BACK = "taken_back"  # the lease expired; to be tried again
    ABANDONED = "abandoned"  # the lease expired for the last time
    OUTLIVED = "outlived"  # it has run longer than a run may
    DEADLINE_PASSED = "deadline_passed"
    FOUND_HOPELESS = "found_hopeless"  # nothing could ever work it (kind gone, input gone)


class Outcome(StrEnum):
    """How one attempt ended."""

    SUCCEEDED = "succeeded"
    DEFERRED = "deferred"  # given back: not the job's fault, does not count
    FAILED = "failed"
    LOST = "lost"  # its lease ended under it
    CANCELED = "canceled"


class Engine(StrEnum):
    """What runs a job: one delivery of the queue, or a Workflow's durable steps."""

    QUEUE = "queue"
    WORKFLOW = "workflow"


class Origin(StrEnum):
    """Who asked for the job."""

    API = "api"
    SCHEDULE = "schedule"
    REDRIVE = "redrive"


_S = JobState
_E = JobEvent

TRANSITIONS: Final[Mapping[tuple[JobState, JobEvent], JobState]] = MappingProxyType(
    {
        (_S.ACCEPTED, _E.LEASED): _S.RUNNING,
        (_S.RETRYING, _E.LEASED): _S.RUNNING,
        (_S.ACCEPTED, _E.POSTPONED): _S.ACCEPTED,
        (_S.RETRYING, _E.POSTPONED): _S.RETRYING,
        (_S.RUNNING, _E.RENEWED): _S.RUNNING,
        (_S.RUNNING, _E.NUDGED): _S.RUNNING,
        (_S.RUNNING, _E.LEASED_AGAIN): _S.RUNNING,
        (_S.RUNNING, _E.COMPLETED): _S.SUCCEEDED,
        (_S.RUNNING, _E.FOUND_COMPLETE): _S.SUCCEEDED,
        (_S.RUNNING, _E.DEFERRED): _S.RETRYING,
        (_S.RUNNING, _E.GAVE_UP): _S.FAILED,
        (_S.RUNNING, _E.CANCEL_REQUESTED): _S.RUNNING,
        (_S.ACCEPTED, _E.CANCELED): _S.CANCELED,
        (_S.RETRYING, _E.CANCELED): _S.CANCELED,
        (_S.RUNNING, _E.CANCELED): _S.CANCELED,
        (_S.RUNNING, _E.TAKEN_BACK): _S.RETRYING,
        (_S.RUNNING, _E.ABANDONED): _S.FAILED,
        (_S.RUNNING, _E.OUTLIVED): _S.FAILED,
        (_S.ACCEPTED, _E.DEADLINE_PASSED): _S.FAILED,
        (_S.RETRYING, _E.DEADLINE_PASSED): _S.FAILED,
        (_S.RUNNING, _E.DEADLINE_PASSED): _S.FAILED,
        (_S.ACCEPTED, _E.FOUND_HOPELESS): _S.FAILED,
        (_S.RETRYING, _E.FOUND_HOPELESS): _S.FAILED,
    }
)

TERMINAL: Final = frozenset({_S.SUCCEEDED, _S.FAILED, _S.CANCELED})
WAITING: Final = frozenset({_S.ACCEPTED, _S.RETRYING})


class IllegalTransition(Exception):
    """That event cannot happen to a job in that state."""


def advance(state: JobState, event: JobEvent) -> JobState:
    """Return the state that ``event`` leads to, or raise ``IllegalTransition``."""
    try:
        return TRANSITIONS[state, event]
    except KeyError:
        raise IllegalTransition(f"{event} cannot happen to a {state} job") from None
