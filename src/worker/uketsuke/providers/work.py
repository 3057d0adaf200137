"""What an attempt offers to its kind: the input, the models, progress; and what it all used."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import msgspec

from uketsuke.domain.failure import AttemptFailed, ErrorClass
from uketsuke.domain.job import Job, Progress, Usage
from uketsuke.kinds.kind import Chat, Embeddings, Kind, Result
from uketsuke.providers import input as inputs
from uketsuke.providers.openai_compatible import NAME, Answer, CallContext, OpenAICompatible
from uketsuke.services.execute import Attempt
from uketsuke.services.ports import Ports
from uketsuke.services.steps import StepValue


async def run_kind(
    attempt: Attempt, *, kinds: Mapping[str, Kind], provider: OpenAICompatible, ports: Ports
) -> Result:
    """Run the attempt's kind. Raises ``AttemptFailed``, and whatever a kind's own fault raises."""
    kind = kinds.get(attempt.leased.job.kind)
    if kind is None:
        raise AttemptFailed(ErrorClass.NOT_FOUND, "kind_unknown")
    params = msgspec.convert(attempt.leased.job.params, kind.params)
    work = AttemptWork(attempt=attempt, kind=kind, provider=provider, ports=ports)
    return await kind.run(work, params)


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptWork:
    """``kinds.kind.Work`` for one attempt."""

    attempt: Attempt
    kind: Kind
    provider: OpenAICompatible
    ports: Ports

    @property
    def job(self) -> Job:
        return self.attempt.leased.job

    async def text(self) -> str:
        return await inputs.load_text(self.attempt.leased, ports=self.ports)

    async def texts(self) -> Sequence[str]:
        return await inputs.load_texts(self.attempt.leased, ports=self.ports)

    async def plan(self, version: int, make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        async def first(_refusals: int) -> StepValue:
            return StepValue(value={"version": version, **make()})

        # The same name whatever it was made from: the plan is the job's, not the code's.
        plan: dict[str, Any] = (await self.attempt.steps.run("plan", None, first)).value
        if plan["version"] not in self.kind.plan_versions:
            raise AttemptFailed(ErrorClass.NOT_FOUND, "not_supported")
        return plan

    async def progress(self, done: int, total: int) -> None:
        self.attempt.keeper.note_progress(self.job.key, Progress(done=done, total=total))

    async def chat(self, call: Chat) -> str:
        provider, model = self.provider, self.ports.settings.chat_model
        text: str = await self._counted(
            call.step,
            [call.system, call.user, call.max_output_tokens],
            lambda context: provider.chat(
                model=model,
                system=call.system,
                user=call.user,
                max_output_tokens=call.max_output_tokens,
                context=context,
            ),
        )
        return text

    async def embed(self, step: str, texts: Sequence[str]) -> Embeddings:
        provider, model = self.provider, self.ports.settings.embed_model
        vectors = await self._counted(
            step,
            [model, *texts],
            lambda context: provider.embed(model=model, texts=texts, context=context),
        )
        return Embeddings(model=model, vectors=vectors)

    async def _counted(
        self, step: str, given: object, call: Callable[[CallContext], Awaitable[Answer]]
    ) -> Any:
        """Make one call as a step, and add what it used to the attempt's tally."""
        tally, clock = self.attempt.tally, self.ports.clock

        async def work(refusals: int) -> StepValue:
            before = clock.monotonic()
            context, cut = self._context(step, refusals)
            try:
                answer = await call(context)
            except AttemptFailed as failed:
                if cut and failed.failure.error_class is ErrorClass.TIMEOUT:
                    raise AttemptFailed(ErrorClass.DEADLINE, "deadline_cut") from None
                raise
            finally:
                tally.provider_ms += round((clock.monotonic() - before) * 1000)
            return StepValue(value=answer.value, usage=_usage_of(answer))

        done = await self.attempt.steps.run(step, given, work)
        if done.usage is not None:
            tally.usage = _added(tally.usage or Usage(provider=NAME), done.usage)
        return done.value

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


def _usage_of(answer: Answer) -> Usage:
    return Usage(
        provider=NAME,
        model=answer.model,
        provider_request_id=answer.request_id,
        input_tokens=answer.input_tokens,
        output_tokens=answer.output_tokens,
    )


def _added(usage: Usage, more: Usage) -> Usage:
    return replace(
        usage,
        model=more.model or usage.model,
        provider_request_id=more.provider_request_id or usage.provider_request_id,
        input_tokens=_sum(usage.input_tokens, more.input_tokens),
        output_tokens=_sum(usage.output_tokens, more.output_tokens),
    )


def _sum(total: int | None, more: int | None) -> int | None:
    return total if more is None else (total or 0) + more
