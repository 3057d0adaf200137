"""What else the services need of the store: lists, keys, uploads, the sweep, the purge."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from uketsuke.domain.api_key import StoredKey
from uketsuke.domain.job import (
    Job,
    JobKey,
    SilentRun,
    Upload,
)
from uketsuke.domain.lifecycle import JobState


@dataclass(frozen=True, slots=True, kw_only=True)
class JobFilter:
    """Which jobs a list is about; None is any. Times are from ``after`` on, until ``before``.

    A job that a schedule started was created, as this goes, when it was due. ``due`` is of those
    that wait: whether their time has come, by the database's clock.
    """

    state: str | None = None
    kind: str | None = None
    run_key: str | None = None
    created_after: datetime | None = None
    created_before: datetime | None = None
    finished_after: datetime | None = None
    finished_before: datetime | None = None
    due: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class JobPage:
    """Some jobs, newest first, and where the next page begins; None at the end."""

    jobs: Sequence[Job]
    cursor: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StateCount:
    """How many jobs of a state were seen. ``capped``: not all were looked at, so there may be more.

    Those that were seen are there, so it is never less.
    """

    state: JobState
    count: int
    capped: bool


class Listing(Protocol):
    """Lists of jobs, and how many there are."""

    async def page(
        self, wanted: JobFilter, *, tenant_id: str | None, before: str | None, limit: int
    ) -> JobPage:
        """Return fitting jobs older than the id ``before``; ``tenant_id`` None is all tenants'.

        Reads a bounded number of rows: the page may be short and still have a next one.
        """
        ...

    async def counts(self, wanted: JobFilter, *, tenant_id: str | None) -> Sequence[StateCount]:
        """Count fitting jobs of every state, whatever state is wanted, in the lifecycle's order.

        Reads a bounded number of rows, in one call.
        """
        ...


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
class Woken:
    """What one page of the sweep did. ``cursor`` is where the next page begins; None at the end.

    ``taken_back`` are those of ``to_send`` that lost a holder just now.
    """

    to_send: Sequence[Job]
    ended: Sequence[Job]
    silent: Sequence[SilentRun]
    cursor: tuple[int, str, str] | None
    taken_back: Sequence[Job] = ()


class Sweeping(Protocol):
    """The store's side of the sweep."""

    async def claim_duty(self, name: str, *, token: str, lease: timedelta) -> bool:
        """Take the duty unless another sweep holds it; the claim expires by itself."""
        ...

    async def finish_duty(self, name: str, *, token: str, done: bool) -> None:
        """Let go of the duty. One that failed was not ``done``: its lag grows."""
        ...

    async def silent_for(self) -> timedelta | None:
        """Return how long ago any duty was done; None if none ever was."""
        ...

    async def wake_page(
        self, after: tuple[int, str, str] | None, *, limit: int, first_grace: timedelta
    ) -> Woken:
        """Look at a page of the jobs whose wake-up time has passed, and move that time on.

        Expired leases are taken back, jobs past their deadline end, and what waits and is due is
        returned to be sent again. What runs on a Workflow and is silent comes back as it is.
        """
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

    async def delete_letters(self, *, keep: timedelta, limit: int) -> int:
        """Delete dead letters that were resolved longer ago than that; open ones stay."""
        ...
