"""What an attempt offers to its kind: the input, the models, its plan, progress."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import msgspec

from uketsuke.domain.failure import AttemptFailed, ErrorClass
from uketsuke.domain.job import Job, Progress
from uketsuke.domain.lane import Capability
from uketsuke.domain.long_text import Text
from uketsuke.domain.price import FRAME_TOKENS, Expected, tokens_in
from uketsuke.kinds.kind import Chat, Embeddings, Kind, Result
from uketsuke.providers import input as inputs
from uketsuke.providers.calls import Calls, Providers
from uketsuke.providers.embeddings import read_written, written
from uketsuke.providers.port import Answer, CallContext, Provider
from uketsuke.services.execute import Attempt
from uketsuke.services.ports import Ports
from uketsuke.services.steps import StepValue

# In what a step is known by: one that was kept in another form is asked anew.
_VECTORS_FORM: Final = "float32"


async def run_kind(
    attempt: Attempt, *, kinds: Mapping[str, Kind], providers: Providers, ports: Ports
) -> Result:
    """Run the attempt's kind. Raises ``AttemptFailed``, and whatever a kind's own fault raises."""
    kind = kinds.get(attempt.leased.job.kind)
    if kind is None:
        raise AttemptFailed(ErrorClass.NOT_FOUND, "kind_unknown")
    params = msgspec.convert(attempt.leased.job.params, kind.params)
    members = {name: known.gives for name, known in kinds.items() if known.gives}
    work = AttemptWork(
        attempt=attempt, kind=kind, providers=providers, ports=ports, members=members
    )
    return await kind.run(work, params)


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptWork:
    """``kinds.kind.Work`` for one attempt. ``members`` tells each kind's ``gives``."""

    attempt: Attempt
    kind: Kind
    providers: Providers
    ports: Ports
    members: Mapping[str, str] = field(default_factory=dict)

    @property
    def job(self) -> Job:
        return self.attempt.leased.job

    async def text(self) -> Text:
        return await inputs.load_text(self.attempt.leased, ports=self.ports)

    async def texts(self) -> Sequence[str]:
        return await inputs.load_texts(self.attempt.leased, ports=self.ports)

    async def source(self, ref: str) -> Text:
        return await inputs.load_source(
            ref, tenant_id=self.job.tenant_id, members=self.members, ports=self.ports
        )

    @property
    def context_tokens(self) -> int:
        return self.ports.settings.chat_context_tokens

    async def plan(
        self, version: int, make: Callable[[], dict[str, Any]], *, step: str = "plan"
    ) -> dict[str, Any]:
        async def first(_refusals: int) -> StepValue:
            return StepValue(value={"version": version, **make()})

        # The same name whatever it was made from: the plan is the job's, not the code's.
        plan: dict[str, Any] = (await self.attempt.steps.run(step, None, first)).value
        if plan["version"] not in self.kind.plan_versions:
            raise AttemptFailed(ErrorClass.NOT_FOUND, "not_supported")
        return plan

    async def progress(self, done: int, total: int) -> None:
        self.attempt.keeper.note_progress(self.job.key, Progress(done=done, total=total))

    async def chat(self, call: Chat) -> str:
        text: str = await self._calls.make(
            call.step,
            [call.system, call.user, call.max_output_tokens],
            Capability.CHAT,
            lambda provider, model, context: provider.chat(
                model=model,
                system=call.system,
                user=call.user,
                max_output_tokens=call.max_output_tokens,
                context=context,
            ),
            expected=call_expects([call.system, call.user], call.max_output_tokens),
        )
        return text

    async def transcribe(self, step: str, language: str | None) -> dict[str, Any]:
        audio = await inputs.load_audio(self.attempt.leased, ports=self.ports)
        heard: dict[str, Any] = await self._calls.make(
            step,
            [audio.object_key, language],
            Capability.TRANSCRIBE,
            lambda provider, model, context: provider.transcribe(
                model=model, audio=audio, language=language, context=context
            ),
        )
        return heard

    async def embed(self, step: str, texts: Sequence[str]) -> Embeddings:
        model = self.ports.settings.lane_of(self.job.kind, Capability.EMBED).model

        async def call(provider: Provider, model: str, context: CallContext) -> Answer:
            answer = await provider.embed(model=model, texts=texts, context=context)
            return replace(answer, value=written(answer, asked=model, count=len(texts)))

        given = [_VECTORS_FORM, model, *texts]
        made = await self._calls.make(
            step, given, Capability.EMBED, call, expected=call_expects(texts, 0)
        )
        return read_written(made)

    @property
    def _calls(self) -> Calls:
        return Calls(
            attempt=self.attempt, kind=self.kind, providers=self.providers, ports=self.ports
        )


def call_expects(texts: Sequence[str], output_tokens: int) -> Expected:
    """Return what one call with these texts uses at most."""
    read = sum(tokens_in(len(text.encode())) + FRAME_TOKENS for text in texts)
    return Expected(input_tokens=read, output_tokens=output_tokens)
