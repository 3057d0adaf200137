"""The steps of an attempt: done at once on the queue engine, durable and kept on a Workflow."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final, Protocol

from uketsuke.domain.backoff import RetryPolicy, retry_delay
from uketsuke.domain.failure import (
    GIVEN_BACK,
    AttemptFailed,
    ErrorClass,
    Failure,
    classify,
)
from uketsuke.domain.job import Checkpoint, LeasedJob, Usage
from uketsuke.services.leases import LeaseKeeper
from uketsuke.services.ports import Ports, Steps, Unavailable
from uketsuke.services.tell import tell_unexpected


@dataclass(frozen=True, slots=True, kw_only=True)
class StepValue:
    """What a step brought: a JSON value, and what it used. Nothing was used if it was kept.

    ``lost`` is what tries before it may have used, ``lost_lives`` how many lives of the attempt had
    ended in one. Whoever does the step has counted them; they are kept with it for later lives.
    """

    value: Any
    usage: Usage | None = None
    lost: Usage | None = None
    lost_lives: int = 0

    @property
    def whole_usage(self) -> Usage | None:
        """What the step has used with all of its tries."""
        if self.lost is None or self.usage is None:
            return self.usage or self.lost
        return self.lost.plus(self.usage)


# Does the step's work; the number tells how often the other side has said a definite no before, for
# the idempotency key must move then.
StepWork = Callable[[int], Awaitable[StepValue]]


class StepRunner(Protocol):
    """How an attempt does its steps."""

    async def run(self, step: str, given: object, work: StepWork) -> StepValue:
        """Do ``work`` on what is ``given``, or return what an earlier try of the job has kept."""
        ...


class DirectSteps:
    """One delivery, one try: a step is a call."""

    async def run(self, step: str, given: object, work: StepWork) -> StepValue:
        return await work(0)


def digest_of(given: object) -> str:
    """Name what a step was given."""
    text = json.dumps(given, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


@dataclass(slots=True, kw_only=True)
class DurableSteps:
    """Steps that are kept, so that a retry or a restart pays only for what is missing.

    What a step brought is a checkpoint of the job's; the Workflow engine keeps only that the step
    is done, or how it failed. No step raises: the engine would store the error's whole text. A
    failure that may pass is tried again here, a few times; a long run would else spend its attempts
    on the weather. Whoever is told to slow down leaves, and the job waits in its row.
    """

    leased: LeasedJob
    steps: Steps
    keeper: LeaseKeeper
    ports: Ports
    kept: dict[tuple[str, str], Checkpoint] = field(default_factory=dict)
    # What was paid for and could not be written yet; and all that this life has paid for.
    unkept: dict[tuple[str, str], StepValue] = field(default_factory=dict)
    made: dict[tuple[str, str], StepValue] = field(default_factory=dict)
    # What this life has counted: a step that is asked for twice was paid for once.
    counted: set[tuple[str, str]] = field(default_factory=set)

    async def load(self) -> None:
        """Take in what the job's steps have brought so far. Raises ``Unavailable``."""
        for checkpoint in await self.ports.runs.checkpoints(self.leased.job.key):
            self._note(checkpoint)

    def paid_before(self) -> Usage | None:
        """Return what earlier lives of this attempt have used, and count it no more.

        This life may end before it comes to all of their steps again.
        """
        total: Usage | None = None
        for named, one in self.kept.items():
            if one.attempt == self.leased.attempt and one.usage is not None:
                total = (total or Usage()).plus(one.usage)
                self.counted.add(named)
        return total

    def lost_before(self) -> int:
        """Return how many lives of this attempt may have ended in a call that nobody counted."""
        mine = [one for one in self.kept.values() if one.attempt == self.leased.attempt]
        return max(0, self.leased.lives - 1 - sum(one.lost_lives for one in mine))

    async def run(self, step: str, given: object, work: StepWork) -> StepValue:
        if not 0 < len(step) <= LONGEST_STEP:
            raise ValueError(f"a step's name has 1 to {LONGEST_STEP} characters")
        digest = digest_of(given)
        found = self.kept.get((step, digest))
        if found is not None:
            return await self._read(found)
        refusals, tries = 0, 0
        while True:
            await self._beat()
            outcome = await self.steps.do(step, self._once(step, digest, work, refusals))
            if "failed" not in outcome:
                value = await self._value_of(step, digest)
                if value is not None:
                    return value
                # An earlier life was stopped in it; or its code gave the step something else.
                continue
            failure = _read_failure(outcome)
            if tries >= self.ports.settings.step_retries or not _worth_a_try(failure):
                raise AttemptFailed.of(failure)
            refusals += failure.definite
            tries += 1
            await self.steps.sleep(f"{step} pause", self._pause(tries))

    def _once(
        self, step: str, digest: str, work: StepWork, refusals: int
    ) -> Callable[[], Awaitable[Mapping[str, object]]]:
        async def body() -> Mapping[str, object]:
            try:
                done = self.unkept.get((step, digest)) or await work(refusals)
                self.unkept[step, digest] = self.made[step, digest] = done
                await self._keep(step, digest, done)
                del self.unkept[step, digest]
            except Exception as error:  # becomes data: what a step raises, the engine stores whole
                return _write_failure(self._classified(error))
            return {"done": True}

        return body

    async def _beat(self) -> None:
        """Show the progress, and stop here if the lease is gone or somebody wishes it."""
        await self.keeper.beat()
        await asyncio.sleep(0)  # the keeper stops the work by canceling it

    def _pause(self, tries: int) -> timedelta:
        settings = self.ports.settings
        policy = RetryPolicy(base=settings.retry_base, cap=settings.retry_cap)
        return retry_delay(policy, attempt=tries, draw=self.ports.dice.draw())

    def _classified(self, error: Exception) -> Failure:
        if isinstance(error, Unavailable):
            return Failure(error_class=ErrorClass.UNAVAILABLE, code="storage_unavailable")
        failure = classify(error)
        if failure.error_class is ErrorClass.UNKNOWN:
            tell_unexpected(self.leased, error)
        return failure

    async def _keep(self, step: str, digest: str, done: StepValue) -> None:
        """Write what was paid for, and try long: it would be paid for again."""
        content, object_key = json.dumps(done.value, ensure_ascii=False), None
        job = self.leased.job
        if len(content.encode()) > _INLINE_BYTES:
            object_key = f"{job.tenant_id}/{job.id}/step-{self.ports.dice.entropy(16).hex()}"
        checkpoint = Checkpoint(
            step=step,
            digest=digest,
            attempt=self.leased.attempt,
            content=None if object_key else content,
            object_key=object_key,
            usage=done.whole_usage,
            lost_lives=done.lost_lives,
        )
        for pause in _PAUSES:
            try:
                await self._write(checkpoint, content)
            except Unavailable:
                await asyncio.sleep(pause)
            else:
                return
        await self._write(checkpoint, content)

    async def _write(self, checkpoint: Checkpoint, content: str) -> None:
        if checkpoint.object_key:
            await self.ports.blobs.put(
                checkpoint.object_key, content.encode(), content_type="application/json"
            )
        stands = await self.ports.runs.keep(self.leased.job.key, checkpoint)
        # The job may have ended under us: then the keeper stops the work, and nobody reads this.
        self._note(stands or checkpoint)

    def _note(self, checkpoint: Checkpoint) -> None:
        self.kept[checkpoint.step, checkpoint.digest] = checkpoint

    async def _value_of(self, step: str, digest: str) -> StepValue | None:
        """Read what the engine says is done; an earlier life of this instance may have kept it.

        None if nothing was kept: then it must be done anew.
        """
        if (step, digest) not in self.kept:
            try:
                await self.load()
            except Unavailable:
                raise AttemptFailed(ErrorClass.UNAVAILABLE, "storage_unavailable") from None
        found = self.kept.get((step, digest))
        return None if found is None else await self._read(found)

    async def _read(self, checkpoint: Checkpoint) -> StepValue:
        content = checkpoint.content
        if content is None:
            content = await self._fetch(checkpoint.object_key or "")
        return StepValue(value=json.loads(content), usage=self._count(checkpoint))

    def _count(self, checkpoint: Checkpoint) -> Usage | None:
        """Return what a kept step counts as here, once.

        What an earlier attempt has paid for is in its own account; but it may have kept a step only
        after this life had paid for the same.
        """
        named = (checkpoint.step, checkpoint.digest)
        if named in self.counted:
            return None
        self.counted.add(named)
        if named in self.made:
            return self.made[named].usage
        return checkpoint.usage if checkpoint.attempt == self.leased.attempt else None

    async def _fetch(self, object_key: str) -> str:
        content = None
        for pause in _PAUSES:
            try:
                content = await self.ports.blobs.get(object_key)
                break
            except Unavailable:
                await asyncio.sleep(pause)
        if content is None:
            raise AttemptFailed(ErrorClass.UNAVAILABLE, "storage_unavailable")
        return content.decode()


# The engine takes 256, and cuts nothing off by itself; a pause adds a word to the name.
LONGEST_STEP: Final = 200
# A row of D1 may have 2 MB; what is larger than this is rare, and an object.
_INLINE_BYTES: Final = 65_536
_PAUSES: Final[Sequence[float]] = (0.5, 2, 5, 10)


def _worth_a_try(failure: Failure) -> bool:
    """A definite wait is the row's to keep, not a step's."""
    return (
        failure.retryable and failure.error_class not in GIVEN_BACK and failure.retry_after is None
    )


def _write_failure(failure: Failure) -> Mapping[str, object]:
    after = failure.retry_after
    return {
        "failed": failure.error_class.value,
        "code": failure.code,
        "retry_after": None if after is None else after.total_seconds(),
        "lane": failure.lane,
    }


def _read_failure(outcome: Mapping[str, object]) -> Failure:
    seconds, lane = outcome.get("retry_after"), outcome.get("lane")
    return Failure(
        error_class=ErrorClass(str(outcome["failed"])),
        code=str(outcome["code"]),
        retry_after=timedelta(seconds=seconds) if isinstance(seconds, int | float) else None,
        lane=lane if isinstance(lane, str) else None,
    )
