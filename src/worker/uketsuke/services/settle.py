"""Write how attempts ended, under their lease tokens; several that end together in one call."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from uketsuke.domain.job import Ending, JobKey
from uketsuke.domain.lifecycle import JobState
from uketsuke.services.ports import Clock, Jobs, Unavailable
from uketsuke.settings import Settings
from uketsuke.telemetry import event


@dataclass(slots=True, kw_only=True)
class Settler:
    """Settles the attempts of one event. While one write is under way, what ends meanwhile waits
    and goes into the next one: a batch of instant work costs two writes, not a hundred.
    """

    jobs: Jobs
    clock: Clock
    settings: Settings
    _waiting: list[tuple[Ending, asyncio.Future[JobState | None]]] = field(default_factory=list)
    _writing: asyncio.Task[None] | None = None

    async def settle(self, ending: Ending, *, until: float) -> JobState | None:
        """Write ``ending`` and return the job's state after it; None if the lease was lost.

        Tried until the lease ends, at the monotonic second ``until``: what was paid for is not
        thrown away for one failed write. Raises ``Unavailable`` if it was not written.
        """
        pause = _FIRST_PAUSE
        while True:
            try:
                return await self._write_with_others(ending)
            except Unavailable:
                if self.clock.monotonic() + pause >= until:
                    raise
            await asyncio.sleep(pause)
            pause = min(pause * 2, _LONGEST_PAUSE)

    async def _write_with_others(self, ending: Ending) -> JobState | None:
        answer: asyncio.Future[JobState | None] = asyncio.get_running_loop().create_future()
        self._waiting.append((ending, answer))
        if self._writing is None:
            self._writing = asyncio.ensure_future(self._write_all())
        return await answer

    async def _write_all(self) -> None:
        # One turn of the loop: what ends in the same breath is written together.
        await asyncio.sleep(0)
        while self._waiting:
            batch, self._waiting = self._waiting, []
            try:
                states = await self._write([ending for ending, _ in batch])
            except Exception as error:  # not swallowed: it is raised where each ending waits
                _answer_all(batch, error)
                continue
            for ending, answer in batch:
                answer.set_result(states.get(ending.key))
        self._writing = None

    async def _write(self, endings: Sequence[Ending]) -> Mapping[JobKey, JobState]:
        try:
            async with asyncio.timeout(self.settings.intake_database_timeout.total_seconds()):
                return await self._write_or_ask(endings)
        except TimeoutError:
            raise Unavailable("the database did not answer in time") from None

    async def _write_or_ask(self, endings: Sequence[Ending]) -> Mapping[JobKey, JobState]:
        settled = await self.jobs.settle(endings)
        missing = [ending for ending in endings if ending.key not in settled]
        if not missing:
            return settled
        # Refused, or written by an earlier try whose answer was lost: ask before saying lost.
        written = await self.jobs.settled_under(missing)
        for ending in missing:
            if ending.key not in written:
                event(
                    "late_write_refused",
                    tenant_id=ending.key.tenant_id,
                    job_id=ending.key.job_id,
                    attempt=ending.attempt,
                )
        return {**settled, **written}


_Waiting = Sequence[tuple[Ending, asyncio.Future[JobState | None]]]


def _answer_all(batch: _Waiting, error: Exception) -> None:
    for _, answer in batch:
        answer.set_exception(error)


_FIRST_PAUSE = 0.2
_LONGEST_PAUSE = 5.0
