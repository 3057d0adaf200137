"""Fakes of the ports for tests of the HTTP layer.

The stores are scripted: a test puts in what they hold, or what they answer. How the real ones
guard their writes is the contract suite's matter.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from tests.unit.http.factories import job_from
from uketsuke.domain.api_key import StoredKey
from uketsuke.domain.job import Attempt, Job, JobKey, NewJob, Upload
from uketsuke.domain.lifecycle import JobState
from uketsuke.services.ports import (
    AcceptedNew,
    Admission,
    InputVanished,
    JobFilter,
    JobPage,
    KnownKey,
    RunInProgress,
    StateCount,
    StoredStream,
    TooLarge,
    Unavailable,
)

NOW = datetime(2026, 11, 29, 12, 0, 0, tzinfo=UTC)


def out_of_reach() -> Unavailable:
    return Unavailable("the database did not answer")


class FakeClock:
    def __init__(self) -> None:
        self.seconds = 0.0

    def now(self) -> datetime:
        return NOW + timedelta(seconds=self.seconds)

    def monotonic(self) -> float:
        return self.seconds


class FakeDice:
    """Never the same twice, always the same in each test."""

    def __init__(self) -> None:
        self.throws = 0

    def draw(self) -> float:
        return 0.5

    def entropy(self, count: int) -> bytes:
        self.throws += 1
        return self.throws.to_bytes(count, "big")


class FakeJobs:
    """Jobs in a dict; ``broken`` is raised by whatever is asked."""

    def __init__(self) -> None:
        self.jobs: dict[str, Job] = {}
        self.by_request: dict[tuple[str, str], KnownKey] = {}
        self.attempts: list[Attempt] = []
        self.results: dict[tuple[JobKey, int], str] = {}
        self.accepted: list[NewJob] = []
        self.uploads_vanish = False
        self.broken: Exception | None = None
        self.hangs = False

    async def accept(self, new: NewJob) -> Admission:
        await self._trouble()
        known = self.by_request.get((new.key.tenant_id, new.request_key))
        if known:
            return known
        live = [job for job in self.jobs.values() if job.run_key and not job.terminal]
        for job in live:
            if (job.tenant_id, job.run_key) == (new.key.tenant_id, new.run_key):
                return RunInProgress(job=job)
        if self.uploads_vanish:
            return InputVanished()
        self.accepted.append(new)
        job = self.jobs[new.key.job_id] = job_from(new, at=NOW)
        if new.fingerprint is not None:
            known = KnownKey(job=job, fingerprint=new.fingerprint)
            self.by_request[new.key.tenant_id, new.request_key] = known
        return AcceptedNew(job=job)

    async def find(self, job_id: str, *, tenant_id: str | None) -> Job | None:
        await self._trouble()
        job = self.jobs.get(job_id)
        return job if job and tenant_id in {None, job.tenant_id} else None

    async def find_by_request(self, *, tenant_id: str, request_key: str) -> KnownKey | None:
        await self._trouble()
        return self.by_request.get((tenant_id, request_key))

    async def attempts_of(self, key: JobKey) -> Sequence[Attempt]:
        await self._trouble()
        return self.attempts

    async def result_text(self, key: JobKey, *, attempt: int) -> str | None:
        await self._trouble()
        return self.results.get((key, attempt))

    async def request_cancel(self, key: JobKey) -> Job | None:
        await self._trouble()
        job = self.jobs[key.job_id]
        if job.terminal:
            return None
        if job.state is JobState.RUNNING:
            job = replace(job, cancel_requested_at=NOW)
        else:
            job = replace(job, state=JobState.CANCELED, finished_at=NOW)
        self.jobs[job.id] = job
        return job

    async def _trouble(self) -> None:
        if self.hangs:
            await asyncio.Event().wait()
        if self.broken:
            raise self.broken


class FakeListing:
    """One page and some counts, whatever is asked; it notes what was."""

    def __init__(self) -> None:
        self.answer = JobPage(jobs=(), cursor=None)
        self.asked: list[tuple[JobFilter, str | None, str | None, int]] = []
        self.counted: Sequence[StateCount] = ()
        self.asked_to_count: list[tuple[JobFilter, str | None]] = []

    async def page(
        self, wanted: JobFilter, *, tenant_id: str | None, before: str | None, limit: int
    ) -> JobPage:
        self.asked.append((wanted, tenant_id, before, limit))
        return self.answer

    async def counts(self, wanted: JobFilter, *, tenant_id: str | None) -> Sequence[StateCount]:
        self.asked_to_count.append((wanted, tenant_id))
        return self.counted


class FakeInputs:
    def __init__(self) -> None:
        self.uploads: dict[str, Upload] = {}
        self.jobs: dict[str, Job] = {}
        self.asked: list[tuple[str, ...]] = []

    async def record(self, upload: Upload, *, keep: timedelta) -> Upload:
        self.uploads[upload.ref] = upload
        return upload

    async def find(self, refs: Sequence[str], *, tenant_id: str) -> Mapping[str, Upload]:
        self.asked.append(tuple(refs))
        mine = {ref: self.uploads[ref] for ref in refs if ref in self.uploads}
        return {ref: upload for ref, upload in mine.items() if upload.tenant_id == tenant_id}

    async def find_jobs(self, job_ids: Sequence[str], *, tenant_id: str) -> Mapping[str, Job]:
        mine = {job_id: self.jobs[job_id] for job_id in job_ids if job_id in self.jobs}
        return {job_id: job for job_id, job in mine.items() if job.tenant_id == tenant_id}


class FakeBlobs:
    def __init__(self) -> None:
        self.streams: dict[str, object] = {}
        self.objects: dict[str, bytes] = {}
        self.read: list[tuple[int, int]] = []
        self.stored: list[tuple[str, bytes]] = []

    async def put(self, key: str, content: bytes, *, content_type: str) -> None:
        self.stored.append((key, content))

    async def put_stream(
        self, key: str, stream: object, *, limit: int, content_type: str
    ) -> StoredStream:
        assert isinstance(stream, bytes)
        if len(stream) > limit:
            raise TooLarge
        self.stored.append((key, stream))
        return StoredStream(bytes=len(stream), sha256="5" * 64)

    async def part(self, key: str, *, offset: int, length: int) -> bytes | None:
        self.read.append((offset, length))
        content = self.objects.get(key)
        return None if content is None else content[offset : offset + length]

    async def names(self, prefix: str) -> Sequence[str]:
        return [key for key in self.objects if key.startswith(prefix)]

    async def stream(self, key: str, *, offset: int = 0) -> object | None:
        content = self.objects.get(key)
        return self.streams.get(key) if content is None else content[offset:]


class FakeQueue:
    def __init__(self) -> None:
        self.sent: list[Mapping[str, object]] = []

    async def send(self, body: Mapping[str, object], *, delay: timedelta = timedelta()) -> None:
        self.sent.append(body)


class FakeKeys:
    def __init__(self) -> None:
        self.keys: dict[str, StoredKey] = {}
        self.asked: list[str] = []

    async def find(self, key_id: str) -> StoredKey | None:
        self.asked.append(key_id)
        return self.keys.get(key_id)


class BytesBody:
    """A body that is there already; notes whether anybody took it."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self.taken = False

    @property
    def stream(self) -> object:
        self.taken = True
        return self._content

    async def read(self, limit: int) -> bytes:
        self.taken = True
        if len(self._content) > limit:
            raise TooLarge
        return self._content
