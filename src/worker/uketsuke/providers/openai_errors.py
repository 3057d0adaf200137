"""What the errors of OpenAI-compatible servers mean to us, by tables whose rows name their source.

A row of a code wins over one of words, words over the status: different refusals share a status,
and servers that speak OpenAI's HTTP often have no codes. Words are looked for in the error's
message, which is then forgotten. Tests walk these tables: a row needs a recorded shape there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final

from uketsuke.domain.backoff import parse_retry_after
from uketsuke.domain.failure import AttemptFailed, ErrorClass
from uketsuke.providers.foreign_json import read_foreign
from uketsuke.providers.meaning import Meaning, meaning
from uketsuke.services.ports import HttpAnswer

_OPENAI: Final = "https://platform.openai.com/docs/guides/error-codes"
_RATE_LIMITS: Final = "https://platform.openai.com/docs/guides/rate-limits"
_SAFETY: Final = "https://platform.openai.com/docs/guides/safety-best-practices"
_AZURE_FILTER: Final = (
    "https://learn.microsoft.com/en-us/azure/ai-services/openai/concepts/content-filter"
)
_GUARDRAILS: Final = "https://developers.cloudflare.com/ai-gateway/guardrails/set-up-guardrail/"
# Not in OpenAI's guides, and quoted word for word by many who met them.
_SEEN: Final = "seen in OpenAI's answers"
_SPEECH: Final = (
    f"{_SEEN}; formats and limit: https://platform.openai.com/docs/guides/speech-to-text"
)
_VLLM: Final = "https://github.com/vllm-project/vllm (vllm/entrypoints/openai)"
_OPENROUTER: Final = "https://openrouter.ai/docs/api-reference/errors"
_ANTHROPIC: Final = "https://docs.anthropic.com/en/api/errors"
_HTTP: Final = "https://www.rfc-editor.org/rfc/rfc9110"
_CLOUDFLARE_5XX: Final = (
    "https://developers.cloudflare.com/support/troubleshooting/http-status-codes/"
)
_LOCAL: Final = "src/uketsuke_local/models"

_QUOTA: Final = (ErrorClass.QUOTA, "provider_quota_used_up")
_THROTTLED: Final = (ErrorClass.THROTTLED, "provider_throttled")
_REFUSED: Final = (ErrorClass.REFUSED, "provider_refused")
_DENIED: Final = (ErrorClass.DENIED, "provider_denied")
_TOO_LARGE: Final = (ErrorClass.TOO_LARGE, "input_too_large")
_NO_MODEL: Final = (ErrorClass.NOT_FOUND, "model_not_found")
_REJECTED: Final = (ErrorClass.INVALID_INPUT, "provider_rejected_input")
_UNREADABLE: Final = (ErrorClass.INVALID_INPUT, "audio_unreadable")
_TIMED_OUT: Final = (ErrorClass.TIMEOUT, "provider_timed_out")
_UNAVAILABLE: Final = (ErrorClass.UNAVAILABLE, "provider_unavailable")
_UNUSABLE: Final = (ErrorClass.UNAVAILABLE, "provider_answer_unusable")

# The error's ``code``, or else its ``type``.
BY_CODE: Final[Mapping[str, Meaning]] = MappingProxyType(
    {
        # Two refusals that share 429 with the rate limit, and that no short wait heals.
        "insufficient_quota": meaning(*_QUOTA, _OPENAI),
        "billing_not_active": meaning(*_QUOTA, _SEEN),
        "billing_hard_limit_reached": meaning(*_QUOTA, _SEEN),
        "rate_limit_exceeded": meaning(*_THROTTLED, _RATE_LIMITS),
        "content_filter": meaning(*_REFUSED, _AZURE_FILTER),
        "content_policy_violation": meaning(*_REFUSED, _SAFETY),
        "invalid_prompt": meaning(*_REFUSED, _SEEN),
        "2016": meaning(*_REFUSED, _GUARDRAILS),
        "2017": meaning(*_REFUSED, _GUARDRAILS),
        "context_length_exceeded": meaning(*_TOO_LARGE, _SEEN),
        "string_above_max_length": meaning(*_TOO_LARGE, _SEEN),
        "model_not_found": meaning(*_NO_MODEL, _SEEN),
        "model_not_available": meaning(*_NO_MODEL, _LOCAL),
        "invalid_api_key": meaning(*_DENIED, _SEEN),
        "account_deactivated": meaning(*_DENIED, _SEEN),
        "audio_too_short": meaning(*_UNREADABLE, _SPEECH),
        "invalid_file": meaning(*_UNREADABLE, _LOCAL),
    }
)
# Words of the message, in lower case, where the code says nothing or the same for many things.
BY_WORDS: Final[Mapping[str, Meaning]] = MappingProxyType(
    {
        "maximum context length": meaning(*_TOO_LARGE, _VLLM),
        "maximum file size exceeded": meaning(*_TOO_LARGE, _VLLM),
        "maximum content size limit": meaning(*_TOO_LARGE, _SPEECH),
        "invalid file format": meaning(*_UNREADABLE, _SPEECH),
        "unsupported file format": meaning(*_UNREADABLE, _SPEECH),
        "audio file could not be decoded": meaning(*_UNREADABLE, _SPEECH),
        "audio file might be corrupted": meaning(*_UNREADABLE, _SPEECH),
        "audio file is too short": meaning(*_UNREADABLE, _SPEECH),
        "invalid or unsupported audio file": meaning(*_UNREADABLE, _VLLM),
    }
)
BY_STATUS: Final[Mapping[int, Meaning]] = MappingProxyType(
    {
        400: meaning(*_REJECTED, _OPENAI),
        401: meaning(*_DENIED, _OPENAI),
        402: meaning(*_QUOTA, _OPENROUTER),
        403: meaning(*_DENIED, _OPENAI),
        404: meaning(*_NO_MODEL, _OPENAI),
        408: meaning(*_TIMED_OUT, _HTTP),
        409: meaning(*_UNAVAILABLE, _OPENAI),
        413: meaning(*_TOO_LARGE, _HTTP),
        415: meaning(*_REJECTED, _HTTP),
        422: meaning(*_REJECTED, _OPENAI),
        429: meaning(*_THROTTLED, _RATE_LIMITS),
        500: meaning(*_UNAVAILABLE, _OPENAI),
        502: meaning(*_UNAVAILABLE, _HTTP),
        503: meaning(*_UNAVAILABLE, _OPENAI),
        504: meaning(*_TIMED_OUT, _HTTP),
        522: meaning(*_TIMED_OUT, _CLOUDFLARE_5XX),
        524: meaning(*_TIMED_OUT, _CLOUDFLARE_5XX),
        529: meaning(*_THROTTLED, _ANTHROPIC),
    }
)
# The first digit of a status that has no row. A redirect or an odd success may pass.
BY_RANGE: Final[Mapping[int, Meaning]] = MappingProxyType(
    {
        2: meaning(*_UNUSABLE, _HTTP),
        3: meaning(*_UNUSABLE, _HTTP),
        4: meaning(*_REJECTED, _HTTP),
        5: meaning(*_UNAVAILABLE, _HTTP),
    }
)
# What newer models of OpenAI's say of the older name for the limit of an answer's tokens
# (https://platform.openai.com/docs/api-reference/chat/create#chat-create-max_tokens).
_UNSUPPORTED: Final = ("unsupported_parameter", "max_tokens")


def refusal_of(answer: HttpAnswer, *, now: datetime) -> AttemptFailed:
    """Say what an answer that is no success means."""
    wait = parse_retry_after(answer.headers.get("retry-after"), now=now)
    return _meaning_of(answer).failed(retry_after=wait)


def refusal_within(answer: HttpAnswer, *, now: datetime) -> AttemptFailed | None:
    """Say what an error in the body of a success means; None if there is none that says enough.

    OpenRouter answers so, with the status in ``code``, once a model has begun its work.
    """
    code = _error(answer).get("code")
    if isinstance(code, int) and 400 <= code < 600:
        return refusal_of(replace(answer, status=code), now=now)
    if isinstance(code, str) and code in BY_CODE:
        return refusal_of(answer, now=now)
    return None


def wants_other_limit(answer: HttpAnswer) -> bool:
    """Whether the model refuses ``max_tokens`` and wants ``max_completion_tokens``."""
    if answer.status != 400:
        return False
    error = _error(answer)
    return (error.get("code"), error.get("param")) == _UNSUPPORTED


def _meaning_of(answer: HttpAnswer) -> Meaning:
    error = _error(answer)
    for said in (error.get("code"), error.get("type")):
        if isinstance(said, (str, int)) and str(said) in BY_CODE:
            return BY_CODE[str(said)]
    message = str(error.get("message", "")).lower()
    found = (row for words, row in BY_WORDS.items() if words in message)
    by_status = BY_STATUS.get(answer.status) or BY_RANGE.get(answer.status // 100, BY_RANGE[2])
    # Only a refusal is read: a 500 may quote anything.
    return next(found, by_status) if 400 <= answer.status < 500 else by_status


def _error(answer: HttpAnswer) -> Mapping[str, Any]:
    """Return the error object: OpenAI's, vLLM's older one at the top, AI Gateway's in a list."""
    try:
        document = read_foreign(answer.body)
        error = document.get("error", document)
        error = error[0] if isinstance(error, list) else error
    except (ValueError, LookupError, AttributeError):
        return {}
    return error if isinstance(error, Mapping) else {}
