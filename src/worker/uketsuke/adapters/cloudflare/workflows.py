"""Workflows: their instances from outside, and the steps of one from within."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta
from typing import Any, Final

from uketsuke.adapters.cloudflare import ffi
from uketsuke.services.ports import InstanceState, Unavailable

# developers.cloudflare.com/workflows/build/workers-api: the names of an instance's states.
_STATES: Final = {
    "queued": InstanceState.QUEUED,  # over the account's or the Workflow's limit of those at once
    "paused": InstanceState.QUEUED,
    "running": InstanceState.LIVE,
    "waiting": InstanceState.LIVE,
    "waitingForPause": InstanceState.LIVE,
    "complete": InstanceState.COMPLETE,
}
# The codes in the text of a WorkflowError, which is all that crosses.
_EXISTS: Final = ("already_exists", "already exists")
_ABSENT: Final = ("not_found", "not found")
_OVER: Final = ("cannot_terminate", "finite state")

# A step is tried once: what its work meets, it returns as data, and the run decides. Only a death
# of the whole isolate makes the engine try again. A delay must be given with a limit.
_STEP: Final = {"retries": {"limit": 1, "delay": "1 second"}, "timeout": "2 hours"}


class CloudflareWorkflows:
    """``services.ports.Workflows`` on a raw Workflow binding."""

    def __init__(self, binding: Any) -> None:
        self._binding = binding

    async def create(self, instance_id: str, order: Mapping[str, object]) -> bool:
        options = ffi.to_json_object({"id": instance_id, "params": order})
        try:
            await ffi.patiently(self._binding.create(options))
        except ffi.JsError as error:
            if _says(error, _EXISTS):
                return False
            raise Unavailable("the Workflow did not start") from error
        return True

    async def state(self, instance_id: str) -> InstanceState:
        try:
            instance = await ffi.patiently(self._binding.get(instance_id))
            status = await ffi.patiently(instance.status())
        except ffi.JsError as error:
            if _says(error, _ABSENT):
                return InstanceState.ABSENT
            raise Unavailable("the Workflow did not tell its state") from error
        return _STATES.get(str(status.status), InstanceState.BROKEN)

    async def wake(self, instance_id: str) -> None:
        event = ffi.to_json_object({"type": "wake", "payload": {}})
        try:
            instance = await ffi.patiently(self._binding.get(instance_id))
            await ffi.patiently(instance.sendEvent(event))
        except ffi.JsError as error:
            raise Unavailable("the Workflow did not wake") from error

    async def terminate(self, instance_id: str) -> None:
        try:
            instance = await ffi.patiently(self._binding.get(instance_id))
            await ffi.patiently(instance.terminate())
        except ffi.JsError as error:
            if not _says(error, (*_ABSENT, *_OVER)):
                raise Unavailable("the Workflow did not stop") from error


class CloudflareSteps:
    """``services.ports.Steps`` on the step object that the SDK hands to a run."""

    def __init__(self, step: Any) -> None:
        self._step = step

    async def do(
        self, name: str, work: Callable[[], Awaitable[Mapping[str, object]]]
    ) -> Mapping[str, object]:
        """The engine calls the work itself, so a cancellation does not reach it by awaiting."""
        working: list[asyncio.Task[Any]] = []

        async def body() -> str:
            task = asyncio.ensure_future(work())
            working.append(task)
            try:
                return json.dumps(await task)
            except asyncio.CancelledError:
                return json.dumps({"stopped": True})

        step = self._step.do(name, config=_STEP)(body)
        try:
            return dict(json.loads(await step()))
        except asyncio.CancelledError:
            for task in working:
                task.cancel()
            await asyncio.gather(*working, return_exceptions=True)
            raise

    async def sleep(self, name: str, duration: timedelta) -> None:
        milliseconds = max(1, round(duration.total_seconds() * 1000))
        await self._step.sleep(name, f"{milliseconds} milliseconds")


def _says(error: Exception, marks: tuple[str, ...]) -> bool:
    return any(mark in str(error) for mark in marks)
