"""``services.ports.HttpClient`` on httpx, for tests that meet a real HTTP server from CPython."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from datetime import timedelta

import httpx

from uketsuke.services.ports import (
    MOST_ANSWER_BYTES,
    HttpAnswer,
    StreamedBody,
    TooLarge,
    Unavailable,
)


@dataclass(frozen=True)
class HttpxClient:
    """Its streams are the bytes that the tests' stores hold, sent in pieces."""

    client: httpx.AsyncClient

    async def post(
        self, url: str, *, headers: Mapping[str, str], body: bytes, timeout: timedelta
    ) -> HttpAnswer:
        return await self._send(url, headers, body, timeout)

    async def post_stream(
        self, url: str, *, headers: Mapping[str, str], body: StreamedBody, timeout: timedelta
    ) -> HttpAnswer:
        length = {"content-length": str(body.length)}
        return await self._send(url, {**headers, **length}, _pieces(body), timeout)

    async def _send(
        self,
        url: str,
        headers: Mapping[str, str],
        content: bytes | AsyncIterator[bytes],
        timeout: timedelta,
    ) -> HttpAnswer:
        try:
            async with asyncio.timeout(timeout.total_seconds()):
                answer = await self.client.post(url, headers=headers, content=content)
        except httpx.HTTPError:
            raise Unavailable("the connection failed") from None
        if len(answer.content) > MOST_ANSWER_BYTES:
            raise TooLarge
        return HttpAnswer(
            status=answer.status_code, headers=dict(answer.headers), body=answer.content
        )


async def _pieces(body: StreamedBody) -> AsyncIterator[bytes]:
    yield body.head
    assert isinstance(body.middle, bytes)
    for start in range(0, len(body.middle), 1024):
        yield body.middle[start : start + 1024]
    yield body.tail
