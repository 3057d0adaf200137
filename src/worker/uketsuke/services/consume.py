"""Turn a batch of messages into work, and give each message its own verdict.

The row decides whether and when work is tried; the queue is only told when to knock again. A
message never re-delivers another, and nothing is leased that does not start at once.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from uketsuke.domain.job import Ending, JobKey, LeasedJob, SeenJob
from uketsuke.domain.lifecycle import Engine, JobEvent, JobState
from uketsuke.services.adopt import save_paid_result
from uketsuke.services.execute import Attempt, Tally, Worker, execute, not_started
from uketsuke.services.knock import Done, KnockAgain, Verdict, at_most, later, verdict_for
from uketsuke.services.lanes import put_off
from uketsuke.services.leases import LeaseKeeper
from uketsuke.services.ports import NO_LANES, Delivery, LanesOfKinds, Ports, Unavailable
from uketsuke.services.read import Readable, read_deliveries
from uketsuke.services.run import start_instance
from uketsuke.services.settle import Settler
from uketsuke.services.tell import tell_end, tell_leased, tell_unexpected, trace_of
from uketsuke.telemetry import event


async def consume(
    deliveries: Sequence[Delivery],
    work: Worker,
    *,
    kinds: frozenset[str],
    lanes: LanesOfKinds = NO_LANES,
    ports: Ports,
) -> Mapping[str, Verdict]:
    """Work what the messages point at and return a verdict for each delivery, by its id.

    Total: whatever a message holds or its job does, the others get theirs. Several jobs are worked
    at once within ``settings.jobs_at_once``; everything that is started ends before this returns.
    ``lanes`` are those that each kind asks: jobs whose lane is parked are put off.
    """
    readable, verdicts = await read_deliveries(deliveries, kinds=kinds, ports=ports)
    batch = _Batch(work=work, lanes=lanes, ports=ports, pending=deque(readable))
    beating = asyncio.ensure_future(batch.keeper.run())
    try:
        await batch.pump()
    finally:
        beating.cancel()
    all_verdicts = {**verdicts, **batch.verdicts}
    return {d.id: at_most(all_verdicts[d.id], d) for d in deliveries}


@dataclass(slots=True, kw_only=True)
class _Batch:
    """One event's work: what is still to lease, what runs, what was decided."""

    work: Worker
    lanes: LanesOfKinds
    ports: Ports
    pending: deque[Readable]
    verdicts: dict[str, Verdict] = field(default_factory=dict)
    quarantined: list[Readable] = field(default_factory=list)
    keeper: LeaseKeeper = field(init=False)
    settler: Settler = field(init=False)
    started_at: float = field(init=False)

    def __post_init__(self) -> None:
        jobs, clock, settings = self.ports.jobs, self.ports.clock, self.ports.settings
        self.keeper = LeaseKeeper(jobs=jobs, clock=clock, settings=settings)
        self.settler = Settler(jobs=jobs, clock=clock, settings=settings)
        self.started_at = clock.monotonic()

    async def pump(self) -> None:
        """Lease as many as there is room for, whenever there is room, until all is decided."""
        running: set[asyncio.Task[None]] = set()
        try:
            while self.pending or running:
                wave = self._next_wave(room=self.ports.settings.jobs_at_once - len(running))
                if wave:
                    alone = len(wave) == 1 and not running and not self.pending
                    leased = await self._lease(wave, alone=alone)
                    running |= {asyncio.create_task(self._work(*pair)) for pair in leased}
                if running:
                    _, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in running:
                task.cancel()  # the event is ending: nobody would keep their leases
        await self._work_quarantined()

    def _next_wave(self, *, room: int) -> list[Readable]:
        if self._out_of_time():
            for readable in self.pending:
                self.verdicts[readable.delivery.id] = later()
            self.pending.clear()
        return [self.pending.popleft() for _ in range(min(room, len(self.pending)))]

    def _out_of_time(self) -> bool:
        elapsed = self.ports.clock.monotonic() - self.started_at
        return elapsed >= self.ports.settings.event_limit.total_seconds()

    async def _work_quarantined(self) -> None:
        """Work alone, one after another, what may have killed its worker before."""
        for readable in self.quarantined:
            if self._out_of_time():
                self.verdicts[readable.delivery.id] = later()
                continue
            for pair in await self._lease([readable], alone=True):
                await self._work(*pair)

    async def _lease(
        self, wave: Sequence[Readable], *, alone: bool
    ) -> list[tuple[Readable, Attempt]]:
        """Lease what may be worked; decide about the rest."""
        by_key = {readable.key: readable for readable in wave}
        asked_at = self.ports.clock.monotonic()
        looked = await self._ask_for_leases(by_key.keys(), alone=alone)
        if looked is not None:
            looked = await put_off(looked, ports=self.ports)
        leased = []
        for key, readable in by_key.items():
            found = looked.get(key) if looked is not None else None
            if isinstance(found, LeasedJob):
                self.keeper.hold(found, asked_at=asked_at)
                attempt = Attempt(
                    leased=found, asked_at=asked_at, tally=Tally(), keeper=self.keeper
                )
                leased.append((readable, attempt))
            elif looked is None:
                self.verdicts[readable.delivery.id] = later(self.ports.settings.lease)
            else:
                await self._decide_unleased(readable, found, alone=alone)
        return leased

    async def _ask_for_leases(
        self, wave: Collection[JobKey], *, alone: bool
    ) -> Mapping[JobKey, LeasedJob | SeenJob] | None:
        """Claim under one token; after a lost answer, ask again under the same one."""
        token = self.ports.dice.entropy(16).hex()
        settings = self.ports.settings
        for _ in range(_CLAIM_TRIES):
            try:
                async with asyncio.timeout(settings.intake_database_timeout.total_seconds()):
                    return await self.ports.jobs.lease(
                        wave,
                        token=token,
                        duration=settings.lease,
                        alone=alone,
                        lanes=self.lanes,
                    )
            except (Unavailable, TimeoutError):
                await asyncio.sleep(_CLAIM_PAUSE)
        return None

    async def _decide_unleased(
        self, readable: Readable, seen: SeenJob | None, *, alone: bool
    ) -> None:
        if seen is not None and seen.may_be_leased_alone and not alone:
            self.quarantined.append(readable)
            return
        self.verdicts[readable.delivery.id] = await verdict_for(
            readable.key, readable.delivery, seen, ports=self.ports
        )

    async def _work(self, readable: Readable, attempt: Attempt) -> None:
        leased = attempt.leased
        began = JobEvent.LEASED_AGAIN if leased.lost_before else JobEvent.LEASED
        tell_leased(leased.job, transition=began, delivery=readable.delivery)
        try:
            if leased.job.engine is Engine.WORKFLOW:
                verdict = await self._hand_over(attempt)
            else:
                verdict = await self._work_and_settle(attempt)
        except Exception as error:  # a fault of ours must not re-deliver the neighbours
            tell_unexpected(leased, error)
            verdict = later(self.ports.settings.lease)
        finally:
            self.keeper.release(leased.job.key)
        self.verdicts[readable.delivery.id] = verdict

    async def _hand_over(self, attempt: Attempt) -> Verdict:
        """Start the attempt's instance: the lease is its own from then on."""
        leased = attempt.leased
        until = self.keeper.let_end(leased.job.key)
        if await start_instance(leased.job, token=leased.token, ports=self.ports):
            return Done()
        # The name is an instance's that broke before its job had a row: the next try has another.
        ending, ended_at = not_started(leased), self._now_of(attempt)
        state = await self.settler.settle(ending, until=until)
        if state is not None:
            tell_end(leased, ending, state, ended_at=ended_at)
        return later()

    def _now_of(self, attempt: Attempt) -> datetime:
        return attempt.database_time(now=self.ports.clock.monotonic())

    async def _work_and_settle(self, attempt: Attempt) -> Verdict:
        leased = attempt.leased
        ending = await execute(attempt, self.work, ports=self.ports)
        if ending is None:
            event("lease_lost", **trace_of(leased))
            return later(self.ports.settings.lease)
        ended_at = self._now_of(attempt)
        state = await self._settle(ending)
        if state is None:
            return later(self.ports.settings.lease)
        tell_end(leased, ending, state, ended_at=ended_at)
        if state is not JobState.RETRYING:
            return Done()
        long = ending.wait > self.ports.settings.longest_knock
        return Done() if long else KnockAgain(after=ending.wait)

    async def _settle(self, ending: Ending) -> JobState | None:
        try:
            return await self.settler.settle(ending, until=self.keeper.let_end(ending.key))
        except Unavailable:
            await save_paid_result(ending, ports=self.ports)
            return None


_CLAIM_TRIES = 3
_CLAIM_PAUSE = 0.5
