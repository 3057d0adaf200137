"""Reach the TCP connection under a request, which ASGI hides, to drop it or to see it go."""

from __future__ import annotations

import asyncio

from starlette.types import Receive, Scope
from uvicorn.protocols.http.h11_impl import H11Protocol


class ReachableProtocol(H11Protocol):
    """uvicorn's HTTP/1.1, with each request's ``scope["state"]`` knowing its transport."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as uvicorn's
        super().connection_made(transport)
        # uvicorn copies app_state into each request's scope.
        self.app_state = {**self.app_state, "transport": transport}


async def close_connection(scope: Scope, receive: Receive) -> None:
    """Flush what was sent and close the connection, with the answer left as it is.

    Returns only when the close is seen: an application that ends before its answer makes uvicorn
    complete it with a 500.
    """
    scope["state"]["transport"].close()
    await client_left(receive)


async def client_left(receive: Receive) -> None:
    """Wait until the connection is gone. The body must have been read."""
    while (await receive())["type"] != "http.disconnect":
        pass
