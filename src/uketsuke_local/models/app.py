"""The routes of the model server, and the middleware that names each answer."""

from __future__ import annotations

import uuid

from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from uketsuke_local.models.calls import Work, Workshop, check_key, model_route
from uketsuke_local.models.chat_route import answer_chat
from uketsuke_local.models.embeddings_route import answer_embeddings
from uketsuke_local.models.faults import read_order
from uketsuke_local.models.names import CHAT_MODEL, QUERY_MODES, SPEECH_MODEL
from uketsuke_local.models.transcriptions_route import answer_transcriptions
from uketsuke_local.models.wire import Refusal, error_response, json_response


def build_app(shop: Workshop) -> Starlette:
    app = Starlette(
        routes=[
            _post("/v1/chat/completions", "chat", answer_chat),
            _post("/v1/embeddings", "embeddings", answer_embeddings),
            _post("/v1/audio/transcriptions", "transcriptions", answer_transcriptions),
            Route("/v1/models", list_models),
            Route("/healthz", show_health),
            Route("/faults", order_fault, methods=["POST"]),
            Route("/faults", clear_faults, methods=["DELETE"]),
            Route("/faults", list_faults, methods=["GET"]),
            Route("/requests", list_requests),
        ],
        exception_handlers={Refusal: _refused, HTTPException: _no_such_route},
        middleware=[Middleware(NamedAnswers)],
    )
    app.state.shop = shop
    return app


class NamedAnswers:
    """Give every answer its own ``x-request-id``, and tell it to whoever makes the answer."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id = f"req_{uuid.uuid4().hex}"
        scope["state"]["request_id"] = request_id

        async def named(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message)["x-request-id"] = request_id
            await send(message)

        await self._app(scope, receive, named)


async def list_models(request: Request) -> Response:
    """List the models that would answer now: the speech model only when its weights are here."""
    shop: Workshop = request.app.state.shop
    check_key(request, shop.api_key)
    names = [CHAT_MODEL, *QUERY_MODES]
    if shop.speech.available:
        names.append(SPEECH_MODEL)
    models = [{"id": n, "object": "model", "created": 0, "owned_by": "uketsuke"} for n in names]
    return json_response({"object": "list", "data": models})


async def show_health(request: Request) -> Response:
    shop: Workshop = request.app.state.shop
    engines = {
        "embedding": {"loaded": shop.embedding.loaded, "calls": shop.embedding_lane.calls},
        "speech": {
            "loaded": shop.speech.loaded,
            "calls": shop.speech_lane.calls,
            "weights": shop.speech.available,
        },
    }
    return json_response({"status": "ok", "engines": engines})


async def order_fault(request: Request) -> Response:
    shop: Workshop = request.app.state.shop
    order = read_order(await request.body())
    shop.faults.add(order)
    return json_response(order, status=201)


async def clear_faults(request: Request) -> Response:
    shop: Workshop = request.app.state.shop
    shop.faults.clear()
    return Response(status_code=204)


async def list_faults(request: Request) -> Response:
    """List the orders that have calls left, first to be used first, ``count`` as it stands."""
    shop: Workshop = request.app.state.shop
    return json_response({"items": shop.faults.left(), "next": None})


async def list_requests(request: Request) -> Response:
    shop: Workshop = request.app.state.shop
    return json_response({"items": list(shop.journal), "next": None})


def _post(path: str, route: str, work: Work) -> Route:
    return Route(path, model_route(route, work), methods=["POST"])


async def _refused(_request: Request, error: Exception) -> Response:
    assert isinstance(error, Refusal)
    return error_response(error)


async def _no_such_route(_request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    code = {404: "not_found", 405: "method_not_allowed"}.get(error.status_code)
    headers = dict(error.headers or {})
    return error_response(
        Refusal(error.detail, status=error.status_code, code=code, headers=headers)
    )
