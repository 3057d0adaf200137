"""What the services need of the store for a job's life: its acceptance, leases, ends and lanes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from types import MappingProxyType
from typing import Final, Protocol

from uketsuke.domain.backoff import RetryPolicy
from uketsuke.domain.failure import ErrorClass, Failure
from uketsuke.domain.job import (
    Attempt,
    Checkpoint,
    Ending,
    Job,
    JobKey,
    LeasedJob,
    NewJob,
    Progress,
    SeenJob,
    SilentRun,
)
from uketsuke.domain.lane import Park
from uketsuke.domain.lifecycle import JobState
from uketsuke.services.ports.platform import Delivery


@dataclass(frozen=True, slots=True, kw_only=True)
class Admitted:
    """What a submission has led to; ``outlived`` held its run key beyond its limit, and has ended.

    That stands whatever became of the submission.
    """

    outlived: Sequence[Job] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptedNew(Admitted):
    """The job is durable."""

    job: Job


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownKey(Admitted):
    """The idempotency key is taken: this job was made under it, with this fingerprint."""

    job: Job
    fingerprint: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunInProgress(Admitted):
    """The run key is held by this live job."""

    job: Job


@dataclass(frozen=True, slots=True, kw_only=True)
class InputVanished(Admitted):
    """An upload that the submission names is not there any more."""


Admission = AcceptedNew | KnownKey | RunInProgress | InputVanished


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaseState:
    """What a renewal found: the lease as it now stands, and why the holder may have to stop."""

    ends_in: timedelta
    cancel_requested: bool
    overdue: bool


# Which lanes each kind of job asks, by the kind's name.
LanesOfKinds = Mapping[str, Collection[str]]


NO_LANES: Final[LanesOfKinds] = MappingProxyType({})


class Jobs(Protocol):
    """The one store of jobs. Each method is one guarded statement or one transaction."""

    async def accept(self, new: NewJob) -> Admission: ...

    async def find(self, job_id: str, *, tenant_id: str | None) -> Job | None:
        """``tenant_id`` None is an operator's: the job of any tenant."""
        ...

    async def look(self, key: JobKey) -> SeenJob | None:
        """Tell how a job stands by the database's clock, and change nothing; None if it is not."""
        ...

    async def find_by_request(self, *, tenant_id: str, request_key: str) -> KnownKey | None: ...

    async def attempts_of(self, key: JobKey) -> Sequence[Attempt]: ...

    async def inline_input(self, key: JobKey) -> str | None:
        """Return the input that lies beside a job's row, as JSON; None if none does."""
        ...

    async def result_text(self, key: JobKey, *, attempt: int) -> str | None: ...

    async def lease(
        self,
        wave: Collection[JobKey],
        *,
        token: str,
        duration: timedelta,
        alone: bool,
        lanes: LanesOfKinds = NO_LANES,
    ) -> Mapping[JobKey, LeasedJob | SeenJob]:
        """Lease those of ``wave`` that may be worked now; tell how the others stand.

        None is leased that asks a parked lane, but one that tries it out when its time is over.
        Idempotent under ``token``: asked again after a lost answer it gives the same leases.
        A job that is missing in the answer does not exist.
        """
        ...

    async def renew(
        self,
        holdings: Mapping[JobKey, str],
        *,
        duration: timedelta,
        progress: Mapping[JobKey, Progress],
    ) -> Mapping[JobKey, LeaseState]:
        """Extend each lease under its token and note progress; what is missing was lost."""
        ...

    async def settle(self, endings: Sequence[Ending]) -> Mapping[JobKey, JobState]:
        """End attempts under their tokens, all in one transaction, and return where the jobs went.

        A wish to cancel turns a retry into ``canceled``. What is missing in the answer was
        not written: the lease was lost. A late write is counted by the store.
        """
        ...

    async def settled_under(self, endings: Sequence[Ending]) -> Mapping[JobKey, JobState]:
        """Tell which of these endings were written (after a settle's lost answer)."""
        ...

    async def take_back(
        self, keys: Collection[JobKey], *, given_up: Delivery | None = None
    ) -> Sequence[Job]:
        """End the leases that have expired and the waiting whose time is over.

        Return those that changed: back to ``retrying`` and due at once, or terminal with their
        dead letter, which tells if they were found by a message that its queue has ``given_up``.
        Safe to repeat, and beside another holder: what lives is not touched.
        """
        ...

    async def fail_hopeless(self, key: JobKey, *, code: str) -> Job | None:
        """Fail a waiting job that nothing could ever work, with its dead letter."""
        ...

    async def request_cancel(self, key: JobKey) -> Job | None:
        """Cancel what waits, note the wish on what runs; None if there is no such live job."""
        ...


class Lanes(Protocol):
    """The store's side of parked lanes. Here a lane is known by its name alone."""

    async def park(
        self, failure: Failure, *, key: JobKey, token: str, policy: RetryPolicy, memory: timedelta
    ) -> Park:
        """Park the lane of a failure that the attempt under ``token`` met there, and return how.

        A lane that is parked already, or was until not longer than ``memory`` ago, stays so for as
        long as was said, unless this attempt was its probe or was told to wait longer. Exactly one
        attempt has ``opened`` the park; safe to repeat.
        """
        ...

    async def enter(self, lane: str, *, key: JobKey, token: str) -> Park | bool:
        """Ask whether the holder of a running job may call in a lane now.

        False: it is open. True: it was parked, and this attempt is to try it out. Else it is told
        how long the lane is closed.
        """
        ...

    async def open(self, lane: str, *, token: str) -> bool:
        """Open the lane that this attempt has tried out; tell whether it did."""
        ...

    async def postpone(self, waits: Mapping[JobKey, timedelta]) -> Collection[JobKey]:
        """Let waiting jobs that are due be due later; return those that were moved."""
        ...


class Runs(Protocol):
    """The store's side of runs on Workflows. What names a token does nothing to a later attempt."""

    async def resume(self, key: JobKey, *, token: str, lease: timedelta) -> LeasedJob | None:
        """Let the attempt that was leased under ``token`` go on; None if it holds the job no more.

        Its lease is extended even if it has expired: the token still stands, so nobody else has it.
        """
        ...

    async def nudge(self, run: SilentRun, *, lease: timedelta, counted: bool = True) -> bool:
        """Give a silent run another lease's time to be heard of."""
        ...

    async def end_silent(
        self, runs: Collection[SilentRun], *, error_class: ErrorClass
    ) -> Sequence[Job]:
        """End silent runs as ``crashed`` or ``stale``; return the jobs, waiting again or ended.

        Stale ones fail; the instances are noted as doomed.
        """
        ...

    async def doomed(self, *, limit: int) -> Sequence[str]:
        """Instances that must not go on, by their ids."""
        ...

    async def forget_doomed(self, instance_ids: Collection[str]) -> None: ...

    async def keep(self, key: JobKey, checkpoint: Checkpoint) -> Checkpoint | None:
        """Write a checkpoint once, and return the one that stands; None if the job has ended."""
        ...

    async def checkpoints(self, key: JobKey) -> Sequence[Checkpoint]:
        """All that the job's steps have brought so far."""
        ...
