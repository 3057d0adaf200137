"""One event in one Worker: it runs the product's code, and can die at any await.

When an isolate dies, everything in it is gone at once. Its tasks are canceled, and whatever their
``except`` and ``finally`` still try reaches the world no more: every call is refused with
``IsolateDied``, which no handler of the product's catches.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Generator
from contextvars import Context, ContextVar, copy_context
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from tests.simulation.loop import FROZEN
from tests.simulation.outage import Outage
from tests.simulation.trace import Trace
from uketsuke.domain.job import JobKey

T = TypeVar("T")


class IsolateDied(BaseException):
    """There is no Worker any more that this code could run in."""


@dataclass(frozen=True, slots=True)
class Death:
    """Why an isolate died. ``poison`` is the job that killed it, if one did."""

    why: str
    poison: JobKey | None = None


@dataclass(frozen=True, slots=True)
class Ended(Generic[T]):
    """What became of an event: its value, its error, or its death."""

    value: T | None = None
    error: BaseException | None = None
    death: Death | None = None


@dataclass(slots=True, eq=False)
class Isolate:
    """``calls_left`` and ``dies_after`` (seconds) are its doom, if it has one."""

    name: str
    trace: Trace
    skew: float = 0.0
    calls_left: int | None = None
    dies_after: float | None = None
    frozen: tuple[float, float] | None = None  # when all of it stands still
    cut: Outage | None = None  # when it alone does not reach the database
    patience: float | None = None  # how many seconds it waits for an answer at most
    death: Death | None = None
    # What it holds leases of: job to (attempt, token). Kept by the audit.
    holds: dict[JobKey, tuple[int, str]] = field(default_factory=dict)
    # Other events of the same process: what kills one kills all.
    beside: list[Isolate] = field(default_factory=list)
    # Jobs that are being worked in it, with their tokens; and all tokens that ever were.
    working: dict[JobKey, str] = field(default_factory=dict)
    started: set[str] = field(default_factory=set)
    resumed_at: float | None = None  # when its attempt's run was let go on in it
    _tasks: list[asyncio.Task[Any]] = field(default_factory=list)
    _died: asyncio.Future[None] | None = None
    on_death: Callable[[Isolate], None] | None = None

    def check(self) -> None:
        """Refuse to go on after death. Called wherever the product reaches the world."""
        if self.death is not None:
            raise IsolateDied

    def spend_call(self) -> None:
        """Count a call to the world; the last one that its doom allows kills it."""
        if self.calls_left is not None:
            self.calls_left -= 1
            if self.calls_left < 0:
                self.kill(Death("at a call"))
                raise IsolateDied

    def adopt(self, task: asyncio.Task[Any]) -> None:
        self._tasks.append(task)

    def kill(self, death: Death) -> None:
        """End everything in it, now, and what else its process holds."""
        for isolate in [self, *self.beside]:
            isolate.end(death)

    def end(self, death: Death) -> None:
        """End the work of this one event."""
        if self.death is not None or (self._died is not None and self._died.done()):
            return
        self.death = death
        self.trace.note(f"{self.name} DIED ({death.why})")
        self.trace.count(f"death:{death.why}")
        if self.on_death is not None:
            self.on_death(self)
        if self._died is not None:
            self._died.set_result(None)
        self._cancel_all()

    def _cancel_all(self, rounds: int = 400) -> None:
        left = [task for task in self._tasks if not task.done()]
        for task in left:
            task.cancel()
        if not left:
            return
        if rounds == 0:
            self.trace.breach("simulator", f"{self.name} has tasks that do not die: {left}")
            return
        # Soon at first; what is frozen takes longer.
        pause = 0.0 if rounds > 380 else 1.0
        asyncio.get_running_loop().call_later(
            pause, self._cancel_all, rounds - 1, context=Context()
        )

    async def run(self, main: Coroutine[Any, Any, T], *, wall: float | None) -> Ended[T]:
        """Run an event to its end, its death, or the platform's limit of wall time."""
        loop = asyncio.get_running_loop()
        self._died = loop.create_future()
        context = copy_context()
        context.run(CURRENT.set, self)
        context.run(FROZEN.set, self.frozen)
        task = loop.create_task(main, context=context)
        limit = loop.call_later(wall, self.end, Death("wall time")) if wall else None
        both: list[asyncio.Future[Any]] = [task, self._died]
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        if limit is not None:
            limit.cancel()
        if self.death is not None:
            return Ended(death=self.death)
        self._died.cancel()
        await self._expect_quiet()
        error = task.exception()
        return Ended(error=error) if error else Ended(value=task.result())

    async def _expect_quiet(self) -> None:
        """What an event started must have ended with it: the runtime would freeze the rest."""
        if self.frozen is not None:
            return
        for _ in range(5):
            await asyncio.sleep(0)
        left = [task for task in self._tasks if not task.done()]
        for task in left:
            self.trace.breach("nothing-left-running", f"{self.name}: {task.get_coro()!r}")
            task.cancel()


CURRENT: ContextVar[Isolate | None] = ContextVar("isolate", default=None)


def track_tasks(
    loop: asyncio.AbstractEventLoop,
    coro: Coroutine[Any, Any, Any] | Generator[Any, None, Any],
    **options: Any,
) -> asyncio.Task[Any]:
    """A task factory that gives each task to the isolate in which it was made."""
    task = asyncio.Task(coro, loop=loop, **options)
    context = options.get("context")
    isolate = context.get(CURRENT) if context is not None else CURRENT.get()
    if isolate is not None:
        isolate.adopt(task)
    return task
