"""A Workflow engine as the platform's: durable steps, and instances whose lives end at any await.

What it does follows the platform's documentation and what was seen of it:
- An id is one instance's as long as the platform keeps it; to create it again is refused.
- What a step returned is kept, and is returned again in every later life; the code outside of the
  steps runs anew each time. A step is done at least once: the engine may die after the work and
  before it has kept the outcome.
- In production an engine that died comes back by itself. Locally it stays ``running`` and does
  nothing until an event is sent to it.
- A step whose tries are used up, for its isolate died each time, raises in the run. An exception
  out of the run makes the instance ``errored``; so does ``terminate`` (``terminated``), at once.
- What is over leaves the books after its retention; one that is lost altogether does so sooner.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextvars import Context
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from tests.simulation.isolate import Death, Ended, Isolate, IsolateDied
from tests.simulation.profile import WorkflowHabits
from tests.simulation.provider import SECRET
from tests.simulation.trace import Trace
from tests.simulation.wire import Wire
from uketsuke.services.ports import InstanceState, Unavailable

_TRIES = 2  # of a step whose isolate dies: as the product's adapter asks for


class StepGivenUp(Exception):
    """The engine tried a step as often as it was asked to, and its isolate died each time."""


@dataclass(slots=True, eq=False)
class Instance:
    """One instance: its order, what its steps returned, and the isolate in which it now lives."""

    id: str
    order: Mapping[str, Any]
    created_at: float
    state: InstanceState = InstanceState.LIVE
    outcomes: dict[str, str] = field(default_factory=dict)  # by step and count, as JSON
    tries: Counter[str] = field(default_factory=Counter)  # of steps that have no outcome yet
    wakes_up: dict[str, float] = field(default_factory=dict)  # when each sleep is over
    life: Isolate | None = None
    deaf: bool = False  # nothing wakes it
    ended_at: float | None = None

    @property
    def name(self) -> str:
        return f"…{self.id[-7:]}"


Live = Callable[[Instance, Isolate], Awaitable[Ended[str]]]


@dataclass(slots=True)
class VirtualWorkflows:
    """``live`` runs one life of an instance in an isolate of its own, to its end or its death."""

    rng: random.Random
    trace: Trace
    world: Context
    habits: WorkflowHabits
    spawn: Callable[[Coroutine[Any, Any, None]], None]
    isolate: Callable[[str], Isolate]
    live: Live | None = None
    calm: bool = False
    closed: bool = False
    instances: dict[str, Instance] = field(default_factory=dict)
    # How often each was made or woken since it was last heard of.
    roused: Counter[str] = field(default_factory=Counter)

    def create(self, instance_id: str, order: Mapping[str, object]) -> bool:
        """Make an instance and let it begin; False if there is one of that id."""
        told = json.dumps(order)
        self.trace.require(SECRET not in told, "no-content-in-the-engine", told)
        if instance_id in self.instances:
            self.trace.count("workflow:exists")
            return False
        instance = Instance(instance_id, json.loads(told), self._now())
        self.instances[instance_id] = instance
        self.trace.count("workflow:created")
        self._rouse(instance)
        return True

    def state(self, instance_id: str) -> InstanceState:
        found = self.instances.get(instance_id)
        state = found.state if found else InstanceState.ABSENT
        self.trace.note(f"{instance_id[-7:]} is told to be {state}")
        self.trace.count(f"workflow:told {state}")
        return state

    def wake(self, instance_id: str) -> None:
        """Send it an event: an engine that was lost begins to live again."""
        found = self.instances.get(instance_id)
        if found is None:
            raise Unavailable("there is no such instance")
        self.trace.count("workflow:woken")
        self._rouse(found)

    def terminate(self, instance_id: str) -> None:
        found = self.instances.get(instance_id)
        if found is not None and found.state is InstanceState.LIVE:
            self.trace.count("workflow:terminated")
            self._end(found, InstanceState.BROKEN)
            if found.life is not None:
                found.life.kill(Death("terminated"))

    def heard_of(self, instance_id: str) -> None:
        self.roused[instance_id] = 0

    def _now(self) -> float:
        return asyncio.get_running_loop().time()

    def _rouse(self, instance: Instance) -> None:
        self.roused[instance.id] += 1
        self._begin(instance)

    def _begin(self, instance: Instance) -> None:
        sleeps = instance.state is InstanceState.LIVE and instance.life is None
        if sleeps and not instance.deaf and not self.closed:
            instance.life = self.isolate("workflow")
            self.spawn(self._live(instance, instance.life))

    async def _live(self, instance: Instance, isolate: Isolate) -> None:
        assert self.live is not None
        self.trace.note(f"{instance.name} lives in {isolate.name}")
        ended = await self.live(instance, isolate)
        instance.life = None
        if instance.state is not InstanceState.LIVE:
            return
        if ended.death is not None:
            self._outlive(instance)
        elif ended.error is not None:
            self.trace.require(SECRET not in str(ended.error), "no-content-in-the-engine", "")
            self._end(instance, InstanceState.BROKEN)
        else:
            self._end(instance, InstanceState.COMPLETE)

    def _end(self, instance: Instance, state: InstanceState) -> None:
        instance.state, instance.ended_at = state, self._now()
        self.trace.note(f"{instance.name} is {state}")

    def _outlive(self, instance: Instance) -> None:
        """Decide what becomes of an instance whose life has ended by a death."""
        names, weights = zip(*self.habits.fates, strict=True)
        fate = "restarts" if self.calm else str(self.rng.choices(names, weights)[0])
        self.trace.note(f"{instance.name} {fate}")
        self.trace.count(f"workflow:{fate}")
        match fate:
            case "restarts":
                after = self.rng.uniform(0.1, self.habits.restarts_within)
                loop = asyncio.get_running_loop()
                loop.call_later(after, self._begin, instance, context=self.world)
            case "is deaf":
                instance.deaf = True
            case "is gone":
                del self.instances[instance.id]
                instance.state = InstanceState.ABSENT
            case "breaks":
                self._end(instance, InstanceState.BROKEN)
            case _:
                """It sleeps until it is woken."""


@dataclass(slots=True)
class LifeSteps:
    """``services.ports.Steps`` in one life of an instance."""

    engine: VirtualWorkflows
    instance: Instance
    isolate: Isolate
    seen: Counter[str] = field(default_factory=Counter)

    async def do(
        self, name: str, work: Callable[[], Awaitable[Mapping[str, object]]]
    ) -> Mapping[str, object]:
        key = self._key(name)
        if key not in self.instance.outcomes:
            await self._try(key, work)
        await asyncio.sleep(0.001)
        outcome: Mapping[str, object] = json.loads(self.instance.outcomes[key])
        return outcome

    async def _try(self, key: str, work: Callable[[], Awaitable[Mapping[str, object]]]) -> None:
        instance = self.instance
        if instance.tries[key] >= _TRIES:
            self.engine.trace.count("workflow:step given up")
            raise StepGivenUp(key)
        instance.tries[key] += 1
        try:
            outcome = await work()
        except asyncio.CancelledError:
            # The product's adapter gives the engine an outcome then, or it would try again.
            if self.isolate.death is None:
                self._record(key, {"stopped": True})
            raise
        self._perhaps_die(key)
        self._record(key, outcome)

    def _perhaps_die(self, key: str) -> None:
        """The work is done, and nobody will ever know: the step is done again."""
        engine = self.engine
        if not engine.calm and engine.rng.random() < engine.habits.lost_outcomes:
            engine.trace.count("workflow:outcome lost")
            self.isolate.kill(Death("before a step was kept"))
            raise IsolateDied

    def _record(self, key: str, outcome: Mapping[str, object]) -> None:
        told = json.dumps(outcome)
        self.engine.trace.require(SECRET not in told, "no-content-in-the-engine", told)
        self.instance.outcomes[key] = told

    def _key(self, name: str) -> str:
        self.isolate.check()
        self.isolate.spend_call()
        self.seen[name] += 1
        return f"{name}-{self.seen[name]}"

    async def sleep(self, name: str, duration: timedelta) -> None:
        """Sleep once, over all lives."""
        now = asyncio.get_running_loop().time()
        until = self.instance.wakes_up.setdefault(self._key(name), now + duration.total_seconds())
        await asyncio.sleep(max(until - now, 0.001))


@dataclass(slots=True)
class WorkflowPort:
    """``services.ports.Workflows`` in one isolate."""

    engine: VirtualWorkflows
    wire: Wire
    isolate: Isolate

    async def create(self, instance_id: str, order: Mapping[str, object]) -> bool:
        return await self.wire.call(
            "create", lambda: self.engine.create(instance_id, order), isolate=self.isolate
        )

    async def state(self, instance_id: str) -> InstanceState:
        return await self.wire.call(
            "state", lambda: self.engine.state(instance_id), isolate=self.isolate
        )

    async def wake(self, instance_id: str) -> None:
        await self.wire.call("wake", lambda: self.engine.wake(instance_id), isolate=self.isolate)

    async def terminate(self, instance_id: str) -> None:
        await self.wire.call(
            "terminate", lambda: self.engine.terminate(instance_id), isolate=self.isolate
        )
