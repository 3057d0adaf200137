"""Outgoing HTTP through the runtime's fetch, always with a way to hang up."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import js

from uketsuke.adapters.cloudflare import ffi
from uketsuke.adapters.cloudflare.streams import read_stream
from uketsuke.services.ports import MOST_ANSWER_BYTES, HttpAnswer, StreamedBody, Unavailable


class FetchClient:
    """``services.ports.HttpClient`` on the runtime's ``fetch``."""

    async def post(
        self, url: str, *, headers: Mapping[str, str], body: bytes, timeout: timedelta
    ) -> HttpAnswer:
        controller = js.AbortController.new()
        return await _post(url, headers, ffi.from_bytes(body), timeout, controller)

    async def post_stream(
        self, url: str, *, headers: Mapping[str, str], body: StreamedBody, timeout: timedelta
    ) -> HttpAnswer:
        controller = js.AbortController.new()
        # Its length is told at once, so that the request has a Content-Length.
        pipe = js.FixedLengthStream.new(body.length)
        feeding = asyncio.ensure_future(_feed(pipe.writable, body, controller.signal))
        try:
            return await _post(url, headers, pipe.readable, timeout, controller)
        finally:
            # An answer can come before the body was read. What still pipes then has just been
            # aborted and fails at once; canceling what awaits it leaves its failure to nobody.
            await asyncio.wait([feeding], timeout=_LET_GO_SECONDS)
            feeding.cancel()
            await asyncio.gather(feeding, return_exceptions=True)
            await _hang_up(body.middle)


_LET_GO_SECONDS = 1


async def _post(
    url: str, headers: Mapping[str, str], body: Any, timeout: timedelta, controller: Any
) -> HttpAnswer:
    request = ffi.to_object({"method": "POST", "headers": dict(headers), "redirect": "manual"})
    request.body = body
    request.signal = controller.signal
    try:
        async with asyncio.timeout(timeout.total_seconds()):
            response = await js.fetch(url, request)
            content = await read_stream(response.body, limit=MOST_ANSWER_BYTES)
            return HttpAnswer(
                status=int(response.status), headers=ffi.headers_of(response), body=content
            )
    except (ffi.JsError, OSError) as error:
        # A TimeoutError is an OSError too, and is ours to pass on.
        if isinstance(error, TimeoutError):
            raise
        raise Unavailable("the connection failed") from None
    finally:
        # Canceling the await alone leaves the connection open while the body is read.
        controller.abort()


async def _feed(writable: Any, body: StreamedBody, signal: Any) -> None:
    """Write the body's parts. The middle runs from stream to stream, past Python.

    Does not raise: what fails here breaks the pipe, and so the request, which tells it.
    """
    options = ffi.to_object({"preventClose": True})
    options.signal = signal
    middle: Any = body.middle
    try:
        await _write(writable, body.head, close=False)
        await middle.pipeTo(writable, options)
        await _write(writable, body.tail, close=True)
    except ffi.JsError:
        return


async def _write(writable: Any, content: bytes, *, close: bool) -> None:
    writer = writable.getWriter()
    await writer.write(ffi.from_bytes(content))
    if close:
        await writer.close()
    writer.releaseLock()


async def _hang_up(stream: Any) -> None:
    """Let go of a stream that nothing has read, or is reading any more."""
    try:
        if not stream.locked:
            await stream.cancel("not needed any more")
    except ffi.JsError:
        # It has ended, or broken: either way it is gone.
        return
