"""What a call may cost and what it did: asked before it is made, noted however it ends."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from uketsuke.domain.failure import LANE_PARKED, AttemptFailed, ErrorClass, Failure
from uketsuke.domain.job import Usage
from uketsuke.domain.lane import Lane
from uketsuke.domain.price import Rates, cost_of
from uketsuke.providers.port import Answer
from uketsuke.services.execute import Attempt
from uketsuke.services.ports import Ports, Unavailable

# An odd answer that is neither a success nor a refusal: who knows whether it is billed.
_IN_DOUBT: Final = frozenset({"provider_answer_unusable"})


async def set_aside(attempt: Attempt, micros: int | None, *, ports: Ports) -> None:
    """Make sure that the attempt may make one more call, of at most so many micro-dollars.

    The estimate counts as under way until the caller lets it go (``tally.under_way_micros``).
    Raises ``AttemptFailed`` if a budget does not allow it. Without a budget nothing is asked.
    """
    leased, tally = attempt.leased, attempt.tally
    if leased.reserved_micros is None:
        tally.under_way_micros += micros or 0
        return
    if micros is None:
        raise AttemptFailed(ErrorClass.BUDGET, "price_unknown")
    charged = (tally.usage.charged_micros or 0) if tally.usage else 0
    needed = charged + tally.under_way_micros + micros
    most = leased.job.max_cost_micros
    if most is not None and leased.job.charged_micros + needed > most:
        raise AttemptFailed(ErrorClass.BUDGET, "budget_exceeded")
    tally.under_way_micros += micros
    if needed > (tally.raised_micros or leased.reserved_micros):
        try:
            await _raise_to(needed, attempt, ports=ports)
        except BaseException:
            tally.under_way_micros -= micros
            raise


async def _raise_to(micros: int, attempt: Attempt, *, ports: Ports) -> None:
    key, token = attempt.leased.job.key, attempt.leased.token
    try:
        raised = await ports.costs.raise_reservation(key, token=token, to_micros=micros)
    except Unavailable:
        raise AttemptFailed(ErrorClass.UNAVAILABLE, "storage_unavailable") from None
    if not raised:
        raise AttemptFailed(ErrorClass.BUDGET, "budget_exceeded")
    attempt.tally.raised_micros = max(attempt.tally.raised_micros or 0, micros)


def usage_of(answer: Answer, lane: Lane, rates: Rates | None, *, estimate: int | None) -> Usage:
    """Return what an answered call used, at whom, and what it cost."""
    cost = cost_of(
        rates,
        input_tokens=answer.input_tokens,
        output_tokens=answer.output_tokens,
        audio_ms=answer.audio_ms,
    )
    return Usage(
        provider=lane.provider,
        model=answer.model or lane.model,  # a model that hears does not tell its name
        asked_model=lane.model,
        provider_request_id=answer.request_id,
        input_tokens=answer.input_tokens,
        output_tokens=answer.output_tokens,
        audio_ms=answer.audio_ms,
        cost_micros=cost,
        charged_micros=(estimate or 0) if cost is None else cost,
        unknown_calls=1 if cost is None else None,
    )


def within_reserved(lost_call: Usage, attempt: Attempt) -> Usage:
    """Return what a call counts as that an earlier life may have made, if it had money for it."""
    reserved, used = attempt.leased.reserved_micros, attempt.tally.usage
    if reserved is None:
        return lost_call
    left = max(0, reserved - ((used.charged_micros or 0) if used else 0))
    return replace(lost_call, charged_micros=min(lost_call.charged_micros or 0, left))


def usage_without_answer(
    lane: Lane, rates: Rates | None, failure: Failure | None, *, estimate: int | None
) -> Usage:
    """Return what a call counts as that brought no answer; without a failure, it was cut off.

    What the provider has refused costs nothing; an answer that says no is an answer, and billed.
    What may have been done all the same is unknown, and counts as its estimate where budgets are
    reckoned.
    """
    refused = failure is not None and (
        failure.code == LANE_PARKED
        or (failure.definite and not failure.billed and failure.code not in _IN_DOUBT)
    )
    free = refused or (rates is not None and not any(rates))
    return Usage(
        provider=lane.provider,
        asked_model=lane.model,
        cost_micros=0 if free else None,
        charged_micros=0 if free else estimate or 0,
        unknown_calls=None if free else 1,
    )
