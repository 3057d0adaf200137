"""Following one job: as often as the server likes, without fetching what has not changed."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import httpx

from uketsuke_client.answer import job_in
from uketsuke_client.clock import Clock
from uketsuke_client.error import NotFinished
from uketsuke_client.job import Job
from uketsuke_client.retry_after import retry_after
from uketsuke_client.transport import Call, Transport

_USUAL_SECONDS = 1.0  # between two looks, where the server does not say


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch:
    transport: Transport
    clock: Clock
    path: str
    every: float | None

    def changes(self, *, timeout: float | None) -> Iterator[Job]:
        """Yield the job as it is, then after each change, to its end.

        Raises ``NotFinished`` after ``timeout`` seconds, but never without a look.
        """
        deadline = None if timeout is None else self.clock.monotonic() + timeout
        response = self._look(etag=None, deadline=deadline)
        job, etag = job_in(response), response.headers.get("etag")
        yield job
        while not job.terminal:
            left = math.inf if deadline is None else deadline - self.clock.monotonic()
            if left <= 0:
                raise NotFinished(job, timeout=timeout or 0.0)
            # When the time ends before the server's wait does, one last look is taken.
            self.clock.pause(min(self._wait_after(response), left))
            response = self._look(etag=etag, deadline=deadline)
            if response.status_code != httpx.codes.NOT_MODIFIED:
                job, etag = job_in(response), response.headers.get("etag")
                yield job

    def _look(self, *, etag: str | None, deadline: float | None) -> httpx.Response:
        headers = {"if-none-match": etag} if etag else {}
        return self.transport.send(
            Call(method="GET", path=self.path, headers=headers), deadline=deadline
        )

    def _wait_after(self, response: httpx.Response) -> float:
        if self.every is not None:
            return self.every
        asked = retry_after(response.headers, now=self.clock.now())
        return _USUAL_SECONDS if asked is None else asked
