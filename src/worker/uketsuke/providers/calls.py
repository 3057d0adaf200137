"""A call of a model as a step of its attempt: where it goes, how long it may take, what it used."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from typing import Any

from uketsuke.domain.failure import ANSWERED, NO_MODEL, AttemptFailed, ErrorClass
from uketsuke.domain.job import Usage
from uketsuke.domain.lane import Capability, Lane, ProviderName
from uketsuke.domain.lifecycle import Engine
from uketsuke.domain.price import Expected, Rates, estimate
from uketsuke.kinds.kind import Kind
from uketsuke.providers.call_line import CallLine
from uketsuke.providers.funds import set_aside, usage_of, usage_without_answer, within_reserved
from uketsuke.providers.port import Answer, CallContext, Provider
from uketsuke.services.execute import Attempt
from uketsuke.services.lanes import enter_lane, open_lane
from uketsuke.services.ports import Ports
from uketsuke.services.steps import StepValue

Providers = Mapping[ProviderName, Provider]
# Makes the call at a provider, of a model of its.
Call = Callable[[Provider, str, CallContext], Awaitable[Answer]]


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is wanted of a provider."""

    capability: Capability
    call: Call


@dataclass(slots=True)
class _Lost:
    """What was lost before a step succeeded: its tries, and lives of its attempt."""

    usage: Usage | None = None
    lives: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Calls:
    """The calls of one attempt."""

    attempt: Attempt
    kind: Kind
    providers: Providers
    ports: Ports

    async def make(
        self,
        step: str,
        given: object,
        capability: Capability,
        call: Call,
        *,
        expected: Expected | None = None,
    ) -> Any:
        """Make one call as a step, and add what it used to the attempt's tally.

        ``capability`` is one of those that the kind has named: what is decided before the work
        begins, is decided by them. ``expected`` is what the call uses at most; without, it is
        reckoned to use as much as the whole job.
        """
        if capability not in self.kind.calls:
            raise ValueError(f"the kind {self.kind.name} does not say that it calls {capability}")
        lane = self.ports.settings.lane_of(self.attempt.leased.job.kind, capability)
        rates = self.ports.settings.rates_of(self.attempt.leased.job.kind, capability)
        most = estimate(rates, expected or self.attempt.leased.job.expected or Expected())
        paid: list[StepValue] = []
        lost = _Lost()

        async def work(refusals: int) -> StepValue:
            made = partial(self._in_lane, step, refusals, lane, _Asked(capability, call))
            done = await self._paid(made, lane, rates, most, lost)
            paid.append(replace(done, lost=lost.usage, lost_lives=lost.lives))
            return paid[-1]

        try:
            done = await self.attempt.steps.run(step, given, work)
        except BaseException:  # it was paid for, and could not be kept
            self._count(paid)
            raise
        else:
            self._count([done])
        finally:  # only now: a call that begins meanwhile must see the one or the other
            self.attempt.tally.under_way_micros -= (most or 0) * len(paid)
        return done.value

    async def _paid(
        self,
        made: Callable[[], Awaitable[Answer]],
        lane: Lane,
        rates: Rates | None,
        most: int | None,
        before: _Lost,
    ) -> StepValue:
        """Make a call within the budgets. One that fails is counted here: it brings no value.

        One that succeeds stays under way until the caller has counted it. ``before`` takes in what
        was lost on the way there.
        """
        in_doubt = usage_without_answer(lane, rates, None, estimate=most)
        lost_before, self.attempt.tally.lost_calls = self.attempt.tally.lost_calls, 0
        for _ in range(lost_before):
            self._lose(within_reserved(in_doubt, self.attempt), before)
            before.lives += 1
        await set_aside(self.attempt, most, ports=self.ports)
        lost: Usage | None = in_doubt
        try:
            answer = await made()
            lost = None
            return StepValue(value=answer.value, usage=usage_of(answer, lane, rates, estimate=most))
        except AttemptFailed as failed:
            lost = usage_without_answer(lane, rates, failed.failure, estimate=most)
            raise
        finally:
            if lost is not None:
                self.attempt.tally.under_way_micros -= most or 0
                self._lose(lost, before)

    def _lose(self, usage: Usage, before: _Lost) -> None:
        self._count([StepValue(value=None, usage=usage)])
        before.usage = before.usage.plus(usage) if before.usage else usage

    def _count(self, values: Sequence[StepValue]) -> None:
        tally = self.attempt.tally
        for usage in (value.usage for value in values if value.usage is not None):
            tally.usage = (tally.usage or Usage(provider=usage.provider)).plus(usage)

    async def _in_lane(self, step: str, refusals: int, lane: Lane, asked: _Asked) -> Answer:
        """Make a call; if it was to try its lane out and the provider answered, open it."""
        leased, ports = self.attempt.leased, self.ports
        probes = await self._enter(lane)
        try:
            answer = await self._timed(step, refusals, lane, asked)
        except AttemptFailed as failed:
            if probes and failed.failure.error_class in ANSWERED:
                await open_lane(lane, leased, ports=ports)
            raise
        if probes:
            await open_lane(lane, leased, ports=ports)
        return answer

    async def _enter(self, lane: Lane) -> bool:
        """Return whether this attempt is to try the lane out.

        For the queue engine the claim has asked; a run goes on for long, and asks before each call.
        """
        leased = self.attempt.leased
        if leased.job.engine is Engine.WORKFLOW:
            return await enter_lane(lane, leased, ports=self.ports)
        return str(lane) in leased.probes

    async def _timed(self, step: str, refusals: int, lane: Lane, asked: _Asked) -> Answer:
        provider = self.providers.get(lane.provider)
        if provider is None:
            raise _at(lane, AttemptFailed(ErrorClass.NOT_FOUND, NO_MODEL))
        line = CallLine.begin(self.attempt, lane, asked.capability, ports=self.ports)
        context, cut = self._context(step, refusals, line.traceparent)
        answer: Answer | None = None
        error: str | None = "call_cut_off"
        try:
            answer = await asked.call(provider, lane.model, context)
        except AttemptFailed as failed:
            error = failed.failure.code
            if cut and failed.failure.error_class is ErrorClass.TIMEOUT:
                raise AttemptFailed(ErrorClass.DEADLINE, "deadline_cut") from None
            raise _at(lane, failed) from None
        else:
            error = None
            return answer
        finally:
            now = self.ports.clock.monotonic()
            self.attempt.tally.provider_ms += round((now - line.began) * 1000)
            line.tell(answer, error, now=now)

    def _context(
        self, step: str, refusals: int, traceparent: str | None
    ) -> tuple[CallContext, bool]:
        """Return a call's context, and whether only the job's deadline bounds it."""
        leased, limit = self.attempt.leased, self.ports.settings.attempt_limit
        left = self.attempt.limit_left(now=self.ports.clock.monotonic())
        cut = self.attempt.ends_with_its_job and left < limit
        left = min(left, limit)  # also of a run that may take hours
        epoch = f"{leased.call_epoch}" + (f".{refusals}" if refusals else "")
        # A little sooner than the attempt itself, so that the failure gets its right name.
        context = CallContext(
            idempotency_key=f"{leased.job.id}.{step}.{epoch}",
            timeout=max(left * 0.95, timedelta(milliseconds=10)),
            traceparent=traceparent,
        )
        return context, cut


def _at(lane: Lane, failed: AttemptFailed) -> AttemptFailed:
    """Say where a provider failed: so it may concern others, too."""
    return AttemptFailed.of(replace(failed.failure, lane=str(lane)))
