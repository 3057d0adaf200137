"""The queue's other manners: messages that come again, out of order, and are lost on a retry.

The local broker never duplicates and never reorders, so the storm does it past the broker.
"""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass, field
from random import Random
from typing import Final

import httpx

from tests.support.running import Stack

_MESSAGES: Final = 6
_PAUSE_SECONDS: Final = 0.4
# First those that are being worked, then those that wait: of the others most come to nothing.
_SOME_JOBS: Final = """
SELECT tenant_id, id, kind
  FROM jobs
 ORDER BY state <> 'running', finished_at IS NOT NULL, random()
 LIMIT ?1
"""


@dataclass
class Echo:
    """A thread that delivers messages of jobs again, whatever becomes of the stack meanwhile."""

    stack: Stack
    draw: Random
    batches: int = 0
    _stop: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def start(self) -> None:
        self._thread = threading.Thread(target=self._repeat, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        assert self._thread is not None
        self._thread.join(timeout=90)
        assert not self._thread.is_alive()

    def _repeat(self) -> None:
        while not self._stop.wait(_PAUSE_SECONDS):
            try:
                self._deliver()
            except httpx.HTTPError:
                continue  # the stack is down, or was cut off under it
            self.batches += 1

    def _deliver(self) -> None:
        jobs = self.stack.d1(_SOME_JOBS, self.draw.randint(1, _MESSAGES))
        messages = [
            {
                "id": f"echo-{os.urandom(6).hex()}",
                "attempts": self.draw.choice([1, 2, 60]),
                "body": {"v": 1, "job": job["id"], "tenant": job["tenant_id"], "kind": job["kind"]},
            }
            for job in jobs
        ]
        asked = {"worker": "uketsuke-consumer", "queue": "uketsuke-jobs", "messages": messages}
        self.stack.post("/queue", asked)
