"""Run the model server: bind, say ready, serve, and be gone at once when told.

It stops at SIGINT and SIGTERM, and with ``exit_with_stdin`` at the end of its standard input, so
that it cannot outlive the process that holds the other end.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from ipaddress import ip_address
from typing import Final

from uvicorn import Config, Server

from uketsuke_local.models.app import build_app
from uketsuke_local.models.calls import Workshop
from uketsuke_local.models.connection import ReachableProtocol
from uketsuke_local.models.embedding_engine import EmbeddingEngine
from uketsuke_local.models.faults import FaultQueue
from uketsuke_local.models.journal import Journal
from uketsuke_local.models.lane import Lane
from uketsuke_local.models.speech_engine import SpeechEngine

CALLS_A_LANE: Final = 32

# Longer than clients keep a connection: one closed under a new call looks like a fault.
_KEEP_ALIVE_SECONDS: Final = 75


def serve(
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    json_output: bool = False,
    warm: bool = False,
    api_key: str | None = None,
    exit_with_stdin: bool = False,
    calls_a_lane: int = CALLS_A_LANE,
) -> int:
    """Serve in the foreground until told to stop; return the exit code.

    Prints one line when connections are accepted: ``ready http://…``, or with ``json_output``
    ``{"ready": true, "url": "http://…"}``. ``warm`` loads the embeddings before that.
    Returns 2, with one line on stderr, when the address cannot be had.
    """
    try:
        listener = _listen(host, port)
    except (OSError, ValueError) as error:
        print(f"cannot listen on {host}:{port}: {error}", file=sys.stderr)  # noqa: T201
        return 2
    # It would log bytes of a malformed form.
    logging.getLogger("python_multipart").setLevel(logging.CRITICAL)
    shop = _workshop(api_key=api_key, calls_a_lane=calls_a_lane)
    if warm:
        shop.embedding.load()
    server = ModelServer(shop, ready=lambda: _say_ready(listener, json_output=json_output))
    if exit_with_stdin:
        threading.Thread(target=_stop_at_end_of_stdin, args=[server], daemon=True).start()
    server.run(sockets=[listener])
    _leave_engines(shop)
    return 0


class ModelServer(Server):
    """uvicorn, with a line when ready, and an end that waits for nobody."""

    def __init__(self, shop: Workshop, *, ready: Callable[[], None]) -> None:
        config = Config(
            build_app(shop),
            http=ReachableProtocol,
            ws="none",
            lifespan="off",
            loop="asyncio",
            log_config=None,
            log_level="error",  # no line a call: the journal has them
            access_log=False,
            proxy_headers=False,
            server_header=False,
            timeout_keep_alive=_KEEP_ALIVE_SECONDS,
            timeout_graceful_shutdown=1,
        )
        super().__init__(config)
        self._shop = shop
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._shop.stopping.set()  # calls that hang or work end now
        await super().shutdown(sockets)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop at a signal as uvicorn does, but do not die of it again after a clean end."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {s: signal.signal(s, self.handle_exit) for s in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, action in before.items():
                signal.signal(number, action)


def _workshop(*, api_key: str | None, calls_a_lane: int) -> Workshop:
    return Workshop(
        faults=FaultQueue(),
        journal=Journal(),
        embedding=EmbeddingEngine(),
        embedding_lane=Lane("embedding", limit=calls_a_lane, retry_after_seconds=1),
        speech=SpeechEngine(),
        speech_lane=Lane("speech", limit=calls_a_lane, retry_after_seconds=5),
        api_key=api_key,
        stopping=asyncio.Event(),
    )


def _listen(host: str, port: int) -> socket.socket:
    """Return a listening socket on a loopback address: faults and journal are for this machine."""
    address = ip_address("127.0.0.1" if host == "localhost" else host)
    if not address.is_loopback:
        raise ValueError("not a loopback address")
    family = socket.AF_INET6 if address.version == 6 else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((str(address), port))
        # Here, not in asyncio: two sockets may bind one port, only one may listen on it.
        listener.listen()
    except (OSError, OverflowError) as error:
        listener.close()
        raise OSError(getattr(error, "strerror", None) or str(error)) from None
    return listener


def _say_ready(listener: socket.socket, *, json_output: bool) -> None:
    host, port = listener.getsockname()[:2]
    url = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
    line = json.dumps({"ready": True, "url": url}) if json_output else f"ready {url}"
    print(line, flush=True)  # noqa: T201 - what the caller waits for


def _stop_at_end_of_stdin(server: Server) -> None:
    # Not sys.stdin: its lock, held here at the interpreter's end, would be a fatal error.
    while os.read(0, 4_096):
        pass
    server.should_exit = True


def _leave_engines(shop: Workshop) -> None:
    """End the process here if an engine is deep in native code, which nothing can interrupt."""
    lanes = (shop.embedding_lane, shop.speech_lane)
    for lane in lanes:
        lane.close()
    if any(lane.busy for lane in lanes):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)
