"""What can go wrong with an attempt, in our own words, and what each word means for the job.

Adapters turn the platform's and the providers' errors into the exceptions below; ``classify``
turns those into a ``Failure``; everything after reads only the failure. A user never sees the
text of a foreign error: messages come from the table of codes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from types import MappingProxyType
from typing import Final


class ErrorClass(StrEnum):
    """The kind of failure; it alone decides what follows."""

    TIMEOUT = "timeout"
    THROTTLED = "throttled"
    UNAVAILABLE = "unavailable"
    QUOTA = "quota"
    INVALID_INPUT = "invalid_input"
    TOO_LARGE = "too_large"
    REFUSED = "refused"
    DENIED = "denied"
    NOT_FOUND = "not_found"
    BUDGET = "budget"
    DEADLINE = "deadline"
    LOST = "lost"
    CRASHED = "crashed"
    STALE = "stale"
    UNKNOWN = "unknown"


class Road(StrEnum):
    """The way by which a job came to its dead letter."""

    PERMANENT = "permanent"
    EXHAUSTED = "exhausted"
    CRASHED = "crashed"
    STALE = "stale"
    DEADLINE = "deadline"
    BUDGET = "budget"
    UNDECODABLE = "undecodable"
    QUEUE_DLQ = "queue_dlq"


# Another try may help.
RETRYABLE: Final = frozenset(
    {
        ErrorClass.TIMEOUT,
        ErrorClass.THROTTLED,
        ErrorClass.UNAVAILABLE,
        ErrorClass.QUOTA,
        ErrorClass.CRASHED,
        ErrorClass.STALE,
        ErrorClass.UNKNOWN,
    }
)
# Not the job's doing: the attempt is given back, and only the deadline bounds the waiting.
GIVEN_BACK: Final = frozenset({ErrorClass.THROTTLED, ErrorClass.QUOTA})
# So a provider turns away whoever asks its model, not this job alone: the lane is parked for all.
PARKING: Final = frozenset({ErrorClass.THROTTLED, ErrorClass.QUOTA, ErrorClass.DENIED})
NO_MODEL: Final = "model_not_found"
# The provider looked at what it was asked, so it is there.
ANSWERED: Final = frozenset({ErrorClass.INVALID_INPUT, ErrorClass.TOO_LARGE, ErrorClass.REFUSED})
# The provider said so itself. After the others it may still be working under the same
# idempotency key, so the next attempt must send that key again.
DEFINITE: Final = frozenset(
    {
        ErrorClass.THROTTLED,
        ErrorClass.UNAVAILABLE,
        ErrorClass.QUOTA,
        ErrorClass.REFUSED,
        ErrorClass.DENIED,
        ErrorClass.INVALID_INPUT,
        ErrorClass.TOO_LARGE,
        ErrorClass.NOT_FOUND,
    }
)

# Nobody asked the provider: its lane is parked.
LANE_PARKED: Final = "lane_parked"
# Of ours or of the way to the provider, though their class is above: it may have done its work.
_IN_DOUBT: Final = frozenset({"storage_unavailable", "provider_connection_lost", LANE_PARKED})

# code -> what a person is told. Ours, whole, and free of anything that a caller or provider sent.
MESSAGES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "provider_timed_out": "The AI provider did not answer in time.",
        "attempt_timed_out": "The attempt took longer than one attempt may.",
        "provider_throttled": "The AI provider asked us to slow down.",
        "lane_parked": "The AI provider turned others away; the job waits until it may be asked.",
        "provider_unavailable": "The AI provider failed or could not be reached.",
        "provider_connection_lost": "The connection to the AI provider was lost.",
        "provider_answer_unusable": "The AI provider sent an answer that could not be used.",
        "provider_changed_model": "The AI provider changed its model in the middle of the work.",
        "provider_quota_used_up": "The allowance at the AI provider is used up.",
        "provider_rejected_input": "The AI provider did not accept the input.",
        "provider_refused": "The AI provider refused the content under its policy.",
        "provider_denied": "The AI provider did not accept our credentials.",
        "model_not_found": "The AI provider has no such model.",
        "input_too_large": "The input is larger than can be worked.",
        "input_gone": "The input no longer exists.",
        "input_not_text": "The input is not UTF-8 text.",
        "input_empty": "The input holds nothing to work on.",
        "audio_unreadable": "The recording is damaged, or of a sort that the AI model cannot read.",
        "input_not_json_lines": "The input is not JSON Lines of strings.",
        "audio_unsupported": "The recording is of a format that is not taken.",
        "no_speech": "Nothing is said in the recording.",
        "no_source_usable": "None of the sources could be used.",
        "storage_unavailable": "Our storage could not be reached.",
        "budget_exceeded": "The budget does not allow it: raise it, or wait for the next day's.",
        "budget_reserved": "What is left of the budget is reserved by other jobs; this one waits.",
        "price_unknown": "A budget binds, and the model's price is not known: set PRICES.",
        "deadline_passed": "The job's time was over before it was done.",
        "deadline_cut": "The attempt was stopped: the job's time was over.",
        "worker_crashed": "The process that worked the job stopped without a word.",
        "run_outlived_its_limit": "The run took longer than a run may.",
        "run_not_started": "The run could not be started under its name; it gets another.",
        "not_supported": "The run follows a plan that this version does not know.",
        "kind_unknown": "This deployment knows no such kind of job.",
        "schema_newer": "The message was written by a newer version than this one.",
        "body_undecodable": "The message could not be read.",
        "job_unknown": "The message belongs to no job.",
        "unexpected": "Something unforeseen went wrong.",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A classified error. ``retry_after`` is a floor that the other side asked for.

    ``lane`` is where the provider that failed was asked, as the store names it. ``billed``: it has
    answered, and bills that, though the answer is of no use to us.
    """

    error_class: ErrorClass
    code: str
    retry_after: timedelta | None = None
    lane: str | None = None
    billed: bool = False

    @property
    def retryable(self) -> bool:
        return self.error_class in RETRYABLE

    @property
    def definite(self) -> bool:
        """Whether the provider itself said no, so that the next try is another call."""
        return self.error_class in DEFINITE and self.code not in _IN_DOUBT

    @property
    def parks(self) -> bool:
        """Whether everybody who asks in its lane would fail so."""
        meets_all = self.error_class in PARKING or self.code == NO_MODEL
        return self.lane is not None and meets_all

    @property
    def message(self) -> str:
        return message_of(self.code)


def message_of(code: str) -> str:
    """Return our sentence for ``code``; codes of rows from other versions get the general one."""
    return MESSAGES.get(code, MESSAGES["unexpected"])


class AttemptFailed(Exception):
    """An attempt cannot go on, and it is known why. Adapters, providers and kinds raise it."""

    def __init__(
        self, error_class: ErrorClass, code: str, *, retry_after: timedelta | None = None
    ) -> None:
        super().__init__(code)
        self.failure = Failure(error_class=error_class, code=code, retry_after=retry_after)

    @classmethod
    def of(cls, failure: Failure) -> AttemptFailed:
        """Return the exception whose failure is this one, whole."""
        failed = cls(failure.error_class, failure.code)
        failed.failure = failure
        return failed


def classify(error: Exception) -> Failure:
    """Say what kind of failure ``error`` is. Total: the unforeseen is ``UNKNOWN``.

    Adapters have already turned foreign errors into ours, so nothing here reads a
    message's text or a status code.
    """
    match error:
        case AttemptFailed(failure=failure):
            return failure
        case TimeoutError():
            return Failure(error_class=ErrorClass.TIMEOUT, code="attempt_timed_out")
        case _:
            return Failure(error_class=ErrorClass.UNKNOWN, code="unexpected")
