"""A lane: one engine's lock and its bounded queue.

An engine does one piece of work at a time, with all cores, in a thread of its own. A call may be
many pieces (slices of a long list, segments of a recording): between them other calls get their
turn, and a caller who has left stops costing anything.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar

from uketsuke_local.models.wire import Refusal

T = TypeVar("T")


class Lane:
    def __init__(self, name: str, *, limit: int, retry_after_seconds: int) -> None:
        self.name = name
        self.limit = limit
        self.calls = 0
        self._retry_after_seconds = retry_after_seconds
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix=name)
        # A set, because adding and discarding are atomic and the thread does one of them.
        self._pieces: set[Future[Any]] = set()

    @property
    def busy(self) -> bool:
        """Whether the thread is at work, or will be: it may be deep in native code."""
        return bool(self._pieces)

    @contextmanager
    def place(self) -> Iterator[None]:
        """Hold one of the lane's places, running or waiting; refuse with 429 when none is free."""
        if self.calls >= self.limit:
            raise Refusal(
                f"The {self.name} engine has {self.limit} calls already. Try again later.",
                status=429,
                kind="rate_limit_error",
                code="rate_limit_exceeded",
                headers={"retry-after": str(self._retry_after_seconds)},
            )
        self.calls += 1
        try:
            yield
        finally:
            self.calls -= 1

    async def run(self, work: Callable[[], T]) -> T:
        """Do one piece of work when its turn comes; canceled before that, it never starts."""
        piece: Future[Any] = self._thread.submit(work)
        self._pieces.add(piece)
        piece.add_done_callback(self._pieces.discard)
        answer: T = await asyncio.wrap_future(piece)
        return answer

    def close(self) -> None:
        self._thread.shutdown(wait=False, cancel_futures=True)
