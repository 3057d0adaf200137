"""What a call meets when a fault order is for it, except waiting and hanging.

Bodies are made up, not computed: a fault must not cost an engine's time. ``length`` and
``refusal`` are chat's own words; the other routes do the nearest thing that their providers do: an
answer that is cut short, and a 400 from the content filter.
"""

from __future__ import annotations

import time
import uuid
from typing import Any, Final

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from uketsuke_local.models.connection import close_connection
from uketsuke_local.models.faults import FaultOrder
from uketsuke_local.models.names import CHAT_MODEL, DIMENSIONS, EMBEDDING_MODEL
from uketsuke_local.models.wire import Refusal, error_response, json_response

# Neither JSON nor UTF-8, as from a broken proxy.
GARBAGE: Final = b"<html>\xff\xfe502 upstream said something odd</html>"

# status: (type, code), as providers name them
_ERROR_NAMES: Final[dict[int, tuple[str, str]]] = {
    401: ("invalid_request_error", "invalid_api_key"),
    403: ("permission_error", "permission_denied"),
    404: ("invalid_request_error", "model_not_found"),
    413: ("invalid_request_error", "context_length_exceeded"),
    429: ("rate_limit_error", "rate_limit_exceeded"),
    503: ("server_error", "service_unavailable"),
    529: ("overloaded_error", "overloaded"),
}


class DroppedResponse(Response):
    """No answer, or half of one, and then the connection is gone."""

    def __init__(self, whole: Response | None = None) -> None:
        super().__init__()
        self._whole = whole

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._whole is not None:
            # The headers promise the whole body.
            await send(
                {
                    "type": "http.response.start",
                    "status": self._whole.status_code,
                    "headers": self._whole.raw_headers,
                }
            )
            half = _half(bytes(self._whole.body))
            await send({"type": "http.response.body", "body": half, "more_body": True})
        await close_connection(scope, receive)


def answer_to(order: FaultOrder, route: str) -> Response | None:
    """Return what ``order`` makes the answer, or nothing if the right one shall be given."""
    if order.drop == "before":
        return DroppedResponse()
    if order.drop == "middle":
        return DroppedResponse(json_response(_made_up(route, None)))
    if order.status is not None:
        return _with_body(_error(order, order.status), order.body)
    if order.body is not None:
        return _with_body(_odd_answer(route, order.body), order.body)
    return None


def _error(order: FaultOrder, status: int) -> Response:
    kind, code = _ERROR_NAMES.get(
        status,
        ("server_error", "server_error") if status >= 500 else ("invalid_request_error", "ordered"),
    )
    headers = {} if order.retry_after is None else {"retry-after": str(order.retry_after)}
    return error_response(
        Refusal(
            f"A fault order made this call answer {status}.",
            status=status,
            kind=kind,
            code=order.code or code,
            headers=headers,
        )
    )


def _odd_answer(route: str, body: str) -> Response:
    if body == "refusal" and route != "chat":
        return error_response(
            Refusal("The content filter refused this input.", code="content_filter")
        )
    return json_response(_made_up(route, body))


def _made_up(route: str, body: str | None) -> dict[str, Any]:
    match route:
        case "chat":
            return _chat_answer(body)
        case "embeddings":
            return _embeddings_answer(body)
        case _:
            return {"text": {"empty": "", "length": "Made up and"}.get(body or "", "Made up.")}


def _chat_answer(body: str | None) -> dict[str, Any]:
    content, finish_reason = {
        "empty": ("", "stop"),
        "length": ("A made-up answer that was", "length"),
        "refusal": (None, "content_filter"),
    }.get(body or "", ("A made-up answer.", "stop"))
    refusal = "The content filter refused this." if body == "refusal" else None
    message = {"role": "assistant", "content": content, "refusal": refusal}
    return {
        "id": f"chatcmpl-{uuid.uuid4().hex}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": CHAT_MODEL,
        "choices": [{"index": 0, "message": message, "finish_reason": finish_reason}],
        "usage": {"prompt_tokens": 12, "completion_tokens": 5, "total_tokens": 17},
    }


def _embeddings_answer(body: str | None) -> dict[str, Any]:
    """Return one vector, whatever was asked; ``length`` cuts it in half."""
    vector = [0.05] * (DIMENSIONS // 2 if body == "length" else DIMENSIONS)
    item = {"object": "embedding", "index": 0, "embedding": vector}
    return {
        "object": "list",
        "data": [] if body == "empty" else [item],
        "model": EMBEDDING_MODEL,
        "usage": {"prompt_tokens": 12, "total_tokens": 12},
    }


def _with_body(response: Response, body: str | None) -> Response:
    if body == "garbage":
        content = GARBAGE
    elif body == "truncated":
        content = _half(bytes(response.body))
    else:
        return response
    headers = {k: v for k, v in response.headers.items() if k != "content-length"}
    return Response(content, status_code=response.status_code, headers=headers)


def _half(body: bytes) -> bytes:
    return body[: len(body) // 2]
