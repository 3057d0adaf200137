"""What the client's tests talk to: scripted answers in the contract's shapes."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self, cast

from uketsuke_client import Clock

JOB_ID = "job_1"
KEY = "uk_1_secret"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    status: int = 200
    body: object = None
    """An object becomes JSON; bytes are sent as they are."""
    headers: Mapping[str, str] = field(default_factory=dict)
    dropped: bool = False
    """Close the connection instead of answering."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class ScriptedServer:
    """Answers each route with its script in order; the last answer stays."""

    def __init__(self) -> None:
        self.received: list[Received] = []
        self._scripts: dict[tuple[str, str], list[Answer]] = {}
        self._changed = threading.Condition()
        self._http = _Server(("127.0.0.1", 0), _Handler)
        self._http.owner = self
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,))

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def answers(self, method: str, path: str, *script: Answer) -> None:
        self._scripts[method, path] = list(script)

    def wait_for(self, count: int, *, within: float = 10.0) -> None:
        """Return once ``count`` requests have come."""
        with self._changed:
            came = self._changed.wait_for(lambda: len(self.received) >= count, timeout=within)
        assert came, f"only {len(self.received)} of {count} requests came"

    def next_answer(self, request: Received) -> Answer:
        with self._changed:
            self.received.append(request)
            self._changed.notify_all()
            script = self._scripts.get((request.method, request.path))
            if script is None:
                return problem(404, "not_found", detail="There is no such thing.")
            return script.pop(0) if len(script) > 1 else script[0]


class _Server(ThreadingHTTPServer):
    owner: ScriptedServer
    # An idle keep-alive connection of a test's client must not hold the test's end.
    block_on_close = False


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Head and body leave in one piece: in two, the second waits for an acknowledgement.
    wbufsize = -1

    def do_GET(self) -> None:  # noqa: N802, RUF100 -- http.server's names
        length = int(self.headers.get("content-length") or 0)
        received = Received(
            method=self.command,
            path=self.path,
            headers={name.lower(): value for name, value in self.headers.items()},
            body=self.rfile.read(length),
        )
        self._send(cast(_Server, self.server).owner.next_answer(received))

    do_POST = do_GET
    do_PUT = do_GET
    do_DELETE = do_GET

    def _send(self, answer: Answer) -> None:
        self.close_connection = answer.dropped
        if answer.dropped:
            return
        given = answer.body
        usual = {"content-type": "application/json", "date": self.date_time_string()}
        body = given if isinstance(given, bytes) else json.dumps(given).encode()
        if answer.status in {204, 304}:
            body = b""
        self.send_response_only(answer.status)
        for name, value in {**usual, **answer.headers}.items():
            self.send_header(name, value)
        if answer.status != 204:
            self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 -- http.server's
        """Say nothing: the test tells what matters."""


def job(state: str = "running", **members: object) -> dict[str, object]:
    """Return a job as the contract shows it, in ``state`` and with ``members`` changed."""
    ended = state in {"succeeded", "failed", "canceled"}
    return {
        "id": JOB_ID,
        "tenant_id": "t_1",
        "kind": "summarize",
        "state": state,
        "terminal": ended,
        "engine": "queue",
        "origin": "api",
        "run_key": None,
        "attempts": 1,
        "max_attempts": 5,
        "progress": None,
        "created_at": "2026-11-29T10:00:00.000Z",
        "started_at": "2026-11-29T10:00:01.000Z",
        "finished_at": "2026-11-29T10:00:03.500Z" if ended else None,
        "next_attempt_at": None,
        "deadline_at": "2026-11-30T10:00:00.000Z",
        "expires_at": None,
        "cancel_requested_at": None,
        "erased_at": None,
        "error": None,
        "usage": None,
        "redriven_from": None,
        "redriven_to": None,
        "metadata": {},
        "links": {"self": f"/v1/jobs/{JOB_ID}"},
        **members,
    }


def schedule(name: str = "nightly", **members: object) -> dict[str, object]:
    """Return a schedule as the contract shows it, with ``members`` changed."""
    return {
        "name": name,
        "tenant_id": "t_1",
        "cron": "30 7 * * 1-5",
        "timezone": "Asia/Tokyo",
        "kind": "summarize",
        "input": {"text": "Some words."},
        "params": {"max_words": 50},
        "run_key": f"schedule:{name}",
        "overlap": "skip",
        "enabled": True,
        "next_at": "2026-11-29T22:30:00.000Z",
        "last": {
            "at": "2026-11-26T22:30:00.000Z",
            "job_id": JOB_ID,
            "outcome": "started",
        },
        "created_at": "2026-11-01T10:00:00.000Z",
        "updated_at": "2026-11-01T10:00:00.000Z",
        **members,
    }


def failed_job() -> dict[str, object]:
    error = {
        "class": "refused",
        "code": "provider_refused",
        "message": "The model refused the input.",
        "retryable": False,
    }
    return job("failed", error=error)


def problem(
    status: int,
    code: str,
    *,
    detail: str = "No.",
    headers: Mapping[str, str] | None = None,
    **members: object,
) -> Answer:
    body = {
        "type": "about:blank",
        "title": code.replace("_", " "),
        "status": status,
        "detail": detail,
        "code": code,
        **members,
    }
    kind = {"content-type": "application/problem+json", "x-request-id": "req_1"}
    return Answer(status=status, body=body, headers={**kind, **(headers or {})})


class ToldClock:
    """A clock whose pauses take no time and are kept."""

    def __init__(self) -> None:
        self.pauses: list[float] = []
        self._at = 1_000.0

    def _pause(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self._at += seconds

    def as_clock(self, *, draw: float = 0.0) -> Clock:
        return Clock(
            monotonic=lambda: self._at,
            now=lambda: self._at,
            pause=self._pause,
            draw=lambda: draw,
        )
