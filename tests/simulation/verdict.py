"""What must be true of a history once its world has been healthy long enough."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Sequence

from tests.simulation.actors import Callers
from tests.simulation.costs import judge_costs
from tests.simulation.figures import judge_figures
from tests.simulation.isolate import Isolate
from tests.simulation.kind import expected_of
from tests.simulation.planner import planner_of
from tests.simulation.rows import JobRow
from tests.simulation.trace import name_of
from tests.simulation.world import World
from uketsuke.domain.job import Job, JobKey
from uketsuke.domain.lifecycle import TERMINAL
from uketsuke.services.doctor import examine
from uketsuke.services.inspect import events_of, result_of
from uketsuke.services.ports import InstanceState, Ports
from uketsuke.services.sweep import sweep


def last_moment_ms(world: World, row: JobRow, *, healed_at_ms: int) -> int:
    """Return when the job must have ended: its deadline, one lease and two sweeps.

    A sweep that died holds its duty until that lease ends, so health begins only then.
    """
    settings = world.profile.settings
    grace = settings.lease + 2 * settings.sweep_every
    start = max(row.deadline_at, healed_at_ms)
    return start + int(grace.total_seconds() * 1000) + 1000


async def judge(world: World, callers: Callers, *, healed_at_ms: int) -> None:
    """Hold the end of a history against the invariants."""
    isolate = Isolate(name="judge", trace=world.trace)
    ports = world.ports(isolate)
    await _judge_instances(world, ports)
    for key, row in world.ledger.rows.items():
        latest = last_moment_ms(world, row, healed_at_ms=healed_at_ms)
        in_time = row.finished_at is not None and row.finished_at <= latest
        late = (
            f"{name_of(row.id)} is {row.state}, {((row.finished_at or 0) - latest) / 1000} s late"
        )
        world.trace.require(in_time, "ends-in-time", late)
        _judge_liveness(world, row, healed_at_ms=healed_at_ms)
        if row.terminal:
            await _judge_job(world, key, ports)
    judge_costs(world)
    judge_figures(world)
    _judge_promises(world, callers)
    _judge_counters(world)
    _judge_lanes(world)
    left = [message.id for message in world.queue.waiting + world.dead_queue.waiting]
    world.trace.require(not left, "messages-are-let-go", str(left))


def _judge_liveness(world: World, row: JobRow, *, healed_at_ms: int) -> None:
    """What had long enough in a healthy world was worked, not left to its deadline.

    The sweep's grace doubles up to as long as a job has waited, and a provider may have asked
    for a wait of its own.
    """
    sick_ms = int(world.profile.heals_at * 1000)
    healthy_ms = row.deadline_at - healed_at_ms
    forgotten = row.error_class == "deadline" and healthy_ms > 2 * sick_ms + _PATIENCE_MS
    told = f"{name_of(row.id)} had {healthy_ms / 1000} s"
    poison = row.key in world.provider.poison_jobs
    world.trace.require(poison or not forgotten, "a-healthy-world-works-its-jobs", told)


async def _judge_instances(world: World, ports: Ports) -> None:
    """Once the rows have ended and the sweep has looked, no run goes on, nor would if woken."""
    await asyncio.sleep(_LONGEST_STANDSTILL)
    for _ in range(2):
        await sweep(ports, planner=planner_of(world))
    trace, doomed = world.trace, world.ledger.doomed
    for instance in world.workflows.instances.values():
        trace.require(instance.life is None, "what-is-over-does-not-live", instance.id)
        if instance.state is not InstanceState.LIVE:
            continue
        # One that its own attempt has settled sleeps in peace: it finds no lease when it wakes.
        trace.count("workflow:left asleep")
        ended = doomed.get(instance.id, math.inf) <= instance.created_at
        trace.require(instance.id not in doomed or ended, "the-doomed-are-ended", instance.id)
    (left,) = world.ledger.connection.execute("SELECT count(*) FROM doomed_instances").fetchone()
    trace.require(left == 0, "the-doomed-are-ended", f"{left} are noted still")


async def _judge_job(world: World, key: JobKey, ports: Ports) -> None:
    job = await ports.jobs.find(key.job_id, tenant_id=key.tenant_id)
    assert job is not None
    await _judge_life(world, job, ports)
    if job.state == "succeeded":
        await _judge_result(world, job, ports)


async def _judge_life(world: World, job: Job, ports: Ports) -> None:
    trace, label = world.trace, name_of(job.id)
    attempts = await ports.jobs.attempts_of(job.key)
    numbers = [attempt.number for attempt in attempts]
    whole = numbers == list(range(1, job.attempt_no + 1))
    trace.require(whole, "each-attempt-has-its-row", f"{label}: {numbers} of {job.attempt_no}")
    spent = sum(attempt.outcome != "deferred" for attempt in attempts)
    trace.require(spent == job.attempts, "attempts-add-up", f"{label}: {spent}, {job.attempts}")
    results = sum(attempt.outcome == "succeeded" for attempt in attempts)
    once = results == (job.state == "succeeded")
    trace.require(once, "one-result", f"{label}: {results}, {job.state}")
    life = await events_of(job, ports=ports)
    ends = [event.type for event in life if event.type in TERMINAL]
    trace.require(ends == [job.state], "one-terminal-event", f"{label}: {ends}, {job.state}")
    ids = [event.id for event in life]
    trace.require(len(ids) == len(set(ids)), "events-have-names-of-their-own", f"{label}: {ids}")
    times = [event.at for event in life]
    trace.require(times == sorted(times), "events-are-in-order", f"{label}: {times}")


async def _judge_result(world: World, job: Job, ports: Ports) -> None:
    body = await result_of(job, ports=ports)
    content = body.content if body.content is not None else body.stream
    text = content.decode() if isinstance(content, bytes) else ""
    expected = expected_of(job.metadata["about"], job.kind, job.params)
    right = all(part in text for part in expected)
    world.trace.require(right, "the-result-is-there", f"{name_of(job.id)}: {text[:200]}")


_PATIENCE_MS = 1_200_000
_LONGEST_STANDSTILL = 400.0  # seconds: what was frozen when the world healed may yet go on


def judge_letters(world: World, strange: Sequence[object]) -> None:
    """At the end each failed job has its letter, and each letter its failed job or its message."""
    trace, ledger = world.trace, world.ledger
    letters = [letter for letter in ledger.letters.values() if letter.road != "undecodable"]
    failed = sorted(row.key for row in ledger.rows.values() if row.state == "failed")
    buried = sorted(letter.key for letter in letters)
    trace.require(failed == buried, "one-letter-a-failure", f"{failed} {buried}")
    for row in ledger.rows.values():
        letter = ledger.letters.get(f"dl_{row.id[4:]}")
        there = None if letter is None else letter.redriven_to
        told = f"{name_of(row.id)}: {row.redriven_to}, {there}"
        trace.require(row.redriven_to == there, "links-agree", told)
    messages = len(ledger.letters) - len(letters)
    bodies = len({json.dumps(body, sort_keys=True) for body in strange})
    trace.require(messages == bodies, "one-letter-a-message", f"{messages} of {bodies}")


def _judge_promises(world: World, callers: Callers) -> None:
    for key in callers.promised:
        world.trace.require(key in world.ledger.rows, "nothing-vanishes", key.job_id)


def _judge_counters(world: World) -> None:
    counted = _counter(world, "late_writes")
    expected = world.ledger.late_writes
    told = f"{counted} counted, {expected} happened"
    world.trace.require(counted == expected, "late-writes-are-counted", told)
    logged = world.trace.seen["event:late_write_refused"]
    told = f"{logged} told, {expected} happened"
    world.trace.require(logged <= expected, "no-write-is-called-late-that-was-not", told)


def _judge_lanes(world: World) -> None:
    """A key that is not accepted fails the one job that found it out; the others wait for it."""
    (denied,) = world.ledger.connection.execute(
        "SELECT count(*) FROM dead_letters WHERE class = 'denied' AND road = 'permanent'"
    ).fetchone()
    parks = world.trace.seen["event:lane_parked"]
    told = f"{denied} denied, {parks} parks"
    world.trace.require(denied <= parks, "a-rotated-key-costs-one-job", told)


def _counter(world: World, name: str) -> int:
    found = world.shared.database.connection.execute(
        "SELECT value FROM counters WHERE name = ?", (name,)
    ).fetchone()
    return int(found[0]) if found else 0


async def judge_diagnosis(world: World) -> None:
    """After all that has happened, the doctor finds nothing."""
    isolate = Isolate(name="doctor", trace=world.trace)
    for finding in await examine(ports=world.ports(isolate)):
        told = f"{finding.question.name}: {[name_of(each) for each in finding.rows]}"
        world.trace.require(finding.ok, "the-doctor-finds-nothing", told)
