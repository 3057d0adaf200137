"""Answers of OpenAI-compatible servers as they were seen, one for each row of the tables.

``means`` is written down here once more: a row that comes to mean something else shall be noticed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from tests.providers.recorded import Manner, Recorded
from uketsuke.domain.failure import ErrorClass
from uketsuke.domain.lane import Capability
from uketsuke.providers.meaning import Fault
from uketsuke.services.ports import MOST_ANSWER_BYTES

Row = tuple[str, object]  # the table, and the row's left side


@dataclass(frozen=True, kw_only=True)
class Shape:
    """What a call met, and what that means."""

    recorded: Recorded
    means: ErrorClass
    call: Capability = Capability.CHAT


def _error(
    status: int,
    message: str,
    means: ErrorClass,
    *,
    code: str | int | None = None,
    kind: str = "invalid_request_error",
    param: str | None = None,
    call: Capability = Capability.CHAT,
) -> Shape:
    error = {"message": message, "type": kind, "param": param, "code": code}
    return Shape(recorded=Recorded(status=status, body={"error": error}), means=means, call=call)


def _unreadable(message: str, *, code: str | None = None, param: str | None = None) -> Shape:
    return _error(
        400,
        message,
        ErrorClass.INVALID_INPUT,
        code=code,
        param=param,
        call=Capability.TRANSCRIBE,
    )


def _page(status: int, means: ErrorClass) -> Shape:
    """A page from something on the way that is no provider."""
    page = f"<html><head><title>{status}</title></head><body>cloudflare</body></html>"
    return Shape(recorded=Recorded(status=status, body=page.encode()), means=means)


def _chat(**choice: object) -> Recorded:
    message = {"role": "assistant", "content": "A text.", "refusal": None}
    whole = {"index": 0, "message": message, "finish_reason": "stop", **choice}
    return Recorded(body={"id": "chatcmpl-1", "object": "chat.completion", "choices": [whole]})


def _odd(recorded: Recorded, means: ErrorClass, call: Capability = Capability.CHAT) -> Shape:
    return Shape(recorded=recorded, means=means, call=call)


_GATEWAY: Final = "due to security configurations"
_CODES: Final[Mapping[str, Shape]] = {
    "insufficient_quota": _error(
        429,
        "You exceeded your current quota, please check your plan and billing details.",
        ErrorClass.QUOTA,
        code="insufficient_quota",
        kind="insufficient_quota",
    ),
    "billing_not_active": _error(
        429,
        "Your account is not active, please check your billing details on our website.",
        ErrorClass.QUOTA,
        code="billing_not_active",
        kind="billing_not_active",
    ),
    "billing_hard_limit_reached": _error(
        400,
        "Billing hard limit has been reached",
        ErrorClass.QUOTA,
        kind="billing_hard_limit_reached",
    ),
    "rate_limit_exceeded": _error(
        429,
        "Rate limit reached for gpt-4o in organization org-1 on tokens per min (TPM).",
        ErrorClass.THROTTLED,
        code="rate_limit_exceeded",
        kind="tokens",
    ),
    "content_filter": _error(
        400,
        "The response was filtered due to the prompt triggering a content management policy.",
        ErrorClass.REFUSED,
        code="content_filter",
    ),
    "content_policy_violation": _error(
        400,
        "Your request was rejected as a result of our safety system.",
        ErrorClass.REFUSED,
        code="content_policy_violation",
    ),
    "invalid_prompt": _error(
        400,
        "Invalid prompt: your prompt was flagged as potentially violating our usage policy.",
        ErrorClass.REFUSED,
        code="invalid_prompt",
    ),
    "context_length_exceeded": _error(
        400,
        "This model's maximum context length is 8192 tokens.",
        ErrorClass.TOO_LARGE,
        code="context_length_exceeded",
        param="messages",
    ),
    "string_above_max_length": _error(
        400,
        "Invalid 'messages[1].content': string too long.",
        ErrorClass.TOO_LARGE,
        code="string_above_max_length",
    ),
    "model_not_found": _error(
        404,
        "The model `gpt-9` does not exist or you do not have access to it.",
        ErrorClass.NOT_FOUND,
        code="model_not_found",
    ),
    "model_not_available": _error(
        503,
        "The speech weights are not here, so nothing can be transcribed.",
        ErrorClass.NOT_FOUND,
        code="model_not_available",
        kind="server_error",
        call=Capability.TRANSCRIBE,
    ),
    "invalid_api_key": _error(
        401, "Incorrect API key provided: sk-1.", ErrorClass.DENIED, code="invalid_api_key"
    ),
    "account_deactivated": _error(
        401,
        "The OpenAI account associated with this API key has been deactivated.",
        ErrorClass.DENIED,
        code="account_deactivated",
    ),
    "audio_too_short": _unreadable(
        "Audio file is too short. Minimum audio length is 0.1 seconds.",
        code="audio_too_short",
        param="file",
    ),
    "invalid_file": _unreadable(
        "The file is no audio that can be decoded. Formats: wav, mp3.", code="invalid_file"
    ),
    # AI Gateway's errors are a list, and their codes numbers.
    **{
        str(code): Shape(
            recorded=Recorded(
                status=424,
                body={
                    "success": False,
                    "result": [],
                    "messages": [],
                    "error": [{"code": code, "message": f"{what} blocked {_GATEWAY}"}],
                },
            ),
            means=ErrorClass.REFUSED,
        )
        for code, what in ((2016, "Prompt"), (2017, "Response"))
    },
}
_WORDS: Final[Mapping[str, Shape]] = {
    # vLLM's older shape has no "error" around it, and its codes are the status.
    "maximum context length": Shape(
        recorded=Recorded(
            status=400,
            body={
                "object": "error",
                "message": "This model's maximum context length is 4096 tokens. However, you ...",
                "type": "BadRequestError",
                "param": None,
                "code": 400,
            },
        ),
        means=ErrorClass.TOO_LARGE,
    ),
    "maximum file size exceeded": _error(
        400,
        "Maximum file size exceeded",
        ErrorClass.TOO_LARGE,
        code=400,
        kind="BadRequestError",
        param="audio_filesize_mb",
        call=Capability.TRANSCRIBE,
    ),
    "maximum content size limit": _error(
        413,
        "Maximum content size limit (26214400) exceeded (26256400 bytes read)",
        ErrorClass.TOO_LARGE,
        kind="server_error",
        call=Capability.TRANSCRIBE,
    ),
    "invalid file format": _unreadable(
        "Invalid file format. Supported formats: ['flac', 'm4a', 'mp3', 'mp4', 'wav', 'webm']"
    ),
    "unsupported file format": _unreadable(
        "Unsupported file format bin", code="unsupported_value", param="file"
    ),
    "audio file could not be decoded": _unreadable(
        "The audio file could not be decoded or its format is not supported."
    ),
    "audio file might be corrupted": _unreadable(
        "Audio file might be corrupted or unsupported", code="invalid_value", param="file"
    ),
    "audio file is too short": _unreadable(
        "Audio file is too short. Minimum audio length is 0.1 seconds."
    ),
    "invalid or unsupported audio file": _unreadable("Invalid or unsupported audio file."),
}
_STATUSES: Final[Mapping[int, Shape]] = {
    400: _error(400, "'messages' is a required property", ErrorClass.INVALID_INPUT),
    401: _error(401, "You didn't provide an API key.", ErrorClass.DENIED),
    402: _error(402, "Insufficient credits", ErrorClass.QUOTA, code=402),
    403: _error(
        403,
        "Country, region, or territory not supported",
        ErrorClass.DENIED,
        code="unsupported_country_region_territory",
        kind="request_forbidden",
    ),
    404: _error(
        404,
        'model "llama9" not found, try pulling it first',
        ErrorClass.NOT_FOUND,
        kind="api_error",
    ),
    408: _page(408, ErrorClass.TIMEOUT),
    409: _error(409, "The resource was updated by another request.", ErrorClass.UNAVAILABLE),
    413: _page(413, ErrorClass.TOO_LARGE),
    415: _error(415, "Unsupported Media Type", ErrorClass.INVALID_INPUT),
    422: _error(422, "Unable to process the request.", ErrorClass.INVALID_INPUT),
    429: _error(429, "Rate limited", ErrorClass.THROTTLED, kind="requests"),
    500: _error(
        500,
        "The server had an error while processing your request. Sorry about that!",
        ErrorClass.UNAVAILABLE,
        kind="server_error",
    ),
    502: _page(502, ErrorClass.UNAVAILABLE),
    503: _error(
        503,
        "The engine is currently overloaded, please try again later",
        ErrorClass.UNAVAILABLE,
        kind="service_unavailable_error",
    ),
    504: _page(504, ErrorClass.TIMEOUT),
    522: _page(522, ErrorClass.TIMEOUT),
    524: _page(524, ErrorClass.TIMEOUT),
    529: _error(529, "Overloaded", ErrorClass.THROTTLED, kind="overloaded_error"),
}
_RANGES: Final[Mapping[int, Shape]] = {
    2: Shape(recorded=Recorded(status=202, body={"id": "later"}), means=ErrorClass.UNAVAILABLE),
    3: Shape(
        recorded=Recorded(status=302, headers={"location": "/login"}), means=ErrorClass.UNAVAILABLE
    ),
    4: _error(418, "I'm a teapot", ErrorClass.INVALID_INPUT),
    5: _page(520, ErrorClass.UNAVAILABLE),
}
_FAULTS: Final[Mapping[Fault, Shape]] = {
    Fault.TIMED_OUT: _odd(Recorded(manner=Manner.SILENT), ErrorClass.TIMEOUT),
    Fault.CONNECTION_LOST: _odd(Recorded(manner=Manner.GONE), ErrorClass.UNAVAILABLE),
    Fault.TOO_LONG: _odd(Recorded(body=b" " * (MOST_ANSWER_BYTES + 1)), ErrorClass.UNAVAILABLE),
    Fault.NOT_JSON: _odd(Recorded(body=b'{"choices": [{"mess'), ErrorClass.UNAVAILABLE),
    Fault.NO_CHOICE: _odd(Recorded(body={"id": "c", "choices": []}), ErrorClass.UNAVAILABLE),
    Fault.NO_TEXT: _odd(
        _chat(message={"role": "assistant", "content": ""}), ErrorClass.UNAVAILABLE
    ),
    Fault.CUT_OFF: _odd(_chat(finish_reason="length"), ErrorClass.UNAVAILABLE),
    Fault.FILTERED: _odd(_chat(finish_reason="content_filter"), ErrorClass.REFUSED),
    Fault.REFUSED: _odd(
        _chat(message={"role": "assistant", "content": None, "refusal": "I cannot help."}),
        ErrorClass.REFUSED,
    ),
    Fault.VECTORS_UNFIT: _odd(
        Recorded(body={"data": [{"index": 0, "embedding": []}]}),
        ErrorClass.UNAVAILABLE,
        Capability.EMBED,
    ),
    Fault.TRANSCRIPT_UNFIT: _odd(
        Recorded(body={"text": "Hm.", "segments": [{"start": 2, "end": 1, "text": "Hm."}]}),
        ErrorClass.UNAVAILABLE,
        Capability.TRANSCRIBE,
    ),
}
SHAPES: Final[Mapping[Row, Shape]] = {
    **{("code", code): shape for code, shape in _CODES.items()},
    **{("words", words): shape for words, shape in _WORDS.items()},
    **{("status", status): shape for status, shape in _STATUSES.items()},
    **{("range", digit): shape for digit, shape in _RANGES.items()},
    **{("fault", fault): shape for fault, shape in _FAULTS.items()},
}
