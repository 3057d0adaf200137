"""Callers that submit while everything falls over: they insist, repeat, and change their minds.

A caller with an idempotency key asks until it gets an answer. One without must give up when the
connection breaks: its job may exist or not, and asking again could make another.
"""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

import httpx

from tests.chaos.load import Order
from tests.support.running import until

_CALLERS: Final = 4
_INSISTS_FOR_SECONDS: Final = 90
_BREATH_SECONDS: Final = 0.15


@dataclass(frozen=True, kw_only=True)
class Surprise:
    """An answer that no caller should get."""

    order: int
    status: int
    body: str


class Fell(Exception):
    """Something between the caller and the job fell over: whether the job exists is open."""


@dataclass
class Crowd:
    """Threads that submit what is put to them, as long as they are open."""

    url: str
    keys: Sequence[str]
    accepted: dict[str, Order] = field(default_factory=dict)
    by_key: dict[Order, set[str]] = field(default_factory=lambda: defaultdict(set))
    canceled: set[str] = field(default_factory=set)
    in_vain: int = 0
    surprises: list[Surprise] = field(default_factory=list)
    _orders: queue.Queue[Order | None] = field(default_factory=queue.Queue)
    _threads: list[threading.Thread] = field(default_factory=list)

    def open(self) -> None:
        self._threads = [threading.Thread(target=self._call, daemon=True) for _ in range(_CALLERS)]
        for thread in self._threads:
            thread.start()

    def put(self, orders: Iterable[Order]) -> None:
        for order in orders:
            self._orders.put(order)
            if order.sends_twice:
                self._orders.put(order)

    def wait_for_answers(self) -> None:
        """Return when all that was put so far has been answered."""
        until(lambda: self._orders.unfinished_tasks == 0, within=_INSISTS_FOR_SECONDS)

    def close(self) -> None:
        """Answer what is left, and go home."""
        for _ in self._threads:
            self._orders.put(None)
        for thread in self._threads:
            thread.join(timeout=_INSISTS_FOR_SECONDS)
            assert not thread.is_alive(), "a caller got no answer"

    def headers(self, order: Order) -> dict[str, str]:
        return {**order.headers, "authorization": f"Bearer {self.keys[order.tenant]}"}

    def _call(self) -> None:
        with httpx.Client(base_url=self.url, timeout=10, verify=False) as http:
            while (order := self._orders.get()) is not None:
                self._submit(http, order)
                self._orders.task_done()
                time.sleep(_BREATH_SECONDS)  # so that some are always under way when it falls over

    def _submit(self, http: httpx.Client, order: Order) -> None:
        give_up_at = time.monotonic() + _INSISTS_FOR_SECONDS
        while time.monotonic() < give_up_at:
            try:
                self._note(http, order, self._post(http, "/v1/jobs", order, json=order.document))
                return
            except httpx.ConnectError:
                pass  # nobody is there yet; nothing was sent
            except (httpx.TransportError, Fell):
                self.in_vain += 1
                if order.idempotency_key is None:
                    return
            time.sleep(_BREATH_SECONDS)
        self.surprises.append(Surprise(order=order.number, status=0, body="no answer"))

    def _post(
        self, http: httpx.Client, path: str, order: Order, *, json: object = None
    ) -> httpx.Response:
        answer = http.post(path, json=json, headers=self.headers(order))
        if answer.status_code >= 500:
            raise Fell
        return answer

    def _note(self, http: httpx.Client, order: Order, answer: httpx.Response) -> None:
        if answer.status_code == 202:
            self._note_job(http, order, answer.json()["id"])
        elif answer.status_code != 409 or answer.json()["code"] != "run_in_progress":
            self.surprises.append(
                Surprise(order=order.number, status=answer.status_code, body=answer.text)
            )

    def _note_job(self, http: httpx.Client, order: Order, job: str) -> None:
        self.accepted.setdefault(job, order)
        if order.idempotency_key is not None:
            self.by_key[order].add(job)
        if order.cancels:
            self._cancel(http, order, job)

    def _cancel(self, http: httpx.Client, order: Order, job: str) -> None:
        """Wish it canceled, once; whether the wish arrived does not matter much."""
        with contextlib.suppress(httpx.TransportError, Fell):
            answer = self._post(http, f"/v1/jobs/{job}/cancel", order)
            if answer.json().get("state") == "canceled":
                self.canceled.add(job)
