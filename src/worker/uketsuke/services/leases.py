"""Keep the leases of what one event works on, and stop the work whose lease is gone."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from typing import Any

from uketsuke.domain.job import JobKey, LeasedJob, Progress
from uketsuke.services.ports import Clock, Jobs, LeaseState, Unavailable
from uketsuke.settings import Settings
from uketsuke.telemetry import event, raised


class Stop(StrEnum):
    """Why the work was told to stop."""

    LOST = "lost"
    CANCELED = "canceled"
    DEADLINE = "deadline"


@dataclass(slots=True, kw_only=True)
class _Held:
    leased: LeasedJob
    # By our own monotonic clock, reckoned from before the statement was sent: never too late.
    ends_at: float
    progress: Progress | None = None
    written: Progress | None = None
    work: asyncio.Future[Any] | None = None
    stop: Stop | None = None
    renewing: bool = True


@dataclass(slots=True, kw_only=True)
class LeaseKeeper:
    """Renews all leases of one event with one statement a beat, while ``run`` runs.

    Liveness and the time budget are two controls: the keeper knows only leases; how long an
    attempt may take is its own timeout. When the database does not answer, the work is stopped
    before the lease could end, so that two workers never work one job.
    """

    jobs: Jobs
    clock: Clock
    settings: Settings
    _held: dict[JobKey, _Held] = field(default_factory=dict)

    def hold(self, leased: LeasedJob, *, asked_at: float) -> None:
        """Keep the lease of ``leased``, that was asked for at ``asked_at`` (monotonic seconds)."""
        ends_at = asked_at + self.settings.lease.total_seconds()
        self._held[leased.job.key] = _Held(leased=leased, ends_at=ends_at)

    def watch(self, key: JobKey, work: asyncio.Future[Any]) -> None:
        """Cancel ``work`` should the lease of ``key`` go, or somebody wish it."""
        held = self._held[key]
        held.work = work
        if held.stop is not None:
            work.cancel()

    def why_stopped(self, key: JobKey) -> Stop | None:
        """Return why the work was told to stop, if it was."""
        return self._held[key].stop

    def let_end(self, key: JobKey) -> float:
        """Renew it no more: the work is over. Return the monotonic second until which it holds.

        What is left of it is the time to write the ending; a write that never succeeds must not
        keep the job for ever.
        """
        self._held[key].renewing = False
        return self._held[key].ends_at

    def release(self, key: JobKey) -> None:
        """Keep it no longer: it was settled, or lost."""
        self._held.pop(key, None)

    def note_progress(self, key: JobKey, progress: Progress) -> None:
        """Let the next beat write it."""
        if key in self._held:
            self._held[key].progress = progress

    async def beat(self) -> None:
        """Renew now what has progress to show or is due, and stop what must not go on."""
        await self._renew_what_needs_it()

    async def run(self) -> None:
        """Beat until canceled."""
        beat = self.settings.progress_every.total_seconds()
        while True:
            await asyncio.sleep(beat)
            try:
                await self._renew_what_needs_it()
            except Exception as error:  # a dead keeper would let work go on without a lease
                event("unexpected_error", **raised(error))
            self._stop_what_would_expire(beat)

    async def _renew_what_needs_it(self) -> None:
        needing = {key: held for key, held in self._held.items() if self._needs_renewal(held)}
        if not needing:
            return
        asked_at = self.clock.monotonic()
        try:
            states = await self._renew(needing)
        except (Unavailable, TimeoutError):
            return
        for key, held in needing.items():
            self._take_in(held, states.get(key), asked_at=asked_at)

    def _needs_renewal(self, held: _Held) -> bool:
        if held.stop is not None or not held.renewing:
            return False
        if held.progress != held.written:
            return True
        age = self.clock.monotonic() - (held.ends_at - self.settings.lease.total_seconds())
        return age >= self.settings.renew_every.total_seconds()

    async def _renew(self, needing: Mapping[JobKey, _Held]) -> Mapping[JobKey, LeaseState]:
        # Waiting longer for an answer than the first of the leases lasts would be work without one.
        left = min(held.ends_at for held in needing.values()) - self.clock.monotonic()
        patience = min(self.settings.renew_every, timedelta(seconds=left) - _MARGIN)
        async with asyncio.timeout(patience.total_seconds()):
            return await self.jobs.renew(
                {key: held.leased.token for key, held in needing.items()},
                duration=self.settings.lease,
                progress={key: held.progress for key, held in needing.items() if held.progress},
            )

    def _take_in(self, held: _Held, state: LeaseState | None, *, asked_at: float) -> None:
        if state is None:
            _stop(held, Stop.LOST)
        elif state.cancel_requested:
            _stop(held, Stop.CANCELED)
        elif state.overdue:
            _stop(held, Stop.DEADLINE)
        else:
            held.written = held.progress
            held.ends_at = asked_at + state.ends_in.total_seconds()

    def _stop_what_would_expire(self, beat: float) -> None:
        # The next look comes a beat later: what would have expired by then stops now.
        horizon = self.clock.monotonic() + beat + _MARGIN.total_seconds()
        for held in self._held.values():
            if held.stop is None and held.ends_at < horizon:
                _stop(held, Stop.LOST)


# What stopping may take: a canceled call must have let go before the lease ends.
_MARGIN = timedelta(seconds=1)


def _stop(held: _Held, why: Stop) -> None:
    # The work may have come back with its result while the database was asked: then it settles
    # under its token, and the store decides.
    if held.work is None:
        held.stop = why
    elif not held.work.done():
        held.stop = why
        held.work.cancel()
