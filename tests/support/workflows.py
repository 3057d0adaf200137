"""A Workflow engine in memory: it does what was seen of the platform's, deaths included.

An instance that its engine has lost stays ``running`` and does nothing until an event is sent to
it; then its run begins anew, and the steps that it had done return what they returned before.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from uketsuke.services.ports import InstanceState, Steps, Unavailable

# Runs an instance from its begin: its payload and its steps.
Run = Callable[[Mapping[str, object], Steps], Coroutine[Any, Any, object]]


@dataclass
class Instance:
    """One instance: what it was told, what its steps returned, and the life that works it now."""

    order: Mapping[str, object]
    state: InstanceState = InstanceState.LIVE
    done: dict[str, Mapping[str, object]] = field(default_factory=dict)
    did: list[str] = field(default_factory=list)
    life: asyncio.Task[None] | None = None
    error: str | None = None


@dataclass
class MemorySteps:
    """``services.ports.Steps`` of one life of an instance."""

    instance: Instance
    seen: Counter[str] = field(default_factory=Counter)

    async def do(
        self, name: str, work: Callable[[], Awaitable[Mapping[str, object]]]
    ) -> Mapping[str, object]:
        self.seen[name] += 1
        key = f"{name}-{self.seen[name]}"
        if key not in self.instance.done:
            self.instance.did.append(key)
            self.instance.done[key] = await work()
        return self.instance.done[key]

    async def sleep(self, name: str, duration: timedelta) -> None:
        await asyncio.sleep(duration.total_seconds())


@dataclass
class MemoryWorkflows:
    """``services.ports.Workflows`` on instances in a dictionary."""

    run: Run | None = None
    instances: dict[str, Instance] = field(default_factory=dict)
    away: bool = False
    lost_answers: int = 0  # of so many starts that happen
    deaf: set[str] = field(default_factory=set)  # instances that nothing wakes
    silent: set[str] = field(default_factory=set)  # instances that are not told about
    garbled: set[str] = field(default_factory=set)  # instances that break who asks
    full: bool = False  # what is created is queued until ``release``

    def _look(self, instance_id: str = "") -> None:
        if self.away or instance_id in self.silent:
            raise Unavailable
        if instance_id in self.garbled:
            raise RuntimeError("of a shape that nobody foresaw")

    async def create(self, instance_id: str, order: Mapping[str, object]) -> bool:
        self._look()
        if instance_id in self.instances:
            return False
        self.instances[instance_id] = Instance(order=dict(order))
        if self.full:
            self.instances[instance_id].state = InstanceState.QUEUED
        else:
            self._begin(self.instances[instance_id])
        if self.lost_answers:
            self.lost_answers -= 1
            raise Unavailable
        return True

    async def state(self, instance_id: str) -> InstanceState:
        self._look(instance_id)
        found = self.instances.get(instance_id)
        return found.state if found else InstanceState.ABSENT

    async def wake(self, instance_id: str) -> None:
        self._look()
        instance = self.instances[instance_id]
        sleeps = instance.state is InstanceState.LIVE and instance.life is None
        if sleeps and instance_id not in self.deaf:
            self._begin(instance)

    async def terminate(self, instance_id: str) -> None:
        self._look()
        instance = self.instances.get(instance_id)
        if instance and instance.state is InstanceState.LIVE:
            instance.state = InstanceState.BROKEN
            self._end_life(instance)

    def release(self) -> None:
        """Let begin what waited for room."""
        self.full = False
        for instance in self.instances.values():
            if instance.state is InstanceState.QUEUED:
                instance.state = InstanceState.LIVE
                self._begin(instance)

    def die(self, instance_id: str) -> None:
        """Lose the engine: the instance stays as it is, and nothing of it goes on."""
        self._end_life(self.instances[instance_id])

    def _begin(self, instance: Instance) -> None:
        instance.life = asyncio.ensure_future(self._live(instance))

    async def _live(self, instance: Instance) -> None:
        assert self.run is not None
        try:
            await self.run(instance.order, MemorySteps(instance))
        except asyncio.CancelledError:
            raise
        except Exception as error:
            instance.state, instance.error = InstanceState.BROKEN, str(error)
        else:
            if instance.state is InstanceState.LIVE:
                instance.state = InstanceState.COMPLETE
        instance.life = None

    def _end_life(self, instance: Instance) -> None:
        life, instance.life = instance.life, None
        if life is not None and life is not asyncio.current_task():
            life.cancel()
