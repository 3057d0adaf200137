"""Any server that speaks OpenAI's HTTP: its answers read, its errors put into our words.

Routes and error shapes as documented at platform.openai.com/docs/api-reference; vLLM, Ollama,
LM Studio and AI Gateway speak them too.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from uketsuke.domain.backoff import parse_retry_after
from uketsuke.domain.failure import AttemptFailed, ErrorClass
from uketsuke.providers.embeddings import vectors_of
from uketsuke.providers.port import Answer, CallContext
from uketsuke.services.ports import Clock, HttpAnswer, HttpClient, TooLarge, Unavailable


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAICompatible:
    """A provider by its base URL, as in ``https://host/v1``."""

    http: HttpClient
    clock: Clock
    base_url: str
    api_key: str

    async def chat(
        self, *, model: str, system: str, user: str, max_output_tokens: int, context: CallContext
    ) -> Answer:
        """Ask a chat model once; the answer's value is its text."""
        document = {
            "model": model,
            "messages": [
                {"role": "system", "content": system},
                {"role": "user", "content": user},
            ],
            "max_tokens": max_output_tokens,
            "stream": False,
        }
        answer = await self._post("chat/completions", document, context)
        return self._answer(_text_of(answer), answer)

    async def embed(self, *, model: str, texts: Sequence[str], context: CallContext) -> Answer:
        """Embed texts; the answer's value is their ``Vectors``, in the order of the texts."""
        document = {"model": model, "input": list(texts), "encoding_format": "float"}
        answer = await self._post("embeddings", document, context)
        return self._answer(vectors_of(answer, count=len(texts)), answer)

    async def _post(
        self, route: str, document: Mapping[str, object], context: CallContext
    ) -> Mapping[str, Any]:
        headers = {
            "authorization": f"Bearer {self.api_key}",
            "content-type": "application/json",
            "idempotency-key": context.idempotency_key,
            "x-client-request-id": context.idempotency_key,
        }
        if context.traceparent:
            headers["traceparent"] = context.traceparent
        try:
            answer = await self.http.post(
                f"{self.base_url}/{route}",
                headers=headers,
                body=json.dumps(document, ensure_ascii=False).encode(),
                timeout=context.timeout,
            )
        except TimeoutError:
            raise AttemptFailed(ErrorClass.TIMEOUT, "provider_timed_out") from None
        except Unavailable:
            # Not a no of the provider's: it may be at work on the call under its key.
            raise AttemptFailed(ErrorClass.UNAVAILABLE, "provider_connection_lost") from None
        except TooLarge:
            raise AttemptFailed(*_UNUSABLE) from None
        if answer.status != 200:
            raise self._refusal(answer)
        return {**_json_object(answer), "_request_id": answer.headers.get("x-request-id")}

    def _refusal(self, answer: HttpAnswer) -> AttemptFailed:
        code = _error_code(answer)
        if code and code in _BY_CODE:
            error_class, ours = _BY_CODE[code]
        else:
            error_class, ours = _BY_STATUS.get(answer.status, _by_range(answer.status))
        wait = parse_retry_after(answer.headers.get("retry-after"), now=self.clock.now())
        return AttemptFailed(error_class, ours, retry_after=wait)

    def _answer(self, value: Any, document: Mapping[str, Any]) -> Answer:
        usage = document.get("usage")
        usage = usage if isinstance(usage, Mapping) else {}
        return Answer(
            value=value,
            model=_string(document.get("model")),
            request_id=_string(document.get("_request_id")) or _string(document.get("id")),
            input_tokens=_count(usage.get("prompt_tokens")),
            output_tokens=_count(usage.get("completion_tokens")),
        )


_UNAVAILABLE: Final = (ErrorClass.UNAVAILABLE, "provider_unavailable")
_UNUSABLE: Final = (ErrorClass.UNAVAILABLE, "provider_answer_unusable")

# platform.openai.com/docs/guides/error-codes: two different refusals share 429.
_BY_CODE: Final[Mapping[str, tuple[ErrorClass, str]]] = {
    "insufficient_quota": (ErrorClass.QUOTA, "provider_quota_used_up"),
    "billing_hard_limit_reached": (ErrorClass.QUOTA, "provider_quota_used_up"),
    "content_filter": (ErrorClass.REFUSED, "provider_refused"),
    "content_policy_violation": (ErrorClass.REFUSED, "provider_refused"),
    "context_length_exceeded": (ErrorClass.TOO_LARGE, "input_too_large"),
    "model_not_found": (ErrorClass.NOT_FOUND, "model_not_found"),
    "invalid_api_key": (ErrorClass.DENIED, "provider_denied"),
}
_BY_STATUS: Final[Mapping[int, tuple[ErrorClass, str]]] = {
    400: (ErrorClass.INVALID_INPUT, "provider_rejected_input"),
    401: (ErrorClass.DENIED, "provider_denied"),
    403: (ErrorClass.DENIED, "provider_denied"),
    404: (ErrorClass.NOT_FOUND, "model_not_found"),
    408: (ErrorClass.TIMEOUT, "provider_timed_out"),
    409: _UNAVAILABLE,
    413: (ErrorClass.TOO_LARGE, "input_too_large"),
    422: (ErrorClass.INVALID_INPUT, "provider_rejected_input"),
    429: (ErrorClass.THROTTLED, "provider_throttled"),
    504: (ErrorClass.TIMEOUT, "provider_timed_out"),
    529: (ErrorClass.THROTTLED, "provider_throttled"),
}


def _by_range(status: int) -> tuple[ErrorClass, str]:
    if 400 <= status < 500:
        return ErrorClass.INVALID_INPUT, "provider_rejected_input"
    # A redirect or an odd success is no answer either, and may pass.
    return _UNAVAILABLE if status >= 500 else _UNUSABLE


def _error_code(answer: HttpAnswer) -> str | None:
    try:
        error = json.loads(answer.body)["error"]
        return _string(error.get("code")) or _string(error.get("type"))
    except (ValueError, LookupError, TypeError, AttributeError):
        return None


def _json_object(answer: HttpAnswer) -> Mapping[str, Any]:
    try:
        document = json.loads(answer.body)
    except (ValueError, RecursionError):
        raise AttemptFailed(*_UNUSABLE) from None
    if not isinstance(document, dict):
        raise AttemptFailed(*_UNUSABLE)
    return document


def _text_of(document: Mapping[str, Any]) -> str:
    try:
        choice = document["choices"][0]
        reason, message = choice.get("finish_reason"), choice["message"]
        text, refusal = message.get("content"), message.get("refusal")
    except (LookupError, TypeError, AttributeError):
        raise AttemptFailed(*_UNUSABLE) from None
    if reason == "content_filter" or refusal:
        raise AttemptFailed(ErrorClass.REFUSED, "provider_refused")
    # Cut off in the middle (finish_reason "length") is not an answer that anyone should keep.
    if reason == "length" or not isinstance(text, str) or not text.strip():
        raise AttemptFailed(*_UNUSABLE)
    return _storable(text)


def _storable(text: str) -> str:
    """Refuse what no UTF-8 can hold; drop NUL, at which a database may end a text."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise AttemptFailed(*_UNUSABLE) from None
    return text.replace("\0", "").strip()


def _string(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
