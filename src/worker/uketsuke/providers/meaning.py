"""What a provider's error means to us: the rows of which the mapping tables are made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from uketsuke.domain.failure import AttemptFailed, ErrorClass


@dataclass(frozen=True, slots=True, kw_only=True)
class Meaning:
    """One row's right side. ``source`` is where the provider says so, or where it was seen."""

    error_class: ErrorClass
    code: str
    source: str

    def failed(self, *, retry_after: timedelta | None = None) -> AttemptFailed:
        return AttemptFailed(self.error_class, self.code, retry_after=retry_after)


def meaning(error_class: ErrorClass, code: str, source: str) -> Meaning:
    return Meaning(error_class=error_class, code=code, source=source)


class Fault(StrEnum):
    """What goes wrong without an error that the provider named."""

    TIMED_OUT = "no answer in time"
    CONNECTION_LOST = "the connection failed, or ended within the answer"
    NOT_JSON = "an answer that is no JSON object"
    TOO_LONG = "an answer larger than any that we read"
    NO_CHOICE = "no choice in the answer, or an odd one"
    NO_TEXT = "a choice without a text"
    CUT_OFF = "the answer was cut off at its limit of tokens"
    FILTERED = "a content filter took the answer away"
    REFUSED = "the model would not answer"
    VECTORS_UNFIT = "vectors that do not fit the texts"
    TRANSCRIPT_UNFIT = "a transcript without text, or with impossible times"


_CHAT: Final = "https://platform.openai.com/docs/api-reference/chat/object"
_OWN: Final = "ours: what the platform's fetch and JSON tell"

_UNUSABLE: Final = (ErrorClass.UNAVAILABLE, "provider_answer_unusable")
FAULTS: Final[Mapping[Fault, Meaning]] = MappingProxyType(
    {
        Fault.TIMED_OUT: meaning(ErrorClass.TIMEOUT, "provider_timed_out", _OWN),
        # Not a no of the provider's: it may be at work on the call under its key.
        Fault.CONNECTION_LOST: meaning(ErrorClass.UNAVAILABLE, "provider_connection_lost", _OWN),
        Fault.NOT_JSON: meaning(*_UNUSABLE, _OWN),
        Fault.TOO_LONG: meaning(*_UNUSABLE, _OWN),
        Fault.NO_CHOICE: meaning(*_UNUSABLE, _CHAT),
        Fault.NO_TEXT: meaning(*_UNUSABLE, _CHAT),
        # Cut off in the middle is not an answer that anyone should keep.
        Fault.CUT_OFF: meaning(*_UNUSABLE, _CHAT),
        Fault.FILTERED: meaning(ErrorClass.REFUSED, "provider_refused", _CHAT),
        Fault.REFUSED: meaning(ErrorClass.REFUSED, "provider_refused", _CHAT),
        Fault.VECTORS_UNFIT: meaning(
            *_UNUSABLE, "https://platform.openai.com/docs/api-reference/embeddings/object"
        ),
        Fault.TRANSCRIPT_UNFIT: meaning(
            *_UNUSABLE, "https://platform.openai.com/docs/api-reference/audio/verbose-json-object"
        ),
    }
)


_NO_ANSWER: Final = frozenset({Fault.TIMED_OUT, Fault.CONNECTION_LOST})


def fault(found: Fault) -> AttemptFailed:
    failure = FAULTS[found].failed().failure
    return AttemptFailed.of(replace(failure, billed=found not in _NO_ANSWER))
