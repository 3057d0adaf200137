"""What the errors of Workers AI mean to us, by tables whose rows name their source.

The binding raises ``<name>: <internal code>: <text>``. Words win over the code: one code, 3010,
stands for all that a model finds wrong. Tests walk these tables: a row needs a recorded text there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Final

from uketsuke.domain.failure import AttemptFailed, ErrorClass
from uketsuke.providers.meaning import FAULTS, Fault, Meaning, meaning

_ERRORS: Final = "https://developers.cloudflare.com/workers-ai/platform/errors/"
_GUARDRAILS: Final = "https://developers.cloudflare.com/ai-gateway/guardrails/set-up-guardrail/"
_BINDING: Final = "https://github.com/cloudflare/workerd (src/cloudflare/internal/ai-api.ts)"
# Not in the documented table, and quoted word for word by many who met them.
_SEEN: Final = "seen in production by users of the binding"

_NO_MODEL: Final = (ErrorClass.NOT_FOUND, "model_not_found")
_DENIED: Final = (ErrorClass.DENIED, "provider_denied")
_REJECTED: Final = (ErrorClass.INVALID_INPUT, "provider_rejected_input")
_UNREADABLE: Final = (ErrorClass.INVALID_INPUT, "audio_unreadable")
_TOO_LARGE: Final = (ErrorClass.TOO_LARGE, "input_too_large")
_TIMED_OUT: Final = (ErrorClass.TIMEOUT, "provider_timed_out")
_QUOTA: Final = (ErrorClass.QUOTA, "provider_quota_used_up")
_THROTTLED: Final = (ErrorClass.THROTTLED, "provider_throttled")
_REFUSED: Final = (ErrorClass.REFUSED, "provider_refused")
_UNAVAILABLE: Final = (ErrorClass.UNAVAILABLE, "provider_unavailable")

BY_CODE: Final[Mapping[int, Meaning]] = MappingProxyType(
    {
        5007: meaning(*_NO_MODEL, _ERRORS),
        3042: meaning(*_NO_MODEL, _ERRORS),
        3039: meaning(*_NO_MODEL, _ERRORS),  # a fine-tune without its files
        5018: meaning(*_DENIED, _ERRORS),
        3041: meaning(*_DENIED, _ERRORS),
        5016: meaning(*_DENIED, _ERRORS),  # terms of a model that nobody has agreed to
        3023: meaning(*_DENIED, _ERRORS),
        5019: meaning(*_DENIED, _ERRORS),  # an old SDK: refused whoever asks
        3003: meaning(*_REJECTED, _ERRORS),
        5004: meaning(*_REJECTED, _ERRORS),
        5005: meaning(*_REJECTED, _ERRORS),
        5006: meaning(*_REJECTED, _SEEN),
        3010: meaning(*_REJECTED, _SEEN),
        3006: meaning(*_TOO_LARGE, _ERRORS),
        5021: meaning(*_TOO_LARGE, _SEEN),
        3007: meaning(*_TIMED_OUT, _ERRORS),
        3008: meaning(*_TIMED_OUT, _ERRORS),
        3046: meaning(*_TIMED_OUT, _SEEN),
        3036: meaning(*_QUOTA, _ERRORS),
        4006: meaning(*_QUOTA, _SEEN),
        3040: meaning(*_THROTTLED, _ERRORS),
        2016: meaning(*_REFUSED, _GUARDRAILS),
        2017: meaning(*_REFUSED, _GUARDRAILS),
    }
)
# Words, in lower case, wherever they stand.
BY_WORDS: Final[Mapping[str, Meaning]] = MappingProxyType(
    {
        "context window limit": meaning(*_TOO_LARGE, _SEEN),
        "request timeout": meaning(*_TIMED_OUT, _SEEN),
        "network connection lost": FAULTS[Fault.CONNECTION_LOST],
    }
)
# What a code means when a recording was sent: a model that cannot read it says no more than this.
OF_AUDIO: Final[Mapping[int, Meaning]] = MappingProxyType({3010: meaning(*_UNREADABLE, _SEEN)})
# A body that is no JSON, as of a proxy on the way, is raised as it came.
OTHERWISE: Final = meaning(*_UNAVAILABLE, _BINDING)

_CODE: Final = re.compile(r"^(?:\w+: )*(\d{4}): ")


def refusal_of(words: str, *, of_audio: bool, now: datetime) -> AttemptFailed:
    """Say what an error of the binding's means."""
    row = _meaning_of(words, of_audio=of_audio)
    return row.failed(
        retry_after=_until_reset(now) if row.error_class is ErrorClass.QUOTA else None
    )


def _meaning_of(words: str, *, of_audio: bool) -> Meaning:
    for mark, row in BY_WORDS.items():
        if mark in words.lower():
            return row
    found = _CODE.match(words)
    code = int(found.group(1)) if found else 0
    if of_audio and code in OF_AUDIO:
        return OF_AUDIO[code]
    return BY_CODE.get(code, OTHERWISE)


def _until_reset(now: datetime) -> timedelta:
    """Return the time to 00:00 UTC, when the day's allowance begins anew.

    Source: developers.cloudflare.com/workers-ai/platform/pricing.
    """
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    return midnight + timedelta(days=1) - now
