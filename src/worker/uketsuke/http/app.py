"""From any request to an answer: the one way in, and total."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from uketsuke.domain.api_key import Caller
from uketsuke.http.answer import Headers
from uketsuke.http.auth import NOBODY, KeyCache, authenticate
from uketsuke.http.context import Context
from uketsuke.http.message import Pieces, Request, Response, Stream
from uketsuke.http.pointer import shown
from uketsuke.http.problem import (
    Fault,
    Refused,
    answer_problem,
    refuse,
    refuse_faults,
    unavailable,
)
from uketsuke.http.routes import LATER, Place, Route, find_place
from uketsuke.http.trace import request_id, trace_id, traceparent
from uketsuke.kinds.kind import Kind
from uketsuke.services.ports import Ports, Unavailable
from uketsuke.telemetry import event, where_raised

# What a log may repeat of a request's method, which is the caller's to invent.
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"})


@dataclass(frozen=True, slots=True, kw_only=True)
class App:
    """What outlives requests: the kinds of this deployment, and the keys that were seen lately."""

    kinds: Mapping[str, Kind]
    known_keys: KeyCache = field(default_factory=KeyCache)


async def respond(request: Request, *, app: App, ports: Ports) -> Response:
    """Answer a request. Every failure becomes a problem document; each answer is logged once."""
    started = ports.clock.monotonic()
    context = Context(
        caller=NOBODY,
        ports=ports,
        kinds=app.kinds,
        request_id=request_id(request.headers, ports=ports),
        traceparent=traceparent(request.headers, ports=ports),
    )
    place = find_place(request.path)
    answer = await _answer(request, place, context, known_keys=app.known_keys)
    event(
        "request_answered",
        method=request.method if request.method in _METHODS else "other",
        route=place.template if place else "none",
        status=answer.status,
        duration_ms=round((ports.clock.monotonic() - started) * 1000),
        request_id=context.request_id,
        trace_id=trace_id(context.traceparent),
    )
    return _finished(answer, request, context)


async def _answer(
    request: Request, place: Place | None, context: Context, *, known_keys: KeyCache
) -> Response:
    try:
        return await _dispatch(request, place, context, known_keys=known_keys)
    except Refused as refused:
        problem = refused.problem
    except Unavailable:
        problem = unavailable().problem
    except Exception as error:  # beside the one around the model: a caller is owed an answer
        event(
            "unexpected_error",
            error_type=type(error).__name__,
            error_at=where_raised(error),
            request_id=context.request_id,
            trace_id=trace_id(context.traceparent),
        )
        problem = refuse("internal").problem
    return answer_problem(problem, instance=request.path, request_id=context.request_id)


async def _dispatch(
    request: Request, place: Place | None, context: Context, *, known_keys: KeyCache
) -> Response:
    if place is None:
        raise refuse("not_found")
    route = place.route_for(request.method)
    if route is None:
        if not LATER.isdisjoint({(request.method, request.path), (request.method, place.template)}):
            raise refuse("not_found")
        raise refuse("method_not_allowed", headers=(("allow", place.allowed),))
    if route.scopes:
        caller = await authenticate(request, known=known_keys, ports=context.ports)
        _check_caller(caller, route)
        _check_query(request, route)
        context = replace(context, caller=caller)
    return await route.endpoint(request, context, **place.values)


def _check_caller(caller: Caller, route: Route) -> None:
    if not caller.scopes & route.scopes:
        wanted = " or ".join(sorted(route.scopes))
        raise refuse("forbidden", f"Use a key with the scope {wanted}.")


def _check_query(request: Request, route: Route) -> None:
    faults = [
        Fault(
            pointer="",
            code="unknown_member",
            detail=f"There is no query parameter {shown(name)} here; leave it.",
        )
        for name in request.query
        if name not in route.query
    ]
    if faults:
        raise refuse_faults(faults)


def _finished(answer: Response, request: Request, context: Context) -> Response:
    """Add what every answer carries; take the body off where the method wants none."""
    headers = [
        *answer.headers,
        ("x-request-id", context.request_id),
        ("x-content-type-options", "nosniff"),
    ]
    if all(name != "cache-control" for name, _ in headers):
        headers.append(("cache-control", "no-store"))
    body = answer.body
    if request.method == "HEAD" and body:
        headers += _length_of(body)
        body = b""
    return Response(status=answer.status, headers=tuple(headers), body=body)


def _length_of(body: bytes | Stream | Pieces) -> Headers:
    if isinstance(body, Pieces):
        return ()
    return (("content-length", str(body.bytes if isinstance(body, Stream) else len(body))),)


def answer_misconfigured() -> Response:
    """Answer when the deployment's settings make no sense; its log says which."""
    return answer_problem(refuse("internal").problem, instance="", request_id="none")
