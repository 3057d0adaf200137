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


async def run_kind(
    attempt: Attempt, *, kinds: Mapping[str, Kind], provider: OpenAICompatible, ports: Ports
) -> Result:
    """Run the attempt's kind. Raises ``AttemptFailed``, and whatever a kind's own fault raises."""
    kind = kinds.get(attempt.leased.job.kind)
    if kind is None:
        raise AttemptFailed(ErrorClass.NOT_FOUND, "kind_unknown")
    params = msgspec.convert(attempt.leased.job.params, kind.params)
    work = AttemptWork(attempt=attempt, provider=provider, ports=ports)
    return await kind.run(work, params)


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptWork:
    """``kinds.kind.Work`` for one attempt."""

    attempt: Attempt
    provider: OpenAICompatible
    ports: Ports

    @property
    def job(self) -> Job:
        return self.attempt.leased.job

    async def text(self) -> str:
        return await inputs.load_text(self.attempt.leased, ports=self.ports)

    async def texts(self) -> Sequence[str]:
        return await inputs.load_texts(self.attempt.leased, ports=self.ports)

    async def progress(self, done: int, total: int) -> None:
        self.attempt.keeper.note_progress(self.job.key, Progress(done=done, total=total))

    async def chat(self, call: Chat) -> str:
        provider, model = self.provider, self.ports.settings.chat_model
        text: str = await self._counted(
            call.step,
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
            step, lambda context: provider.embed(model=model, texts=texts, context=context)
        )
        return Embeddings(model=model, vectors=vectors)

    async def _counted(self, step: str, call: Callable[[CallContext], Awaitable[Answer]]) -> Any:
        """Make one call and add what it used to the attempt's tally."""
        tally, clock = self.attempt.tally, self.ports.clock
        before = clock.monotonic()
        try:
            answer = await call(self._context(step))
        finally:
            tally.provider_ms += round((clock.monotonic() - before) * 1000)
        tally.usage = _added(tally.usage or Usage(provider=NAME), answer)
        return answer.value

    def _context(self, step: str) -> CallContext:
        leased = self.attempt.leased
        limit = self.ports.settings.attempt_limit
        left = self.attempt.time_left(now=self.ports.clock.monotonic(), limit=limit)
        # A little sooner than the attempt itself, so that the failure gets its right name.
        return CallContext(
            idempotency_key=f"{leased.job.id}.{step}.{leased.call_epoch}",
            timeout=max(left * 0.95, timedelta(milliseconds=10)),
            traceparent=leased.job.traceparent,
        )


def _added(usage: Usage, answer: Answer) -> Usage:
    return replace(
        usage,
        model=answer.model or usage.model,
        provider_request_id=answer.request_id or usage.provider_request_id,
        input_tokens=_sum(usage.input_tokens, answer.input_tokens),
        output_tokens=_sum(usage.output_tokens, answer.output_tokens),
    )


def _sum(total: int | None, more: int | None) -> int | None:
    return total if more is None else (total or 0) + more
