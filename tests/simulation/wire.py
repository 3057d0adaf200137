"""The way between a Worker and what it calls: slow, cut off before or after, or silent.

What was sent takes effect in the world even if the caller gave up or died meanwhile.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Iterator, Sequence
from contextvars import Context
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from tests.simulation.isolate import Isolate
from tests.simulation.outage import Outage
from tests.simulation.trace import Trace
from uketsuke.services.ports import Unavailable

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Faults:
    """How likely each thing is to happen to one call."""

    refuse: float = 0.0  # not done, and said so
    lose: float = 0.0  # done, and the answer lost with an error
    silence: float = 0.0  # not done, never answered
    mute: float = 0.0  # done, never answered
    drag: float = 0.0  # done and answered after many seconds


LONGEST_DRAG = 40.0  # seconds
PATIENCE = 30.0  # seconds that the product's adapters wait for an answer
FAULTS = ("refuse", "lose", "silence", "mute", "drag")


class _Plan(NamedTuple):
    """After how many seconds the call is done and answered; None is never."""

    done: float | None
    answered: float | None
    error: bool


@dataclass(slots=True)
class Wire:
    """One sort of connection. ``calm`` turns its faults off."""

    name: str
    rng: random.Random
    trace: Trace
    world: Context
    faults: Faults
    outages: Sequence[Outage] = ()
    calm: bool = False
    patience: float | None = None  # whoever asks waits no longer
    _weights: list[float] = field(init=False)

    def __post_init__(self) -> None:
        self._weights = [getattr(self.faults, fault) for fault in FAULTS]

    async def call(self, what: str, apply: Callable[[], T], *, isolate: Isolate) -> T:
        """Send, have it done, get the answer: each may fail to happen."""
        isolate.check()
        isolate.spend_call()
        loop = asyncio.get_running_loop()
        fault = self._fault(loop.time(), isolate.cut if self.name == "database" else None)
        plan = self._plan(fault, isolate.patience or self.patience)
        if fault is not None:
            self.trace.note(f"{isolate.name} {self.name}.{what} will meet: {fault}")
            self.trace.count(f"{self.name}:{fault}")
        answer: asyncio.Future[T] = loop.create_future()
        call = _Call(apply=apply, answer=answer, plan=plan)
        for when, step in call.steps():
            loop.call_later(when, step, context=self.world)
        result = await answer
        isolate.spend_call()
        return result

    def _fault(self, now: float, cut: Outage | None) -> str | None:
        if self.calm:
            return None
        if cut is not None and cut.holds(now):
            return cut.fault
        for outage in self.outages:
            if outage.holds(now) and self.rng.random() < 0.95:
                return outage.fault
        draw = self.rng.random()
        for fault, weight in zip(FAULTS, self._weights, strict=True):
            draw -= weight
            if draw < 0:
                return fault
        return None

    def _plan(self, fault: str | None, patience: float | None) -> _Plan:
        given_up = patience is not None
        quick = 0.002 + self.rng.random() * 0.05
        match fault:
            case "refuse":
                return _Plan(None, quick, True)
            case "lose":
                return _Plan(quick, quick + 0.01, True)
            case "silence":
                return _Plan(None, patience, given_up)
            case "mute":
                return _Plan(quick, patience, given_up)
            case "drag":
                long = self.rng.uniform(1.0, LONGEST_DRAG - 1)
                if patience is not None and patience < long:
                    return _Plan(long, patience, True)
                return _Plan(long, long + 0.01, False)
            case _:
                return _Plan(quick, quick, False)


@dataclass(slots=True)
class _Call:
    """A call under way."""

    apply: Callable[[], object]
    answer: asyncio.Future[Any]
    plan: _Plan
    result: object = None
    failure: Exception | None = None

    def steps(self) -> Iterator[tuple[float, Callable[[], None]]]:
        """Say when to do what. Timers of one moment come in no order, so those two are one."""
        done, answered, _ = self.plan
        if done is not None and done == answered:
            yield done, self.do_and_tell
            return
        if done is not None:
            yield done, self.do
        if answered is not None:
            yield answered, self.tell

    def do_and_tell(self) -> None:
        self.do()
        self.tell()

    def do(self) -> None:
        try:
            self.result = self.apply()
        except Unavailable as error:
            self.failure = error

    def tell(self) -> None:
        if self.answer.done():
            return
        if self.plan.error:
            self.answer.set_exception(Unavailable("cut off"))
        elif self.failure is not None:
            self.answer.set_exception(self.failure)
        else:
            self.answer.set_result(self.result)
