"""What the services need of the world. Adapters implement these; tests of pure logic use fakes.

Every port may raise ``Unavailable`` when its other side could not be reached or did not answer;
for a write this leaves open whether it happened.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from types import MappingProxyType
from typing import Final, Protocol

from uketsuke.domain.api_key import StoredKey
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
    Upload,
)
from uketsuke.domain.lane import Park
from uketsuke.domain.lifecycle import JobState
from uketsuke.services.cost_ports import Costs
from uketsuke.services.schedule_ports import Occurrences, Schedules
from uketsuke.settings import Settings


class Unavailable(Exception):
    """A service of the platform did not answer, or answered that it cannot now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """One hand-over of a message by a queue; ``number`` counts the message's from 1."""

    id: str
    queue: str
    number: int
    body: object


class TooLarge(Exception):
    """A body was longer than allowed. Nothing of it is kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptedNew:
    """The job is durable. ``outlived`` held its run key beyond its limit, and was failed for it."""

    job: Job
    outlived: Sequence[Job] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownKey:
    """The idempotency key is taken: this job was made under it, with this fingerprint."""

    job: Job
    fingerprint: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunInProgress:
    """The run key is held by this live job."""

    job: Job


@dataclass(frozen=True, slots=True, kw_only=True)
class InputVanished:
    """An upload that the submission names is not there any more."""


Admission = AcceptedNew | KnownKey | RunInProgress | InputVanished


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaseState:
    """What a renewal found: the lease as it now stands, and why the holder may have to stop."""

    ends_in: timedelta
    cancel_requested: bool
    overdue: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Woken:
    """What one page of the sweep did. ``cursor`` is where the next page begins; None at the end."""

    to_send: Sequence[Job]
    ended: Sequence[Job]
    silent: Sequence[SilentRun]
    cursor: tuple[int, str, str] | None


# Which lanes each kind of job asks, by the kind's name.
LanesOfKinds = Mapping[str, Collection[str]]
NO_LANES: Final[LanesOfKinds] = MappingProxyType({})


class Jobs(Protocol):
    """The one store of jobs. Each method is one guarded statement or one transaction."""

    async def accept(self, new: NewJob) -> Admission: ...

    async def find(self, job_id: str, *, tenant_id: str | None) -> Job | None:
        """``tenant_id`` None is an operator's: the job of any tenant."""
        ...

    async def find_by_request(self, *, tenant_id: str, request_key: str) -> KnownKey | None: ...

    async def attempts_of(self, key: JobKey) -> Sequence[Attempt]: ...

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

    async def take_back(self, keys: Collection[JobKey]) -> Sequence[Job]:
        """End the leases that have expired and the waiting whose time is over.

        Return those that changed: back to ``retrying`` and due at once, or terminal with their
        dead letter. Safe to repeat, and beside another holder: what lives is not touched.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class JobFilter:
    """Which jobs a list is about; None is any."""

    state: str | None = None
    kind: str | None = None
    run_key: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class JobPage:
    """Some jobs, newest first, and where the next page begins; None at the end."""

    jobs: Sequence[Job]
    cursor: str | None


class Listing(Protocol):
    """Lists of jobs."""

    async def page(
        self, wanted: JobFilter, *, tenant_id: str | None, before: str | None, limit: int
    ) -> JobPage:
        """Return fitting jobs older than the id ``before``; ``tenant_id`` None is all tenants'.

        Reads a bounded number of rows: the page may be short and still have a next one.
        """
        ...


class Sweeping(Protocol):
    """The store's side of the sweep."""

    async def claim_duty(self, name: str, *, token: str, lease: timedelta) -> bool:
        """Take the duty unless another sweep holds it; the claim expires by itself."""
        ...

    async def finish_duty(self, name: str, *, token: str) -> None: ...

    async def wake_page(
        self, after: tuple[int, str, str] | None, *, limit: int, first_grace: timedelta
    ) -> Woken:
        """Look at a page of the jobs whose wake-up time has passed, and move that time on.

        Expired leases are taken back, jobs past their deadline end, and what waits and is due is
        returned to be sent again. What runs on a Workflow and is silent comes back as it is.
        """
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Expired:
    """Something whose time is over. ``objects`` are its objects' keys, ``prefix`` hides more."""

    key: JobKey
    objects: tuple[str, ...]
    prefix: str | None


class Purging(Protocol):
    """The store's side of the purge: first the objects go, then the rows that name them."""

    async def expired_jobs(
        self, *, older_than: datetime, after: str, limit: int
    ) -> Sequence[Expired]:
        """Return ended jobs past their retention, oldest first, after the id ``after``."""
        ...

    async def delete_jobs(self, keys: Collection[JobKey]) -> int:
        """Delete them with their submissions and attempts, if they are still past it."""
        ...

    async def expired_inputs(self, *, limit: int) -> Sequence[Expired]: ...

    async def delete_inputs(self, keys: Collection[JobKey]) -> int:
        """Delete uploads' rows, if they are still past their time."""
        ...


class DeadLetters(Protocol):
    """The record of what ended badly. A job's own is written with its end; these have no job."""

    async def bury_message(self, delivery: Delivery, *, code: str, version: int | None) -> None:
        """Record a message that cannot be read, once however often it comes."""
        ...

    async def bury_unknown_job(self, key: JobKey, delivery: Delivery) -> None:
        """Record a message whose job does not exist, once however often it comes."""
        ...


class InstanceState(StrEnum):
    """What the platform says of a Workflow instance, as far as it matters."""

    ABSENT = "absent"
    QUEUED = "queued"  # it starts, or goes on, when the platform or a person lets it
    LIVE = "live"  # running, waiting
    COMPLETE = "complete"
    BROKEN = "broken"  # errored, terminated, or of a state that we do not know


class Workflows(Protocol):
    """The Workflow that runs long jobs, by its instances' ids."""

    async def create(self, instance_id: str, order: Mapping[str, object]) -> bool:
        """Start an instance; False if there is one of that name already."""
        ...

    async def state(self, instance_id: str) -> InstanceState: ...

    async def wake(self, instance_id: str) -> None:
        """Make an instance that sleeps in a dead engine go on; does no harm to a healthy one."""
        ...

    async def terminate(self, instance_id: str) -> None:
        """Stop it at once; one that is over, or was never there, is left alone."""
        ...


class Steps(Protocol):
    """The durable steps of one Workflow instance: what one has returned is never done again."""

    async def do(
        self, name: str, work: Callable[[], Awaitable[Mapping[str, object]]]
    ) -> Mapping[str, object]:
        """Do a step that returns a small JSON object and does not raise.

        If the caller is canceled, so is the work; the engine may then keep ``{"stopped": true}``
        as what the step returned.
        """
        ...

    async def sleep(self, name: str, duration: timedelta) -> None: ...


class KeyStore(Protocol):
    """API keys by their public id."""

    async def find(self, key_id: str) -> StoredKey | None: ...


class Inputs(Protocol):
    """What a job may name as its input: uploads, and what other jobs have brought."""

    async def record(self, upload: Upload, *, keep: timedelta) -> Upload: ...

    async def find(self, refs: Sequence[str], *, tenant_id: str) -> Mapping[str, Upload]: ...

    async def find_jobs(self, job_ids: Sequence[str], *, tenant_id: str) -> Mapping[str, Job]:
        """Return jobs that are live, or ended and still kept."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredStream:
    """What was stored of a streamed body."""

    bytes: int
    sha256: str


class Blobs(Protocol):
    """Objects too large for a row."""

    async def put(self, key: str, content: bytes, *, content_type: str) -> None: ...

    async def put_stream(
        self, key: str, stream: object, *, limit: int, content_type: str
    ) -> StoredStream:
        """Store a body of the HTTP layer's without holding it in memory. Raises ``TooLarge``."""
        ...

    async def get(self, key: str) -> bytes | None: ...

    async def part(self, key: str, *, offset: int, length: int) -> bytes | None:
        """At most ``length`` bytes from ``offset`` on, which lies within the object."""
        ...

    async def stream(self, key: str, *, offset: int = 0) -> object | None:
        """A body that the HTTP layer can send as it comes, from ``offset`` on."""
        ...

    async def names(self, prefix: str) -> Sequence[str]:
        """The keys under a prefix; at most a page of them."""
        ...

    async def delete(self, keys: Collection[str]) -> None: ...


class JobQueue(Protocol):
    """Where messages go: hints that a job wants to be looked at."""

    async def send(self, body: Mapping[str, object], *, delay: timedelta = timedelta()) -> None: ...

    async def send_many(self, bodies: Sequence[Mapping[str, object]]) -> None: ...

    async def backlog(self) -> int | None:
        """How many messages wait, where the platform tells."""
        ...


# Sixty-four vectors of 4,096 numbers are 6 MB of JSON.
MOST_ANSWER_BYTES: Final = 8_388_608


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpAnswer:
    """What came back; header names are lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamedBody:
    """A request's body whose middle is an object's stream, of ``middle_bytes`` bytes."""

    head: bytes
    middle: object
    middle_bytes: int
    tail: bytes

    @property
    def length(self) -> int:
        return len(self.head) + self.middle_bytes + len(self.tail)


class HttpClient(Protocol):
    """Outgoing HTTP."""

    async def post(
        self, url: str, *, headers: Mapping[str, str], body: bytes, timeout: timedelta
    ) -> HttpAnswer:
        """Raises ``TimeoutError``, and ``Unavailable`` if the connection failed.

        Raises ``TooLarge`` for an answer beyond ``MOST_ANSWER_BYTES``: it would be held in memory,
        and again in pieces while it is read.
        """
        ...

    async def post_stream(
        self, url: str, *, headers: Mapping[str, str], body: StreamedBody, timeout: timedelta
    ) -> HttpAnswer:
        """Send what ``Blobs.stream`` gave, without holding it in memory; else as ``post``.

        The stream is used up, or hung up on, whatever happens.
        """
        ...


class Clock(Protocol):
    """A Worker's own idea of the time; never used to judge a lease."""

    def now(self) -> datetime: ...

    def monotonic(self) -> float: ...


class Dice(Protocol):
    """Randomness."""

    def draw(self) -> float: ...

    def entropy(self, count: int) -> bytes: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Ports:
    """The world of one event: every service takes it whole and uses what it needs."""

    settings: Settings
    jobs: Jobs
    listing: Listing
    sweeping: Sweeping
    purging: Purging
    runs: Runs
    lanes: Lanes
    costs: Costs
    inputs: Inputs
    schedules: Schedules
    occurrences: Occurrences
    dead_letters: DeadLetters
    keys: KeyStore
    blobs: Blobs
    queue: JobQueue
    workflows: Workflows
    clock: Clock
    dice: Dice
