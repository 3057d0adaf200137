"""Outgoing HTTP through the runtime's fetch, always with a way to hang up."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import timedelta

import js

from uketsuke.adapters.cloudflare import ffi
from uketsuke.adapters.cloudflare.streams import read_stream
from uketsuke.services.ports import MOST_ANSWER_BYTES, HttpAnswer, Unavailable


class FetchClient:
    """``services.ports.HttpClient`` on the runtime's ``fetch``."""

    async def post(
        self, url: str, *, headers: Mapping[str, str], body: bytes, timeout: timedelta
    ) -> HttpAnswer:
        controller = js.AbortController.new()
        options = {"method": "POST", "headers": dict(headers), "redirect": "manual"}
        request = ffi.to_object(options)
        request.body = ffi.from_bytes(body)
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
