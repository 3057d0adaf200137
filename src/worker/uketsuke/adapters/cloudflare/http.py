"""Between the runtime's Request and Response and our own."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import js

from uketsuke.adapters.cloudflare import ffi
from uketsuke.adapters.cloudflare.streams import read_stream, stream_of
from uketsuke.http.message import Pieces, Request, Response, Stream, read_query


class IncomingBody:
    """``http.message.Body`` on the runtime's stream."""

    def __init__(self, raw: Any) -> None:
        self._raw = raw

    @property
    def stream(self) -> object:
        return self._raw.body

    async def read(self, limit: int) -> bytes:
        return await read_stream(self._raw.body, limit=limit)


def read_request(raw: Any) -> Request:
    """Turn a raw Request into ours; the body stays where it is."""
    url = urlsplit(str(raw.url))
    return Request(
        method=str(raw.method),
        path=url.path,
        query=read_query(url.query),
        headers=ffi.headers_of(raw),
        body=IncomingBody(raw),
    )


def write_response(response: Response) -> Any:
    """Turn our Response into a raw one."""
    headers = js.Headers.new()
    for name, value in response.headers:
        headers.append(name, value)
    options = ffi.to_object({"status": response.status})
    options.headers = headers
    if isinstance(response.body, Stream):
        return js.Response.new(response.body.content, options)
    if isinstance(response.body, Pieces):
        return js.Response.new(stream_of(response.body.content), options)
    body = ffi.from_bytes(response.body) if response.body else None
    return js.Response.new(ffi.or_null(body), options)
