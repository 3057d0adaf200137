"""Parked lanes: whoever is turned away there tells it once for all, and the others wait.

The store says what stands; how long it stands, and who waits how long, is decided here. A store
that does not answer costs no job: it waits as if the lane were parked by another one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from typing import Final, TypeVar

from uketsuke.domain.backoff import RetryPolicy
from uketsuke.domain.failure import LANE_PARKED, AttemptFailed, ErrorClass, Failure
from uketsuke.domain.job import JobKey, LeasedJob, SeenJob
from uketsuke.domain.lane import Lane, Park, wait_for_lane
from uketsuke.services.ports import Ports, Unavailable
from uketsuke.services.tell import trace_of
from uketsuke.settings import Settings
from uketsuke.telemetry import Fields, event

T = TypeVar("T")


async def park_lane(failure: Failure, leased: LeasedJob, *, ports: Ports) -> Park | None:
    """Park the lane in which an attempt failed, if that concerns all who ask there.

    Returns how it is parked now; None if the failure is the job's alone. An attempt that was turned
    away by a parked lane does not park it again.
    """
    if failure.code == LANE_PARKED:
        return Park(opens_in=failure.retry_after or timedelta())
    if not failure.parks:
        return None
    policy = _policy_for(failure, ports.settings)
    for _ in range(_TRIES):
        with suppress(Unavailable, TimeoutError):
            park = await _in_time(
                ports.lanes.park(
                    failure,
                    key=leased.job.key,
                    token=leased.token,
                    policy=policy,
                    memory=ports.settings.lane_memory,
                ),
                ports,
            )
            _tell_parked(failure, leased, park)
            return park
    _tell_silence(failure.lane or "", leased)
    return Park(opens_in=max(policy.base, failure.retry_after or timedelta()))


def _policy_for(failure: Failure, settings: Settings) -> RetryPolicy:
    match failure.error_class:
        case ErrorClass.THROTTLED:
            return RetryPolicy(base=settings.park_throttled, cap=settings.park_throttled_cap)
        case ErrorClass.QUOTA if failure.retry_after is not None:
            # It was said when the allowance renews: that is better known there.
            return RetryPolicy(base=timedelta(), cap=timedelta())
        case ErrorClass.QUOTA:
            return RetryPolicy(base=settings.park_quota, cap=settings.park_quota_cap)
        case _:
            return RetryPolicy(base=settings.park_denied, cap=settings.park_denied_cap)


async def enter_lane(lane: Lane, leased: LeasedJob, *, ports: Ports) -> bool:
    """Ask for a run on a Workflow, before it calls a model; True if it is to try the lane out.

    Raises ``AttemptFailed`` if the lane is parked; nobody was asked then. A store that does not
    answer stops nobody: the provider's own refusal would come.
    """
    try:
        asked = ports.lanes.enter(str(lane), key=leased.job.key, token=leased.token)
        entered = await _in_time(asked, ports)
    except (Unavailable, TimeoutError):
        _tell_silence(str(lane), leased)
        return False
    if isinstance(entered, Park):
        wait = max(entered.opens_in, timedelta())
        raise AttemptFailed(ErrorClass.THROTTLED, LANE_PARKED, retry_after=wait)
    return entered


async def open_lane(lane: Lane, leased: LeasedJob, *, ports: Ports) -> None:
    """Open the lane that an attempt has tried out. Best effort: else the next one tries it out."""
    try:
        opened = await _in_time(ports.lanes.open(str(lane), token=leased.token), ports)
    except (Unavailable, TimeoutError):
        _tell_silence(str(lane), leased)
        return
    if opened:
        event("lane_opened", **_in_lane(str(lane), leased))


async def put_off(
    looked: Mapping[JobKey, LeasedJob | SeenJob], *, ports: Ports
) -> Mapping[JobKey, LeasedJob | SeenJob]:
    """Let those wait that a parked lane turned away, and return how all stand now."""
    away = {
        key: seen for key, seen in looked.items() if isinstance(seen, SeenJob) and seen.turned_away
    }
    if not away:
        return looked
    waits = {key: _wait_of(seen, ports) for key, seen in away.items()}
    # If it is not written, their messages come later all the same.
    with suppress(Unavailable, TimeoutError):
        await _in_time(ports.lanes.postpone(waits), ports)
    return {**looked, **{key: replace(seen, due_in=waits[key]) for key, seen in away.items()}}


def _wait_of(seen: SeenJob, ports: Ports) -> timedelta:
    assert seen.park is not None
    wait = wait_for_lane(
        seen.park,
        time_left=seen.time_left,
        spread=ports.settings.lane_spread,
        draw=ports.dice.draw(),
    )
    return min(wait, seen.time_left)


async def _in_time(asked: Awaitable[T], ports: Ports) -> T:
    async with asyncio.timeout(ports.settings.intake_database_timeout.total_seconds()):
        return await asked


def _tell_parked(failure: Failure, leased: LeasedJob, park: Park) -> None:
    if not park.opened:
        return
    told = _in_lane(failure.lane or "", leased)
    told["error_class"] = failure.error_class
    told["error_code"] = failure.code
    told["wait_ms"] = round(park.opens_in.total_seconds() * 1000)
    event("lane_parked", **told)


def _tell_silence(lane: str, leased: LeasedJob) -> None:
    event("lane_not_told", **_in_lane(lane, leased))


def _in_lane(lane: str, leased: LeasedJob) -> Fields:
    return {**trace_of(leased), "lane": lane}


_TRIES: Final = 2
