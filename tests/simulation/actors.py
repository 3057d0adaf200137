"""Who does something in a history: callers, Workers, and the cron."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta

import msgspec

from tests.simulation.isolate import Ended, Isolate
from tests.simulation.kind import BOOK, SIMULATED, BookParams, chapter_of
from tests.simulation.planner import planner_of
from tests.simulation.provider import SECRET, ProviderClient
from tests.simulation.trace import name_of
from tests.simulation.workflows import Instance, LifeSteps
from tests.simulation.world import World
from uketsuke.domain.job import EncodedResult, InputForm, Job, JobKey
from uketsuke.domain.lane import ProviderName
from uketsuke.domain.lifecycle import Engine
from uketsuke.kinds.kind import lanes_of
from uketsuke.providers.openai_compatible import OpenAICompatible
from uketsuke.providers.work import run_kind
from uketsuke.services.cancel import AlreadyFinished, cancel
from uketsuke.services.consume import consume
from uketsuke.services.execute import Attempt, Worker
from uketsuke.services.knock import Verdict
from uketsuke.services.ports import (
    AcceptedNew,
    Admission,
    Delivery,
    InputVanished,
    KnownKey,
    Ports,
    RunInProgress,
    Unavailable,
)
from uketsuke.services.revive import revive_all
from uketsuke.services.run import RunFailed, read_order, run_instance
from uketsuke.services.submit import Submission, submit
from uketsuke.services.sweep import sweep
from uketsuke.services.upload import upload


def worker_in(isolate: Isolate, world: World, ports: Ports) -> Worker:
    """Return what works an attempt in this isolate, with a provider of its own."""
    client = ProviderClient(world.provider, isolate, world.job_key, world.ledger.note_call)
    talking = OpenAICompatible(
        http=client,
        blobs=ports.blobs,
        clock=ports.clock,
        base_url="http://provider/v1",
        api_key="k",
    )
    providers = {ProviderName.OPENAI_COMPATIBLE: talking}

    async def work(attempt: Attempt) -> Mapping[str, object] | EncodedResult:
        key, token = attempt.leased.job.key, attempt.leased.token
        isolate.working[key] = token
        isolate.started.add(token)
        world.ledger.note_start(key, isolate)
        try:
            return await run_kind(attempt, kinds=SIMULATED, providers=providers, ports=ports)
        finally:
            del isolate.working[key]

    return work


@dataclass(slots=True)
class Consumers:
    """The consumer Worker's events: batches of the queue and of the dead-letter queue."""

    world: World

    async def handle(self, deliveries: Sequence[Delivery]) -> Mapping[str, Verdict] | None:
        world = self.world
        isolate = world.isolate("consumer")
        ports = world.ports(isolate)
        work = worker_in(isolate, world, ports)
        lanes = lanes_of(SIMULATED, ports.settings)
        ended = await world.run(
            isolate,
            consume(deliveries, work, kinds=frozenset(SIMULATED), lanes=lanes, ports=ports),
        )
        if ended.error is not None:
            world.trace.breach("consume-is-total", repr(ended.error))
        if ended.value is not None:
            missing = [d.id for d in deliveries if d.id not in ended.value]
            world.trace.require(not missing, "consume-is-total", str(missing))
        return ended.value

    async def handle_dead(self, deliveries: Sequence[Delivery]) -> Mapping[str, Verdict] | None:
        world = self.world
        isolate = world.isolate("dlq-consumer")
        ports = world.ports(isolate)
        ended = await world.run(isolate, revive_all(deliveries, open_ports=lambda: ports))
        if ended.error is not None:
            world.trace.breach("revive-is-total", repr(ended.error))
        return ended.value


@dataclass(slots=True)
class Runs:
    """The lives of Workflow instances, each in an isolate of its own."""

    world: World

    async def live(self, instance: Instance, isolate: Isolate) -> Ended[str]:
        world = self.world
        ports = world.ports(isolate)
        steps = LifeSteps(world.workflows, instance, isolate)
        work = worker_in(isolate, world, ports)
        life = run_instance(read_order(instance.order), work, steps=steps, ports=ports)
        ended = await world.run(isolate, life, wall=None)
        if ended.error is not None:
            told = isinstance(ended.error, RunFailed | Unavailable)
            world.trace.require(told, "runs-end-as-told", repr(ended.error))
            world.trace.count(f"run raised {type(ended.error).__name__}")
        return ended


@dataclass(slots=True)
class Cron:
    """Ticks each minute, more or less; ticks may overlap, be left out, or come twice."""

    world: World

    async def tick_forever(self) -> None:
        world, profile = self.world, self.world.profile
        while not world.cron_stopped:
            await asyncio.sleep(profile.settings.sweep_every.total_seconds())
            if not world.calm and world.rng.random() < profile.sweep_skip:
                continue
            twice = not world.calm and world.rng.random() < profile.sweep_twice
            for _ in range(1 + twice):
                world.spawn(self._tick())

    async def _tick(self) -> None:
        world = self.world
        isolate = world.isolate("sweep")
        # Where nobody asks for a bulk redrive, its duty would find nothing each minute.
        planner = planner_of(world) if world.profile.bulks else None
        ended = await world.run(isolate, sweep(world.ports(isolate), planner=planner))
        if ended.error is not None:
            world.trace.breach("sweep-is-total", repr(ended.error))


@dataclass(slots=True)
class Callers:
    """People who submit, repeat what got no answer, and change their minds."""

    world: World
    promised: set[JobKey] = field(default_factory=set)  # a 202 was sent
    by_key: dict[str, JobKey] = field(default_factory=dict)  # idempotency key to its job
    left: int = 0

    def start(self) -> None:
        for number in range(self.world.profile.jobs):
            self.left += 1
            self.world.spawn(self._live(number))

    async def _live(self, number: int) -> None:
        rng = self.world.rng
        await asyncio.sleep(rng.uniform(0, self.world.profile.heals_at * 0.6))
        submission = self._submission(number)
        if rng.random() < self.world.profile.uploads:
            submission = await self._uploaded(submission)
        for _ in range(rng.randint(1, 3)):
            job = await self._submit(submission)
            if job is not None:
                await self._perhaps_cancel(job)
                break
            await asyncio.sleep(rng.uniform(0.5, 20))
        self.left -= 1

    def _submission(self, number: int) -> Submission:
        rng = self.world.rng
        shared = rng.random() < 0.3
        text = f"{SECRET} number {0 if shared else number}."
        submission = self._plain(text, number, shared=shared)
        if rng.random() < self.world.profile.runs:
            submission = self._as_run(submission)
        if not shared and rng.random() < self.world.profile.poison:
            self.world.provider.poison.add(_a_part_of(submission, rng))
        return submission

    async def _uploaded(self, submission: Submission) -> Submission:
        """Upload the input ahead, if that gets an answer."""
        world = self.world
        isolate = world.isolate("api")
        assert isinstance(submission.content, str)
        content = submission.content.encode()
        storing = upload(
            content,
            tenant_id=submission.tenant_id,
            content_type="text/plain",
            length=len(content),
            ports=world.ports(isolate),
        )
        ended = await world.run(isolate, storing, wall=60.0)
        if ended.value is None:
            return submission
        ref = ended.value.ref
        world.trace.count("input uploaded")
        return replace(submission, form=InputForm.REF, content=None, refs=(ref,))

    def _as_run(self, submission: Submission) -> Submission:
        rng = self.world.rng
        # A long answer is kept in an object, not in the checkpoint's row.
        padding = rng.choice((0, 0, 0, 0, 0, 0, 70_000))
        return replace(
            submission,
            kind=BOOK.name,
            engine=Engine.WORKFLOW,
            params={"chapters": 2 if padding else rng.randint(3, 6), "padding": padding},
            run_limit=timedelta(seconds=rng.choice((30, 90, 400, 3600))),
        )

    def _plain(self, text: str, number: int, *, shared: bool) -> Submission:
        rng = self.world.rng
        key = "key-shared" if shared else rng.choice((None, f"key-{number}"))
        run_key = rng.choice((None, None, "nightly"))
        return Submission(
            tenant_id="acme",
            kind="summarize",
            engine=Engine.QUEUE,
            form=InputForm.TEXT,
            content=text,
            refs=(),
            input_bytes=len(text),
            params={},
            run_key=run_key,
            max_attempts=rng.choice((1, 2, 3, 5, 20)),
            deadline=timedelta(seconds=rng.choice((5, 60, 300, 900, 3600))),
            metadata={"about": text},
            idempotency_key=key,
            document={"input": text},
            traceparent=None,
            run_limit=self.world.profile.settings.attempt_limit,
        )

    async def _submit(self, submission: Submission) -> Job | None:
        """Submit once and return the job that was answered."""
        world = self.world
        isolate = world.isolate("api")
        ended = await world.run(isolate, submit(submission, ports=world.ports(isolate)))
        if ended.error is not None and not isinstance(ended.error, Unavailable):
            world.trace.breach("submit-answers", repr(ended.error))
        return self._answered(ended.value, submission) if ended.value is not None else None

    def _answered(self, admission: Admission, submission: Submission) -> Job | None:
        trace = self.world.trace
        match admission:
            case AcceptedNew(job=job) | KnownKey(job=job):
                trace.note(f"a caller got {name_of(job.id)}, {type(admission).__name__}")
                trace.count(f"admission:{type(admission).__name__}")
                self._promise(job, submission)
                return job
            case RunInProgress():
                trace.count("admission:RunInProgress")
                return None
            case InputVanished() if submission.refs:
                trace.count("admission:InputVanished")
                return None
            case _:
                trace.breach("submit-answers", repr(admission))
                return None

    def _promise(self, job: Job, submission: Submission) -> None:
        trace = self.world.trace
        trace.require(job.key in self.world.ledger.rows, "accepted-means-durable", job.id)
        self.promised.add(job.key)
        key = submission.idempotency_key
        if key is not None:
            first = self.by_key.setdefault(key, job.key)
            trace.require(first == job.key, "one-job-an-idempotency-key", f"{first} {job.key}")

    async def _perhaps_cancel(self, job: Job) -> None:
        world, rng = self.world, self.world.rng
        if rng.random() >= world.profile.cancel:
            return
        await asyncio.sleep(rng.choice((0.01, 1, 5, 30, 100)) * rng.random())
        isolate = world.isolate("canceler")
        ended = await world.run(isolate, cancel(job, ports=world.ports(isolate)))
        if ended.error is not None and not isinstance(ended.error, Unavailable | AlreadyFinished):
            world.trace.breach("cancel-answers", repr(ended.error))


def _a_part_of(submission: Submission, rng: random.Random) -> str:
    """Choose what of a job the provider will be asked, if it comes to that."""
    assert isinstance(submission.content, str)
    if submission.kind != BOOK.name:
        return submission.content
    asked = msgspec.convert(submission.params, BookParams)
    number = rng.randint(1, asked.chapters)
    return chapter_of(submission.content, number, padding=asked.padding)
