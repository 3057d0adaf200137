"""From any request to an answer: the one way in, and total."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from email.utils import format_datetime

from uketsuke.domain.api_key import Caller
from uketsuke.domain.trace import read_traceparent
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
from uketsuke.http.trace import request_id, request_span
from uketsuke.kinds.kind import Kind
from uketsuke.services.ports import Ports, Unavailable
from uketsuke.services.tell import spent, traced
from uketsuke.telemetry import Database, Http, event, raised

# What a log may repeat of a request's method, which is the caller's to invent.
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"})
_OTHER = "_OTHER"  # what OpenTelemetry calls the rest


@dataclass(frozen=True, slots=True, kw_only=True)
class App:
    """What outlives requests: the kinds of this deployment, and the keys that were seen lately."""

    kinds: Mapping[str, Kind]
    known_keys: KeyCache = field(default_factory=KeyCache)


async def respond(request: Request, *, app: App, ports: Ports) -> Response:
    """Answer a request. Every failure becomes a problem document; each answer is logged once."""
    began, started = ports.clock.now(), ports.clock.monotonic()
    span = request_span(request.headers, ports=ports)
    context = Context(
        caller=NOBODY,
        ports=ports,
        kinds=app.kinds,
        request_id=request_id(request.headers, ports=ports),
        traceparent=span.traceparent,
    )
    place = find_place(request.path)
    answer = await _answer(request, place, context, known_keys=app.known_keys)
    took = timedelta(seconds=ports.clock.monotonic() - started)
    event(
        "request_answered",
        request_id=context.request_id,
        **_told(request, place, answer),
        **_used(ports),
        **spent(began, began + took),
        **traced(span),
    )
    return _finished(answer, request, context)


def _told(request: Request, place: Place | None, answer: Response) -> Http:
    method = request.method if request.method in _METHODS else _OTHER
    told: Http = {"http.request.method": method, "http.response.status_code": answer.status}
    return told if place is None else {**told, "http.route": place.template}


def _used(ports: Ports) -> Database:
    use = ports.database_use
    return {
        "d1.calls": use.calls,
        "d1.rows_read": use.rows_read,
        "d1.rows_written": use.rows_written,
    }


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
        span = read_traceparent(context.traceparent)
        event("unexpected_error", request_id=context.request_id, **raised(error), **traced(span))
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
        ("date", format_datetime(context.ports.clock.now(), usegmt=True)),
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
