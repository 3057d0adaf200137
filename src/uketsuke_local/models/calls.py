"""One call from its first byte to its answer: journal, key, faults, then the engine.

This is the same for all model routes, so that each fault means the same everywhere.
"""

from __future__ import annotations

import asyncio
import sys
import traceback
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from datetime import UTC, datetime
from hmac import compare_digest
from typing import Any, Final

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Message

from uketsuke_local.models.connection import client_left
from uketsuke_local.models.embedding_engine import EmbeddingEngine
from uketsuke_local.models.fault_answers import DroppedResponse, answer_to
from uketsuke_local.models.faults import FaultOrder, FaultQueue
from uketsuke_local.models.journal import CLIENT_LEFT, Call, Journal, asked_model
from uketsuke_local.models.lane import Lane
from uketsuke_local.models.speech_engine import SpeechEngine
from uketsuke_local.models.wire import Refusal, error_response

# OpenAI's bound on a recording, and room for the form around it. JSON bodies are smaller.
MAX_BODY_BYTES: Final = 25 * 1024 * 1024 + 64 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Workshop:
    """What all calls share."""

    faults: FaultQueue
    journal: Journal
    embedding: EmbeddingEngine
    embedding_lane: Lane  # chat's too: it is the same engine
    speech: SpeechEngine
    speech_lane: Lane
    api_key: str | None
    stopping: asyncio.Event


Work = Callable[[Workshop, Request], Awaitable[Response]]
Endpoint = Callable[[Request], Coroutine[Any, Any, Response]]


class _Moot(Exception):
    """Nobody waits for the answer any more: the client left, or the server stops."""


def model_route(route: str, work: Work) -> Endpoint:
    """Return the endpoint that answers ``route`` by ``work``, unless a fault order says else."""

    async def endpoint(request: Request) -> Response:
        shop: Workshop = request.app.state.shop
        call = shop.journal.open(
            route,
            request_id=request.state.request_id,
            headers=request.headers,
            now=datetime.now(UTC),
        )
        response = await _response(shop, request, call, work)
        if call.answer is None:
            dropped = isinstance(response, DroppedResponse)
            call.answer = "drop" if dropped else response.status_code
        return response

    return endpoint


def check_key(request: Request, api_key: str | None) -> None:
    """Refuse a call whose bearer key is not ``api_key``; without one, anybody may call."""
    if api_key is None:
        return
    scheme, _, key = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not compare_digest(key.strip().encode(), api_key.encode()):
        raise Refusal("The API key is missing or wrong.", status=401, code="invalid_api_key")


async def _response(shop: Workshop, request: Request, call: Call, work: Work) -> Response:
    try:
        whole = await _read(request, call)
        check_key(request, shop.api_key)
        order = shop.faults.take(call.route, request.headers)
        answer = _answer(shop, whole, call, order, work)
        return await _while_wanted(answer, request=request, stopping=shop.stopping)
    except Refusal as refusal:
        return error_response(refusal)
    except (ClientDisconnect, _Moot):
        call.answer = call.answer or CLIENT_LEFT
        return DroppedResponse()
    # An engine may raise anything; the caller gets an answer, and no log gets the content that
    # an exception's message may quote.
    except Exception as error:
        _report(error)
        return error_response(
            Refusal("The engine failed.", status=500, kind="server_error", code="server_error")
        )


async def _read(request: Request, call: Call) -> Request:
    """Return the request with its body read, so that a fault or a refusal finds a listener."""
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        call.bytes = len(body)
        if len(body) > MAX_BODY_BYTES:
            raise Refusal(
                f"The body is larger than {MAX_BODY_BYTES} bytes.", status=413, code="too_large"
            )
    whole = bytes(body)
    call.model = asked_model(whole)

    async def replay() -> Message:
        return {"type": "http.request", "body": whole, "more_body": False}

    return Request(request.scope, replay)


async def _answer(
    shop: Workshop, request: Request, call: Call, order: FaultOrder | None, work: Work
) -> Response:
    if order is None:
        return await work(shop, request)
    if order.seconds:
        await asyncio.sleep(order.seconds)
    if order.hang:
        call.answer = "hang"
        await asyncio.Event().wait()
    return answer_to(order, call.route) or await work(shop, request)


async def _while_wanted(
    answer: Coroutine[Any, Any, Response], *, request: Request, stopping: asyncio.Event
) -> Response:
    """Return the answer, or cancel it and raise ``_Moot`` when nobody waits for it any more."""
    answering = asyncio.create_task(answer)
    ends = (
        asyncio.create_task(client_left(request.receive)),
        asyncio.create_task(stopping.wait()),
    )
    try:
        await asyncio.wait({answering, *ends}, return_when=asyncio.FIRST_COMPLETED)
        if not answering.done():
            raise _Moot
        return answering.result()
    finally:
        for task in (answering, *ends):
            task.cancel()
        await asyncio.gather(answering, *ends, return_exceptions=True)


def _report(error: Exception) -> None:
    place = traceback.extract_tb(error.__traceback__)[-1]
    line = f"internal error: {type(error).__name__} at {place.filename}:{place.lineno}"
    print(line, file=sys.stderr, flush=True)  # noqa: T201 - the server's only log
