"""An HTTP server that answers once as a provider was seen to answer, or fails to."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import Enum

import pytest

from uketsuke.domain.failure import AttemptFailed, Failure
from uketsuke.domain.lane import Capability
from uketsuke.providers.port import Answer


class Manner(Enum):
    """What becomes of the answer."""

    WHOLE = "whole"
    CUT = "the connection ends within the body"
    GONE = "the connection ends before a byte"
    SILENT = "nothing comes, and the connection stays"


@dataclass(frozen=True, kw_only=True)
class Recorded:
    """An answer. ``body`` is JSON, unless it is bytes."""

    status: int = 200
    body: object = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    manner: Manner = Manner.WHOLE

    @property
    def content(self) -> bytes:
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()


@dataclass
class Requested:
    """What the server was sent: the last request's head and body, and how many came."""

    head: str = ""
    body: bytes = b""
    count: int = 0


@asynccontextmanager
async def answering(*recorded: Recorded) -> AsyncIterator[tuple[str, Requested]]:
    """Serve on loopback until the block ends; the last answer is given again and again.

    Yield the server's address and what it was sent.
    """
    requested = Requested()
    over = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await _read(reader, requested)
            answer = recorded[min(requested.count, len(recorded)) - 1]
            if answer.manner is Manner.SILENT:
                await over.wait()
            elif answer.manner is not Manner.GONE:
                writer.write(_message(answer))
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # the client has left
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    try:
        yield f"http://127.0.0.1:{port}", requested
    finally:
        over.set()
        server.close()
        await server.wait_closed()


async def _read(reader: asyncio.StreamReader, requested: Requested) -> None:
    requested.head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
    lengths = [line for line in requested.head.split("\r\n") if line.startswith("content-length:")]
    assert len(lengths) == 1, "a request tells its length"
    requested.body = await reader.readexactly(int(lengths[0].partition(":")[2]))
    requested.count += 1


def _message(answer: Recorded) -> bytes:
    content = answer.content
    lines = [f"HTTP/1.1 {answer.status} As Recorded", f"content-length: {len(content)}"]
    lines += ["content-type: application/json", "connection: close"]
    lines += [f"{name}: {value}" for name, value in answer.headers.items()]
    sent = content[: len(content) // 2] if answer.manner is Manner.CUT else content
    return "\r\n".join([*lines, "", ""]).encode() + sent


class StillClock:
    """``services.ports.Clock`` that stands at noon."""

    def now(self) -> datetime:
        return datetime(2026, 11, 29, 12, 0, tzinfo=UTC)

    def monotonic(self) -> float:
        return 0.0


# Makes one call of a provider at a URL; the second number is how many seconds it may take.
Caller = Callable[[str, Capability, float], Awaitable[Answer]]


async def failure_of(call: Caller, recorded: Recorded, capability: Capability) -> Failure:
    """Return how a call fails that is answered so."""
    seconds = 0.2 if recorded.manner is Manner.SILENT else 20.0
    async with answering(recorded) as (url, _):
        with pytest.raises(AttemptFailed) as failed:
            await call(url, capability, seconds)
    return failed.value.failure
