"""What a kind of job is: its parameters, the inputs it takes, what runs it, and its work."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated, Any, Final, Protocol, TypeAlias

import msgspec

from uketsuke.domain.job import EncodedResult, InputForm, Job
from uketsuke.domain.lane import Capability
from uketsuke.domain.lifecycle import Engine
from uketsuke.domain.long_text import Text
from uketsuke.domain.price import Expected
from uketsuke.domain.vectors import Vectors
from uketsuke.kinds.expected import expect_by_size
from uketsuke.settings import Settings

LONGEST_TAG: Final = 35
# BCP 47, as far as a model may know it.
LanguageTag: TypeAlias = Annotated[
    str, msgspec.Meta(pattern=r"^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$", max_length=LONGEST_TAG)
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Embeddings:
    """Vectors in the order of the texts, and the model that made them, by its provider's word."""

    model: str
    vectors: Vectors


@dataclass(frozen=True, slots=True, kw_only=True)
class Chat:
    """One call of a chat model. ``step`` names it within the job, for its idempotency key."""

    step: str
    system: str
    user: str
    max_output_tokens: int


class Work(Protocol):
    """What an attempt offers to the kind that it runs.

    Every method may raise ``AttemptFailed``; the attempt's time limit, lease and cancel wish
    reach the kind as the cancellation of whatever it awaits.
    """

    @property
    def job(self) -> Job: ...

    async def text(self) -> Text:
        """The input as one text (forms ``text`` and ``ref``).

        It may be long: ``text[start:end]`` cuts a piece out, ``text[:]`` is all of it.
        """
        ...

    async def texts(self) -> Sequence[str]:
        """The input as several texts (forms ``texts`` and ``ref``, a file of JSON Lines)."""
        ...

    async def chat(self, call: Chat) -> str: ...

    async def source(self, ref: str) -> Text:
        """One of several inputs as a text: an upload, or what another job has brought (``refs``).

        Raises ``AttemptFailed`` for one that is gone, is not text, or holds none.
        """
        ...

    @property
    def context_tokens(self) -> int:
        """How many tokens the chat model takes in and gives out in one call, together."""
        ...

    async def transcribe(self, step: str, language: str | None) -> dict[str, Any]:
        """Hear the input (form ``ref``), which the intake has found to be a recording.

        Return ``{"text", "language" (or None), "segments": [{"start", "end", "text"}],
        "duration_seconds"}``, times in seconds. ``language`` is an ISO 639 code, None to find out.
        """
        ...

    async def embed(self, step: str, texts: Sequence[str]) -> Embeddings: ...

    async def plan(
        self, version: int, make: Callable[[], dict[str, Any]], *, step: str = "plan"
    ) -> dict[str, Any]:
        """Return the plan that this job follows: on a Workflow, the one that it began with.

        A job of several parts may have a plan for each, under a ``step`` of its own. ``make``
        builds it, of version ``version``; it is JSON, small, and holds no content. Newer code must
        go on following the versions that it says it knows (``Kind.plan_versions``).
        """
        ...

    async def progress(self, done: int, total: int) -> None:
        """Show how far the work is. Cheap to call often: not each call is written."""
        ...


# What GET …/result answers: a JSON document, or one that is encoded already.
Result = dict[str, object] | EncodedResult


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One sort of work. Adding a module with one of these to the registry adds the kind.

    ``engine`` is a pure function of the input's form and size in bytes. ``max_input_bytes`` bounds
    the input, uploads included: a larger one is refused at the door. ``calls`` are the sorts of
    model that ``run`` asks, and no others; one that transcribes takes a recording for its ``ref``.
    ``expects`` says ahead, from form, size and parameters, what a job uses at most: budgets reserve
    as much. ``gives`` names the member of the result that is a text which another job can work on,
    None if there is none; one named ``markdown`` is read without its escapes. ``run_limit`` is how
    long one attempt may take on a Workflow; ``plan_versions`` are those that ``run`` can follow.
    """

    name: str
    params: type[msgspec.Struct]
    forms: frozenset[InputForm]
    max_input_bytes: int
    engine: Callable[[InputForm, int], Engine]
    calls: frozenset[Capability]
    # Its second argument is an instance of ``params``.
    run: Callable[[Work, Any], Awaitable[Result]]
    expects: Callable[[InputForm, int, Any], Expected] = expect_by_size
    gives: str | None = None
    run_limit: timedelta = timedelta(hours=6)
    plan_versions: frozenset[int] = frozenset({1})

    @property
    def hears(self) -> bool:
        """Whether its input is a recording."""
        return Capability.TRANSCRIBE in self.calls


def lanes_of(kinds: Mapping[str, Kind], settings: Settings) -> Mapping[str, frozenset[str]]:
    """Return which lanes each kind asks, by the kind's name."""
    return {
        name: frozenset(str(settings.lane_of(name, capability)) for capability in kind.calls)
        for name, kind in kinds.items()
    }


def always_queue(_form: InputForm, _size: int) -> Engine:
    """Seconds of work, whatever the input: one delivery of the queue does it."""
    return Engine.QUEUE
