"""Run one attempt of one job: load, work, store the result, and say how it ended."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final

from uketsuke.domain.backoff import RetryPolicy
from uketsuke.domain.failure import AttemptFailed, ErrorClass, Failure, classify
from uketsuke.domain.job import (
    EncodedResult,
    Ending,
    Funds,
    LeasedJob,
    ResultPlace,
    SilentRun,
    Usage,
)
from uketsuke.domain.lane import Park
from uketsuke.domain.lifecycle import JobState, Outcome
from uketsuke.domain.settlement import GiveUp, TryAgain, decide, decide_parked
from uketsuke.services.adopt import adopted_usage, find_paid_result
from uketsuke.services.knock import BUDGET_WAIT
from uketsuke.services.lanes import park_lane
from uketsuke.services.leases import LeaseKeeper, Stop
from uketsuke.services.ports import Ports, Unavailable
from uketsuke.services.steps import DirectSteps, StepRunner
from uketsuke.services.tell import tell_unexpected

_JSON: Final = "application/json"


@dataclass(slots=True, kw_only=True)
class Tally:
    """What an attempt has used so far; kept outside the work, so that a failure keeps it too."""

    usage: Usage | None = None
    provider_ms: int = 0
    # What the attempt may cost, once that was raised above what its lease has reserved.
    raised_micros: int | None = None
    under_way_micros: int = 0  # the estimates of calls that have not ended yet
    # Earlier lives of the attempt may have been in a call when they ended: in one each.
    lost_calls: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One attempt under way: what the work is given.

    ``asked_at`` is the monotonic second at which the lease was asked for: every duration that the
    database told counts from there, so that none is believed longer than it is.
    """

    leased: LeasedJob
    asked_at: float
    tally: Tally
    keeper: LeaseKeeper
    steps: StepRunner = field(default_factory=DirectSteps)

    def time_left(self, *, now: float) -> timedelta:
        """Return what is left until the job's deadline."""
        return self.leased.time_left - timedelta(seconds=now - self.asked_at)

    def limit_left(self, *, now: float) -> timedelta:
        """Return what is left until the deadline, or until the attempt's own limit if sooner."""
        whole = min(self.leased.limit_left, self.leased.time_left)
        return whole - timedelta(seconds=now - self.asked_at)

    def database_time(self, *, now: float) -> datetime:
        """Return the database's idea of the monotonic second ``now``: attempts begin by its clock.

        A little late, by what the answer to the lease has taken.
        """
        leased_at = self.leased.job.deadline_at - self.leased.time_left
        return leased_at + timedelta(seconds=now - self.asked_at)

    @property
    def ends_with_its_job(self) -> bool:
        """Whether the job's deadline comes before the attempt's own limit."""
        return self.leased.time_left <= self.leased.limit_left


# Runs the kind's work and returns its result. Given by the wiring, for the services know
# neither kinds nor providers.
Worker = Callable[[Attempt], Awaitable[Mapping[str, object] | EncodedResult]]


async def execute(attempt: Attempt, work: Worker, *, ports: Ports) -> Ending | None:
    """Work an attempt to its end and return what is to be written; None if the lease was lost.

    Never raises for what the work did: every failure is classified here. The caller settles the
    ending under the lease token.
    """
    task = asyncio.ensure_future(_work_and_store(attempt, work, ports=ports))
    attempt.keeper.watch(attempt.leased.job.key, task)
    try:
        place, text = await task
    except asyncio.CancelledError:
        return _stopped(attempt, ports=ports)
    except Exception as error:  # the one place: whatever the work raised becomes a failure
        failure = _classified(error, attempt)
        park = await park_lane(failure, attempt.leased, ports=ports)
        return _failed(attempt, failure, park=park, ports=ports)
    done = _ending(attempt, JobState.SUCCEEDED, Outcome.SUCCEEDED)
    return replace(done, result=place, result_text=text)


def awaiting_budget(leased: LeasedJob) -> Ending:
    """Return the ending of a run that could not begin: others have reserved what it needs."""
    return replace(
        ending_of(leased, JobState.RETRYING, Outcome.DEFERRED),
        failure=Failure(error_class=ErrorClass.BUDGET, code=Funds.RESERVED),
        wait=BUDGET_WAIT,
        gives_back=True,
    )


def not_started(leased: LeasedJob) -> Ending:
    """Return the ending of an attempt that could not begin: it is given back."""
    return replace(
        ending_of(leased, JobState.RETRYING, Outcome.DEFERRED),
        failure=Failure(error_class=ErrorClass.UNAVAILABLE, code="run_not_started"),
        gives_back=True,
    )


async def _work_and_store(
    attempt: Attempt, work: Worker, *, ports: Ports
) -> tuple[ResultPlace, str | None]:
    if attempt.leased.funds is not None:
        raise AttemptFailed(ErrorClass.BUDGET, attempt.leased.funds)
    left = attempt.limit_left(now=ports.clock.monotonic())
    async with asyncio.timeout(left.total_seconds()):
        paid = await find_paid_result(attempt.leased, ports=ports)
        if paid is not None:
            attempt.tally.usage = adopted_usage(paid, attempt.leased)
            return paid.place, paid.text
        result = await work(attempt)
    return await _store(_encoded(result), attempt.leased, ports=ports)


def _encoded(result: Mapping[str, object] | EncodedResult) -> EncodedResult:
    if isinstance(result, EncodedResult):
        return result
    text = json.dumps(result, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return EncodedResult(content=text.encode(), content_type=_JSON)


async def _store(
    result: EncodedResult, leased: LeasedJob, *, ports: Ports
) -> tuple[ResultPlace, str | None]:
    """Keep a small JSON result in the attempt's row, others in an object named by the attempt."""
    size = len(result.content)
    place = ResultPlace(
        bytes=size, content_type=result.content_type, attempt=leased.attempt, object_key=None
    )
    if size <= ports.settings.inline_bytes and result.content_type == _JSON:
        return place, result.content.decode()
    unguessable = ports.dice.entropy(16).hex()
    job = leased.job
    object_key = f"{job.tenant_id}/{job.id}/result-{leased.attempt}-{unguessable}"
    try:
        await ports.blobs.put(object_key, result.content, content_type=result.content_type)
    except Unavailable:
        raise AttemptFailed(ErrorClass.UNAVAILABLE, "storage_unavailable") from None
    return replace(place, object_key=object_key), None


def _classified(error: Exception, attempt: Attempt) -> Failure:
    failure = classify(error)
    if isinstance(error, TimeoutError) and attempt.ends_with_its_job:
        return _OUT_OF_TIME
    if failure.error_class is ErrorClass.UNKNOWN:
        tell_unexpected(attempt.leased, error)
    return failure


def _then(
    attempt: Attempt, failure: Failure, *, park: Park | None, ports: Ports
) -> TryAgain | GiveUp:
    leased, settings = attempt.leased, ports.settings
    left, draw = attempt.time_left(now=ports.clock.monotonic()), ports.dice.draw()
    if park is not None:
        spread = settings.lane_spread
        return decide_parked(failure, park, time_left=left, spread=spread, draw=draw)
    return decide(
        failure,
        attempt=leased.attempt,
        attempts=leased.job.attempts,
        max_attempts=leased.job.max_attempts,
        time_left=left,
        policy=RetryPolicy(base=settings.retry_base, cap=settings.retry_cap),
        draw=draw,
    )


def _failed(
    attempt: Attempt, failure: Failure, *, park: Park | None = None, ports: Ports
) -> Ending:
    then = _then(attempt, failure, park=park, ports=ports)
    if isinstance(then, GiveUp):
        ending = _ending(attempt, JobState.FAILED, Outcome.FAILED)
        return replace(ending, failure=failure, new_epoch=failure.definite, road=then.road)
    outcome = Outcome.DEFERRED if then.gives_back else Outcome.FAILED
    return replace(
        _ending(attempt, JobState.RETRYING, outcome),
        failure=failure,
        new_epoch=failure.definite,
        wait=then.wait,
        gives_back=then.gives_back,
    )


# Of another code than what the sweep writes: a late holder's ending must not look like it.
_OUT_OF_TIME: Final = Failure(error_class=ErrorClass.DEADLINE, code="deadline_cut")


def _stopped(attempt: Attempt, *, ports: Ports) -> Ending | None:
    """Say what follows when the keeper stopped the work."""
    why = attempt.keeper.why_stopped(attempt.leased.job.key)
    if why is None:
        # Not the keeper's doing: the event itself is ending. The lease will expire by itself.
        raise asyncio.CancelledError
    if why is Stop.LOST:
        return None
    if why is Stop.DEADLINE:
        return _failed(attempt, _OUT_OF_TIME, ports=ports)
    return _ending(attempt, JobState.CANCELED, Outcome.CANCELED)


def _ending(attempt: Attempt, state: JobState, outcome: Outcome) -> Ending:
    tally = attempt.tally
    bare = ending_of(attempt.leased, state, outcome)
    return replace(bare, usage=tally.usage, provider_ms=tally.provider_ms)


def ending_of(held: LeasedJob | SilentRun, state: JobState, outcome: Outcome) -> Ending:
    """Return the ending of the attempt that holds a job, with nothing used and nothing brought."""
    return Ending(
        key=held.job.key,
        token=held.token,
        attempt=held.job.attempt_no,
        state=state,
        outcome=outcome,
    )
