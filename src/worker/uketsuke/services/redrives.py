"""Bulk redrives: the sweep's duty that drives each of them on, a bounded stretch a tick.

A tick goes on with a bulk redrive under a turn of its own, uses up the time before it starts
anything for it, and keeps how far it has come after each page. So whatever dies where it may: what
was started is known by its letter, no letter is redriven twice, and the rate is not exceeded.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from uketsuke.domain.bulk_redrive import (
    LetterFilter,
    NewRedrive,
    RedriveState,
    Turn,
    allowance,
    first_difference,
    judge_canaries,
    judge_latest,
)
from uketsuke.domain.failure import ErrorClass
from uketsuke.domain.ids import RANDOM_BYTES, time_sorted_id
from uketsuke.services.ports import Candidates, Decided, Ports, ShownRedrive
from uketsuke.services.redrive import Planner, new_act
from uketsuke.services.redrive_page import CALLS_A_TICK, Room, Walk, Walker, place_of
from uketsuke.telemetry import event, raised

_PAGE: Final = 50
_REDRIVES_A_TICK: Final = 20
# So many ticks break off at a letter whose input cannot be read; then it is passed over.
_TRIES: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedRedrive:
    """What a person asks for, and who that is: the id of the key that was used.

    ``idempotency_key`` is the person's name for the request, if it has one.
    """

    wanted: LetterFilter
    reason: str
    rate_per_minute: int
    canary: int
    actor: str
    request_id: str
    idempotency_key: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StartedRedrive:
    """What stands for a request; ``difference`` is where an earlier one asked otherwise.

    That is a JSON Pointer. ``known``: it was started before, under the same idempotency key.
    """

    shown: ShownRedrive
    known: bool
    difference: str | None


async def start_redrive(asked: WantedRedrive, *, ports: Ports) -> StartedRedrive:
    """Write a bulk redrive down with the person's act; the sweep starts what it asks for.

    Under an idempotency key that the actor has used nothing is written.
    """
    now_ms = int(ports.clock.now().timestamp() * 1000)
    name = time_sorted_id("rd", now_ms=now_ms, entropy=ports.dice.entropy(RANDOM_BYTES))
    wanted = asked.wanted
    new = NewRedrive(
        id=name,
        wanted=wanted,
        rate_per_minute=asked.rate_per_minute,
        canary=asked.canary,
        idempotency_key=asked.idempotency_key,
    )
    detail = {
        "class": wanted.error_class,
        "kind": wanted.kind,
        "fingerprint": wanted.fingerprint,
        "tenant": wanted.tenant_id,
        "before": wanted.before.isoformat() if wanted.before else None,
        "rate_per_minute": asked.rate_per_minute,
        "canary": asked.canary,
    }
    act = new_act(
        asked.actor, reason=asked.reason, request_id=asked.request_id, detail=detail, ports=ports
    )
    shown = await ports.redrives.start(new, act=act)
    return StartedRedrive(
        shown=shown,
        known=shown.redrive.id != new.id,
        difference=first_difference(shown.redrive, new, reason=asked.reason),
    )


async def drive_redrives(ports: Ports, *, planner: Planner) -> int:
    """Go on with the bulk redrives that there are; return how many letters were redriven.

    One that fails stops no other: it is looked at again in the next tick.
    """
    names = await ports.redrives.open_ones(limit=_REDRIVES_A_TICK)
    calls, count = CALLS_A_TICK, 0
    for left, name in zip(range(len(names), 0, -1), names, strict=True):
        share = calls // left  # what one leaves of its own is the others'
        room = Room(calls=share)
        try:
            count += await _drive(name, _Tick(planner=planner, room=room, ports=ports))
        except Exception as error:  # what became of it, its letters and its row tell
            event("redrive_broke_off", redrive_id=name, **raised(error))
        calls -= share - room.calls
    return count


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tick:
    """What a tick works with."""

    planner: Planner
    room: Room
    ports: Ports


async def _drive(name: str, tick: _Tick) -> int:
    redrives, dice = tick.ports.redrives, tick.ports.dice
    turn = await redrives.take_turn(name, token=dice.entropy(16).hex())
    if turn is None:
        return 0
    match turn.redrive.state:
        case RedriveState.CANARY:
            return await _try_out(turn, tick)
        case RedriveState.RUNNING:
            return await _go_on(turn, tick)
        case _:
            if not turn.under_way:
                await redrives.close(turn)
            return 0


async def _try_out(turn: Turn, tick: _Tick) -> int:
    """Start the canaries that are missing; once all have ended, judge them and go on."""
    redrives = tick.ports.redrives
    missing = turn.redrive.canary - turn.started
    if missing > 0 and not turn.redrive.all_seen:
        claimed = await redrives.claim(turn, paced_at=turn.now)
        return await _start(turn, missing, tick) if claimed else 0
    if turn.under_way:
        return 0
    stopping = judge_canaries(turn.failed_again)
    if stopping is not None:
        await redrives.stop_itself(turn, stopping)
        return 0
    return await _go_on(turn, tick) if await redrives.run(turn) else 0


async def _go_on(turn: Turn, tick: _Tick) -> int:
    """Start what the time since the last tick allows, unless the latest that ended tell to stop."""
    redrives, settings = tick.ports.redrives, tick.ports.settings
    stopping = judge_latest(turn.latest)
    if stopping is not None:
        await redrives.stop_itself(turn, stopping)
        return 0
    if turn.redrive.all_seen:
        if not turn.under_way:
            await redrives.finish(turn)
        return 0
    count, paced_at = allowance(turn.redrive, now=turn.now, tick=settings.sweep_every)
    if count and await redrives.claim(turn, paced_at=paced_at):
        return await _start(turn, count, tick)
    return 0


async def _start(turn: Turn, wanted: int, tick: _Tick) -> int:
    """Redrive so many of the letters that come next; return how many it was.

    What was passed over, because it cannot be redriven or is resolved, does not count.
    """
    redrives, started = tick.ports.redrives, 0
    patient = turn.redrive.tries + 1 < _TRIES
    while started < wanted and not tick.room.none:
        tick.room.take_page()
        page = await redrives.candidates(turn, limit=_PAGE)
        if page is None:  # a person has stopped it, or another tick goes on with it
            break
        walk = await _walk(page, turn, tick, most=wanted - started, patient=patient)
        started, patient = started + walk.started, True
        if walk.broken:
            event(
                "redrive_broke_off",
                redrive_id=turn.redrive.id,
                error_class=ErrorClass.UNAVAILABLE,
            )
        done = _decided(page, walk)
        if not await redrives.decided(turn, done) or done.all_seen or walk.broken:
            break
    return started


async def _walk(page: Candidates, turn: Turn, tick: _Tick, *, most: int, patient: bool) -> Walk:
    keys = [letter.key for letter in page.letters if letter.key]
    walker = Walker(
        bulk=turn.redrive,
        jobs=await tick.ports.redrives.jobs_of(keys),
        patient=patient,
        planner=tick.planner,
        room=tick.room,
        ports=tick.ports,
    )
    return await walker.through(page.letters, most=most)


def _decided(page: Candidates, walk: Walk) -> Decided:
    """Say how far a tick has come: a page that was walked to its end ends where it was looked."""
    last = place_of(page.letters[-1]) if page.letters else None
    whole = walk.place == last and not walk.broken
    return Decided(
        place=page.end if whole and page.end else walk.place,
        skipped=walk.skipped,
        all_seen=whole and page.end is None,
        broke_off=walk.unreadable,
    )
