"""A webhook for tests: it notes what it is told, and answers as ordered."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

SECRET = "hook-secret-4711"


@dataclass
class Receiver:
    """What came, in order, as path and JSON.

    ``answers`` are the next statuses for messages that tell of an alert of that name; else 200.
    """

    url: str = ""
    heard: list[tuple[str, Any]] = field(default_factory=list)
    answers: dict[str, list[int]] = field(default_factory=dict)

    def items(self, name: str) -> list[dict[str, Any]]:
        """Return what was said of one alert."""
        return [
            item for _, told in list(self.heard) for item in told["alerts"] if item["name"] == name
        ]

    def answer(self) -> int:
        """Return the status for what came last."""
        names = {item["name"] for item in self.heard[-1][1]["alerts"]}
        ordered = (self.answers[name] for name in names if self.answers.get(name))
        return next((statuses.pop(0) for statuses in ordered), 200)


@contextlib.contextmanager
def receiving() -> Iterator[Receiver]:
    """Listen on a port of this machine's own choosing."""
    receiver = Receiver()

    class Hook(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            receiver.heard.append((self.path, json.loads(body)))
            self.send_response(receiver.answer())
            self.send_header("location", "/elsewhere")
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing: the tests tell."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Hook)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    receiver.url = f"http://127.0.0.1:{server.server_port}/{SECRET}"
    try:
        yield receiver
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
