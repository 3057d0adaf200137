"""A call of a model as a step of its attempt: where it goes, how long it may take, what it used."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from uketsuke.domain.failure import ANSWERED, NO_MODEL, AttemptFailed, ErrorClass
from uketsuke.domain.job import Usage
from uketsuke.domain.lane import Capability, Lane, ProviderName
from uketsuke.domain.lifecycle import Engine
from uketsuke.kinds.kind import Kind
from uketsuke.providers.port import Answer, CallContext, Provider
from uketsuke.services.execute import Attempt
from uketsuke.services.lanes import enter_lane, open_lane
from uketsuke.services.ports import Ports
from uketsuke.services.steps import StepValue

Providers = Mapping[ProviderName, Provider]
# Makes the call at a provider, of a model of its.
Call = Callable[[Provider, str, CallContext], Awaitable[Answer]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Calls:
    """The calls of one attempt."""

    attempt: Attempt
    kind: Kind
    providers: Providers
    ports: Ports

    async def make(self, step: str, given: object, capability: Capability, call: Call) -> Any:
        """Make one call as a step, and add what it used to the attempt's tally.

        ``capability`` is one of those that the kind has named: what is decided before the work
        begins, is decided by them.
        """
        if capability not in self.kind.calls:
            raise ValueError(f"the kind {self.kind.name} does not say that it calls {capability}")
        lane = self.ports.settings.lane_of(self.attempt.leased.job.kind, capability)
        tally = self.attempt.tally

        async def work(refusals: int) -> StepValue:
            answer = await self._in_lane(step, refusals, lane, call)
            return StepValue(value=answer.value, usage=usage_of(answer, lane))

        done = await self.attempt.steps.run(step, given, work)
        if done.usage is not None:
            tally.usage = added(tally.usage or Usage(provider=lane.provider), done.usage)
        return done.value

    async def _in_lane(self, step: str, refusals: int, lane: Lane, call: Call) -> Answer:
        """Make a call; if it was to try its lane out and the provider answered, open it."""
        leased, ports = self.attempt.leased, self.ports
        probes = await self._enter(lane)
        try:
            answer = await self._timed(step, refusals, lane, call)
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

    async def _timed(self, step: str, refusals: int, lane: Lane, call: Call) -> Answer:
        provider = self.providers.get(lane.provider)
        if provider is None:
            raise _at(lane, AttemptFailed(ErrorClass.NOT_FOUND, NO_MODEL))
        tally, clock = self.attempt.tally, self.ports.clock
        before = clock.monotonic()
        context, cut = self._context(step, refusals)
        try:
            return await call(provider, lane.model, context)
        except AttemptFailed as failed:
            if cut and failed.failure.error_class is ErrorClass.TIMEOUT:
                raise AttemptFailed(ErrorClass.DEADLINE, "deadline_cut") from None
            raise _at(lane, failed) from None
        finally:
            tally.provider_ms += round((clock.monotonic() - before) * 1000)

    def _context(self, step: str, refusals: int) -> tuple[CallContext, bool]:
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
            traceparent=leased.job.traceparent,
        )
        return context, cut


def _at(lane: Lane, failed: AttemptFailed) -> AttemptFailed:
    """Say where a provider failed: so it may concern others, too."""
    return AttemptFailed.of(replace(failed.failure, lane=str(lane)))


def usage_of(answer: Answer, lane: Lane) -> Usage:
    """Return what one call used, at whom."""
    return Usage(
        provider=lane.provider,
        model=answer.model or lane.model,  # a model that hears does not tell its name
        provider_request_id=answer.request_id,
        input_tokens=answer.input_tokens,
        output_tokens=answer.output_tokens,
        audio_ms=answer.audio_ms,
    )


def added(usage: Usage, more: Usage) -> Usage:
    """Add what one more call used; the model and the request's id are the last one's."""
    return replace(
        usage,
        model=more.model or usage.model,
        provider_request_id=more.provider_request_id or usage.provider_request_id,
        input_tokens=_sum(usage.input_tokens, more.input_tokens),
        output_tokens=_sum(usage.output_tokens, more.output_tokens),
        audio_ms=_sum(usage.audio_ms, more.audio_ms),
    )


def _sum(total: int | None, more: int | None) -> int | None:
    return total if more is None else (total or 0) + more
