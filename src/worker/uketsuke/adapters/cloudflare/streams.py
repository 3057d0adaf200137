"""Between the runtime's streams and Python's bytes, a chunk at a time."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import js
from pyodide.ffi import create_proxy

from uketsuke.adapters.cloudflare import ffi
from uketsuke.services.ports import TooLarge
from uketsuke.telemetry import event, raised


async def read_stream(stream: Any, *, limit: int) -> bytes:
    """Return a whole stream, which may be nothing. Raises ``TooLarge``."""
    if ffi.is_nothing(stream):
        return b""
    reader = stream.getReader()
    chunks: list[bytes] = []
    length = 0
    while True:
        read = await reader.read()
        if read.done:
            return b"".join(chunks)
        length += read.value.byteLength
        if length > limit:
            # The length may be absent or a lie, so it is counted; the rest stays unread.
            await reader.cancel("too large")
            raise TooLarge
        chunks.append(ffi.view_bytes(read.value))


def stream_of(pieces: AsyncIterator[bytes]) -> Any:
    """Return a stream that asks for the next piece when the reader wants more, not before."""
    return _Source(pieces).stream()


class _Source:
    """What stands behind a ``ReadableStream``; its two proxies live until that has ended."""

    def __init__(self, pieces: AsyncIterator[bytes]) -> None:
        self._pieces = pieces
        self._proxies: list[Any] = []

    def stream(self) -> Any:
        pull, cancel = create_proxy(self._pull), create_proxy(self._cancel)
        self._proxies = [pull, cancel]
        return js.ReadableStream.new(ffi.to_object({"pull": pull, "cancel": cancel}))

    async def _pull(self, controller: Any) -> None:
        try:
            piece = await anext(self._pieces, None)
        except Exception as error:  # whatever it was: a part must not be taken for the whole
            event("stream_broke", **raised(error))
            self._end(lambda: controller.error(js.Error.new("the rest could not be had")))
            return
        if piece is None:
            self._end(controller.close)
        elif self._proxies:  # else the reader has left meanwhile
            controller.enqueue(ffi.from_bytes(piece))

    async def _cancel(self, _reason: Any = None) -> None:
        self._end(lambda: None)

    def _end(self, tell: Callable[[], object]) -> None:
        if not self._proxies:
            return
        tell()
        # Nobody calls them any more. Left alone, they and what they hold would live for ever.
        for proxy in self._proxies:
            proxy.destroy()
        self._proxies = []
