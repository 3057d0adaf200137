"""What a failed attempt does to its job: another try, or the end."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from uketsuke.domain.backoff import RetryPolicy, retry_delay
from uketsuke.domain.failure import GIVEN_BACK, ErrorClass, Failure, Road
from uketsuke.domain.lane import Park, wait_for_lane


@dataclass(frozen=True, slots=True, kw_only=True)
class TryAgain:
    """The job waits; ``gives_back`` says that the attempt does not count."""

    wait: timedelta
    gives_back: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class GiveUp:
    """The job has failed, by this road."""

    road: Road


def decide(
    failure: Failure,
    *,
    attempt: int,
    attempts: int,
    max_attempts: int,
    time_left: timedelta,
    policy: RetryPolicy,
    draw: float,
) -> TryAgain | GiveUp:
    """Say what follows ``failure`` of attempt number ``attempt``, with ``attempts`` spent so far.

    The wait grows with each attempt, also with those that are given back: else a provider that
    says "slow down" and no more would be asked again and again at once.

    ``time_left`` runs to the job's deadline, by the database's clock. A next try that would
    lie past the deadline is no try: the job fails now, while its reason is fresh.
    """
    if not failure.retryable:
        return GiveUp(road=_ROADS.get(failure.error_class, Road.PERMANENT))
    gives_back = failure.error_class in GIVEN_BACK
    if not gives_back and attempts >= max_attempts:
        return GiveUp(road=Road.EXHAUSTED)
    wait = retry_delay(policy, attempt=attempt, draw=draw, requested=failure.retry_after)
    return _within(time_left, wait, gives_back=gives_back)


def decide_parked(
    failure: Failure, park: Park, *, time_left: timedelta, spread: timedelta, draw: float
) -> TryAgain | GiveUp:
    """Say what follows a failure for which the whole lane is parked.

    What no retry helps (our key, the model's name) fails the one job that found it out: its dead
    letter tells a person. It is not the others' fault: they wait with the lane, within their time.
    """
    if park.opened and not failure.retryable:
        return GiveUp(road=Road.PERMANENT)
    wait = wait_for_lane(park, time_left=time_left, spread=spread, draw=draw)
    return _within(time_left, wait, gives_back=True)


def _within(time_left: timedelta, wait: timedelta, *, gives_back: bool) -> TryAgain | GiveUp:
    if wait >= time_left:
        return GiveUp(road=Road.DEADLINE)
    return TryAgain(wait=wait, gives_back=gives_back)


_ROADS = {ErrorClass.BUDGET: Road.BUDGET, ErrorClass.DEADLINE: Road.DEADLINE}
