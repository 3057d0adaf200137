"""Answer with a job's result, in the form that the caller would rather have."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Final
from urllib.parse import quote

from uketsuke.domain.job import Job, ResultPlace
from uketsuke.domain.vectors import VECTORS_TYPE
from uketsuke.http.accept import choose
from uketsuke.http.answer import Headers, has_tag
from uketsuke.http.message import Pieces, Response, Stream
from uketsuke.http.problem import Refused, refuse
from uketsuke.services.inspect import ResultBody, result_of
from uketsuke.services.ports import Ports
from uketsuke.services.vectors import KeptVectors, find_vectors, floats_of, json_of

JSON: Final = "application/json"
FLOATS: Final = "application/octet-stream"
_VARY: Final = ("vary", "Authorization, Accept")
# What a header's value may hold as it is; all else of a model's name is percent-encoded.
_OF_A_NAME: Final = " !\"#$&'()*+,/:;<=>?@[\\]^`{|}"


async def answer_result(job: Job, *, asked: Mapping[str, str], ports: Ports) -> Response:
    """Return the result of a job that succeeded. ``asked`` are the request's headers."""
    place = job.result
    if place is None:
        raise refuse("expired")
    offers = (JSON, FLOATS) if place.content_type == VECTORS_TYPE else (place.content_type,)
    form = choose(asked.get("accept"), offers)
    if form is None:
        raise _not_acceptable(offers)
    headers, body = await _content(job, place, form, ports=ports)
    tag = _tag(job, place, form)
    headers = (*headers, _VARY, ("etag", tag))
    if has_tag(asked, tag):
        return Response(status=304, headers=headers)
    return Response(status=200, headers=(("content-type", form), *headers), body=body)


async def _content(
    job: Job, place: ResultPlace, form: str, *, ports: Ports
) -> tuple[Headers, bytes | Stream | Pieces]:
    if place.content_type != VECTORS_TYPE:
        return (), _body_of(await result_of(job, ports=ports))
    kept = await find_vectors(place.object_key or "", ports=ports)
    if kept is None:
        raise refuse("expired")
    if form == JSON:
        return (), Pieces(content=json_of(kept, ports=ports))
    return _about(kept), await _floats(kept, ports=ports)


async def _floats(kept: KeptVectors, *, ports: Ports) -> Stream:
    stream = await floats_of(kept, ports=ports)
    if stream is None:
        raise refuse("expired")
    return Stream(content=stream, bytes=kept.head.floats_bytes)


def _about(kept: KeptVectors) -> Headers:
    """Say in headers what the floats alone do not tell."""
    model = quote(kept.head.model, safe=_OF_A_NAME, errors="replace")
    return (("x-model", model), ("x-dimensions", str(kept.head.dimensions)))


def _body_of(result: ResultBody) -> bytes | Stream:
    if result.content is not None:
        return result.content
    if result.stream is not None:
        return Stream(content=result.stream, bytes=result.bytes)
    raise refuse("expired")


def _tag(job: Job, place: ResultPlace, form: str) -> str:
    """Name a representation. A job's result never changes, so its content need not be read."""
    name = f"{job.id} {place.attempt} {form}"
    return f'"{hashlib.sha256(name.encode()).hexdigest()[:32]}"'


def _not_acceptable(offers: tuple[str, ...]) -> Refused:
    detail = f"This result can be had as {' or '.join(offers)}: name it in Accept."
    return refuse("not_acceptable", detail, headers=(_VARY,))
