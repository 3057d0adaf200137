"""Speak to the control server of a running stack: what tests may order, and look at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Self

import httpx

from uketsuke_local.keys import Statement, mint_key, tenant_statements

# A kill starts a fresh interpreter before it answers.
_ANSWERS_WITHIN_SECONDS = 60.0


class ControlRefused(Exception):
    """The control server refused an order; the text is its reason (for SQL, the database's)."""


class Control:
    """One client; close it, or use it as a context."""

    def __init__(self, url: str, token: str) -> None:
        self._http = httpx.Client(
            base_url=url, headers={"x-control-token": token}, timeout=_ANSWERS_WITHIN_SECONDS
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        self._http.close()

    def d1(self, sql: str, *params: object) -> list[dict[str, Any]]:
        """The rows of one statement."""
        (answer,) = self.d1_batch([{"sql": sql, "params": list(params)}])
        rows: list[dict[str, Any]] = answer["results"]
        return rows

    def d1_batch(self, statements: Sequence[Statement]) -> list[dict[str, Any]]:
        """``results`` and ``meta`` of each statement; all run as one transaction."""
        return self._list("POST", "/d1", {"batch": statements})

    def queue(
        self, worker: str, queue: str, messages: Sequence[Mapping[str, object]]
    ) -> dict[str, Any]:
        """Deliver a batch without the broker: what the consumer made of it."""
        return self._object(
            "POST", "/queue", {"worker": worker, "queue": queue, "messages": messages}
        )

    def cron(self, worker: str, cron: str) -> dict[str, Any]:
        """Fire a cron now: its ``outcome``."""
        return self._object("POST", "/cron", {"worker": worker, "cron": cron})

    def deliveries(self, queue: str) -> list[dict[str, Any]]:
        """What the queue's consumer was handed, oldest first: at most the last 5,000."""
        return self._list("GET", "/deliveries", {"queue": queue})

    def heap(self) -> dict[str, dict[str, int]]:
        """By Worker: ``current``, ``peak`` and ``memory`` in bytes, ``events``, ``deaths``."""
        return self._object("GET", "/heap", {})

    def kill(self, worker: str) -> None:
        """Destroy the Worker's isolate with all that runs in it."""
        self._object("POST", "/kill", {"worker": worker})

    def kill_at(self, worker: str, *, headers: Mapping[str, str], count: int = 1) -> None:
        """Let the Worker's isolate die at each of the next calls that it makes with ``headers``.

        A ``traceparent`` matches by its trace: each call has a span of its own.
        """
        order = {"match": headers, "count": count}
        self._ask("POST", "/kill", {"worker": worker, "at": order})

    def r2(self, prefix: str = "") -> list[dict[str, Any]]:
        """``key`` and ``size`` of the objects under a prefix."""
        return self._list("GET", "/r2", {"prefix": prefix})

    def workflow_status(self, binding: str, instance_id: str) -> dict[str, Any]:
        """``status``, ``output`` and ``error`` of an instance."""
        asked = {"binding": binding, "id": instance_id, "action": "status"}
        return self._object("POST", "/workflow", asked)

    def terminate_workflow(self, binding: str, instance_id: str) -> None:
        self._ask(
            "POST", "/workflow", {"binding": binding, "id": instance_id, "action": "terminate"}
        )

    def send_workflow_event(
        self, binding: str, instance_id: str, event: Mapping[str, object]
    ) -> None:
        """``event`` has a ``type`` and perhaps a ``payload``."""
        asked = {"binding": binding, "id": instance_id, "action": "send_event", "event": event}
        self._ask("POST", "/workflow", asked)

    def add_tenant(self, tenant: str, *, hash_secret: str) -> str:
        """Make a tenant with one key of all a tenant's scopes, and return the key."""
        key = mint_key()
        self.d1_batch(tenant_statements(tenant, key, hash_secret=hash_secret))
        return key

    def _list(self, method: str, path: str, asked: Mapping[str, object]) -> list[dict[str, Any]]:
        answer: list[dict[str, Any]] = self._ask(method, path, asked)
        return answer

    def _object(self, method: str, path: str, asked: Mapping[str, object]) -> dict[str, Any]:
        answer: dict[str, Any] = self._ask(method, path, asked)
        return answer

    def _ask(self, method: str, path: str, asked: Mapping[str, object]) -> Any:
        if method == "GET":
            query = {name: str(value) for name, value in asked.items()}
            response = self._http.get(path, params=query)
        else:
            response = self._http.post(path, json=asked)
        if response.is_error:
            raise ControlRefused(response.json()["error"])
        return response.json()
