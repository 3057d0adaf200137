"""Errors of Workers AI as they were seen, one for each row of the tables.

``means`` is written down here once more: a row that comes to mean something else shall be noticed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tests.providers.openai_shapes import Row, Shape
from tests.providers.recorded import Manner, Recorded
from uketsuke.domain.failure import ErrorClass
from uketsuke.domain.lane import Capability

_MODEL: Final = "@cf/meta/llama-3.1-8b-instruct"


def _error(
    status: int, code: int, text: str, means: ErrorClass, call: Capability = Capability.CHAT
) -> Shape:
    body = {"internalCode": code, "name": "AiError", "description": text, "message": text}
    return Shape(recorded=Recorded(status=status, body=body), means=means, call=call)


def _listed(status: int, code: int, text: str, means: ErrorClass) -> Shape:
    """An error of the gateway's: in a list, as the platform's API has them."""
    body = {"success": False, "errors": [{"code": code, "message": text}]}
    return Shape(recorded=Recorded(status=status, body=body), means=means)


_FORBIDDEN: Final = "The account is not allowed to access this model"
_USED_UP: Final = (
    "You have used up your daily free allocation of 10,000 neurons. Please upgrade to "
    "Cloudflare's Workers Paid plan if you would like to continue usage."
)
_TOO_LONG: Final = (
    "The estimated number of input and maximum output tokens (155740) exceeded this model "
    "context window limit (128000)."
)
_CODES: Final[Mapping[int, Shape]] = {
    5007: _error(400, 5007, f"No such model {_MODEL} or task", ErrorClass.NOT_FOUND),
    3042: _error(404, 3042, "The model name is invalid", ErrorClass.NOT_FOUND),
    3039: _error(400, 3039, "Finetune is missing required files", ErrorClass.NOT_FOUND),
    5018: _error(403, 5018, _FORBIDDEN, ErrorClass.DENIED),
    3041: _error(403, 3041, _FORBIDDEN, ErrorClass.DENIED),
    5016: _error(403, 5016, "User has not agreed to Llama3.2 model terms", ErrorClass.DENIED),
    3023: _error(403, 3023, "Service unavailable for account", ErrorClass.DENIED),
    5019: _error(405, 5019, "Request trying to use deprecated SDK version", ErrorClass.DENIED),
    3003: _error(400, 3003, "Request is missing headers or body: {what}", ErrorClass.INVALID_INPUT),
    5004: _error(400, 5004, "Invalid data type for base64 input: object", ErrorClass.INVALID_INPUT),
    5005: _error(
        405, 5005, f"The model {_MODEL} does not support LoRa inference", ErrorClass.INVALID_INPUT
    ),
    5006: _error(
        400, 5006, "Error: required properties at '/' are 'text'", ErrorClass.INVALID_INPUT
    ),
    3010: _error(400, 3010, "Invalid or incomplete input for the model", ErrorClass.INVALID_INPUT),
    3006: _error(413, 3006, "Request is too large", ErrorClass.TOO_LARGE),
    5021: _error(413, 5021, _TOO_LONG, ErrorClass.TOO_LARGE),
    3007: _error(408, 3007, "Request timeout", ErrorClass.TIMEOUT),
    3008: _error(408, 3008, "Request was aborted", ErrorClass.TIMEOUT),
    3046: _error(408, 3046, "Request timeout", ErrorClass.TIMEOUT),
    3036: _error(429, 3036, _USED_UP, ErrorClass.QUOTA),
    4006: _error(429, 4006, _USED_UP, ErrorClass.QUOTA),
    3040: _error(429, 3040, "No more data centers to forward the request to", ErrorClass.THROTTLED),
    2016: _listed(424, 2016, "Prompt blocked due to security configurations", ErrorClass.REFUSED),
    2017: _listed(424, 2017, "Response blocked due to security configurations", ErrorClass.REFUSED),
}
_WORDS: Final[Mapping[str, Shape]] = {
    "context window limit": _error(413, 3010, f"AiError: {_TOO_LONG}", ErrorClass.TOO_LARGE),
    "request timeout": Shape(
        recorded=Recorded(status=408, body=b"AiError: AiError: Request timeout (a613c7db-647c)"),
        means=ErrorClass.TIMEOUT,
    ),
    "network connection lost": Shape(
        recorded=Recorded(manner=Manner.GONE), means=ErrorClass.UNAVAILABLE
    ),
}
SHAPES: Final[Mapping[Row, Shape]] = {
    **{("code", code): shape for code, shape in _CODES.items()},
    **{("words", words): shape for words, shape in _WORDS.items()},
    ("audio", 3010): _error(
        400,
        3010,
        "Invalid or incomplete input for the model: model returned: Invalid audio",
        ErrorClass.INVALID_INPUT,
        Capability.TRANSCRIBE,
    ),
    ("otherwise", None): Shape(
        recorded=Recorded(status=502, body=b"<html>error code: 502</html>"),
        means=ErrorClass.UNAVAILABLE,
    ),
}
