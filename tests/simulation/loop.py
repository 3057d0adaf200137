"""An event loop whose time is virtual: waiting costs nothing, and order is the same each time.

It opens no descriptor and knows no threads, so that a fresh one a history is cheap.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextvars import Context, ContextVar
from typing import Any, TypeVar, TypeVarTuple

T = TypeVar("T")
Ts = TypeVarTuple("Ts")


class NothingWillHappen(Exception):
    """Everybody waits for something that nobody will do."""


class VirtualLoop(asyncio.BaseEventLoop):
    """When nothing is ready, time jumps to the next timer.

    It stands in for its own selector: the base class asks it to wait, and it moves the clock.
    """

    def __init__(self) -> None:
        super().__init__()
        self._now = 0.0
        self._selector = self

    def time(self) -> float:
        return self._now

    def advance(self, seconds: float) -> None:
        """Let time pass while everybody stands still."""
        self._now += seconds

    def select(self, timeout: float | None) -> Sequence[object]:
        """Wait for input that never comes: the timeout passes."""
        if timeout is None:
            raise NothingWillHappen
        self._now += max(timeout, 0.0)
        return ()

    def call_soon(
        self,
        callback: Callable[[*Ts], object],
        *args: *Ts,
        context: Context | None = None,
    ) -> asyncio.Handle:
        until = _frozen_until(self._now, context)
        if until is not None:
            return super().call_at(until, callback, *args, context=context)
        return super().call_soon(callback, *args, context=context)

    def call_at(
        self,
        when: float,
        callback: Callable[[*Ts], object],
        *args: *Ts,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        until = _frozen_until(when, context)
        return super().call_at(when if until is None else until, callback, *args, context=context)

    def _process_events(self, event_list: Sequence[object]) -> None:
        """There are none."""


# When the code of a context stands still, as a process that is paused or busy: from, to.
FROZEN: ContextVar[tuple[float, float] | None] = ContextVar("frozen", default=None)


def _frozen_until(when: float, context: Context | None) -> float | None:
    frozen = FROZEN.get() if context is None else context.get(FROZEN)
    return frozen[1] if frozen is not None and frozen[0] <= when < frozen[1] else None


@contextlib.contextmanager
def virtual_loop() -> Iterator[VirtualLoop]:
    """A loop of one's own, closed at the end."""
    loop = VirtualLoop()
    try:
        yield loop
    finally:
        loop.close()


def run(main: Coroutine[Any, Any, T], *, loop: VirtualLoop) -> T:
    """Run ``main`` to its end in virtual time."""
    return loop.run_until_complete(main)
