"""The log line of a call of a model, by OpenTelemetry's names for such a call."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from uketsuke.domain.lane import Capability, Lane
from uketsuke.domain.trace import SPAN_BYTES, Span
from uketsuke.providers.port import Answer
from uketsuke.services.execute import Attempt
from uketsuke.services.ports import Ports
from uketsuke.services.tell import span_of, spent, trace_of, traced
from uketsuke.telemetry import Fields, GenAi, event

# There is no name for hearing yet: this one is ours.
_OPERATIONS: Final = {
    Capability.CHAT: "chat",
    Capability.EMBED: "embeddings",
    Capability.TRANSCRIBE: "transcribe",
}
# What a provider calls its model is its own text: what does not look like a name is left out.
_MODEL_NAME: Final = re.compile(r"[A-Za-z0-9@][A-Za-z0-9@._:/+-]{0,99}")


@dataclass(frozen=True, slots=True, kw_only=True)
class CallLine:
    """One call under way, from ``began`` (monotonic seconds); its span is within its attempt's."""

    attempt: Attempt
    lane: Lane
    capability: Capability
    began: float
    span: Span | None

    @classmethod
    def begin(
        cls, attempt: Attempt, lane: Lane, capability: Capability, *, ports: Ports
    ) -> CallLine:
        above = span_of(attempt.leased.job)
        return cls(
            attempt=attempt,
            lane=lane,
            capability=capability,
            began=ports.clock.monotonic(),
            span=above.child(ports.dice.entropy(SPAN_BYTES)) if above else None,
        )

    @property
    def traceparent(self) -> str | None:
        """What the provider is told of the trace."""
        return self.span.traceparent if self.span else None

    def tell(self, answer: Answer | None, error: str | None, *, now: float) -> None:
        """Write how the call ended; ``error`` is our code for it, if there is no answer."""
        begin, end = (self.attempt.database_time(now=moment) for moment in (self.began, now))
        told: Fields = {
            **trace_of(self.attempt.leased),
            **spent(begin, end),
            **traced(self.span),
            **self._asked(),
            **_answered(answer),
        }
        if error is not None:
            told["error.type"] = error
        event("provider_called", **told)

    def _asked(self) -> GenAi:
        return {
            "gen_ai.operation.name": _OPERATIONS[self.capability],
            "gen_ai.provider.name": self.lane.provider,
            "gen_ai.request.model": self.lane.model,
        }


def _answered(answer: Answer | None) -> GenAi:
    told: GenAi = {}
    if answer is None:
        return told
    if answer.model is not None and _MODEL_NAME.fullmatch(answer.model):
        told["gen_ai.response.model"] = answer.model
    if answer.input_tokens is not None:
        told["gen_ai.usage.input_tokens"] = answer.input_tokens
    if answer.output_tokens is not None:
        told["gen_ai.usage.output_tokens"] = answer.output_tokens
    return told
