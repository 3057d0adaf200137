"""embed: texts to vectors, in their order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from uketsuke.domain.failure import AttemptFailed, ErrorClass
from uketsuke.domain.job import EncodedResult, InputForm
from uketsuke.domain.lane import Capability
from uketsuke.domain.price import FRAME_TOKENS, Expected, tokens_in
from uketsuke.domain.vectors import VECTORS_TYPE, keep
from uketsuke.kinds.kind import Embeddings, Kind, Work, always_queue

_MOST_TEXTS: Final = 2048
_TEXTS_A_CALL: Final = 64
# A token is at least a byte, and OpenAI takes 300,000 of them a call
# (platform.openai.com/docs/api-reference/embeddings/create).
_BYTES_A_CALL: Final = 200_000
# How often what does not fit the newest answer is asked anew, within one attempt.
_ROUNDS: Final = 2


class EmbedParams(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """embed takes no parameters."""


async def run(work: Work, _params: EmbedParams) -> EncodedResult:
    """Return the vectors in the order of the texts, packed (``domain.vectors``)."""
    texts = await work.texts()
    if len(texts) > _MOST_TEXTS:
        raise AttemptFailed(ErrorClass.TOO_LARGE, "input_too_large")
    batches = list(_batches(texts))
    parts = []
    for number, batch in enumerate(batches):
        await work.progress(number, len(batches))
        parts.append(await work.embed(batch.step, batch.texts))
    await _agree(work, batches, parts)
    await work.progress(len(batches), len(batches))
    content = keep([part.vectors for part in parts], model=parts[0].model)
    return EncodedResult(content=content, content_type=VECTORS_TYPE)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Batch:
    """The texts of one call."""

    step: str
    texts: Sequence[str]


def _batches(texts: Sequence[str]) -> Iterator[_Batch]:
    start, size = 0, 0
    for at, text in enumerate(texts):
        more = len(text.encode())
        if at > start and (at - start == _TEXTS_A_CALL or size + more > _BYTES_A_CALL):
            yield _Batch(step=f"texts-{start}", texts=texts[start:at])
            start, size = at, 0
        size += more
    yield _Batch(step=f"texts-{start}", texts=texts[start:])


async def _agree(work: Work, batches: Sequence[_Batch], parts: list[Embeddings]) -> None:
    """Ask those parts anew that are of another model or size than the newest answer.

    Vectors of two models do not compare. What an earlier attempt has kept may be of the model
    before: the calls have names of this attempt's own, so that no kept part stands in the way for
    ever. Raises ``AttemptFailed`` if the provider goes on changing.
    """
    newest = _sort(parts[-1])
    for turn in range(1, _ROUNDS + 1):
        for number in [n for n, part in enumerate(parts) if _sort(part) != newest]:
            batch = batches[number]
            step = f"{batch.step}-anew-{work.job.attempt_no}.{turn}"
            parts[number] = await work.embed(step, batch.texts)
            newest = _sort(parts[number])
    if any(_sort(part) != newest for part in parts):
        raise AttemptFailed(ErrorClass.UNAVAILABLE, "provider_changed_model")


def _sort(part: Embeddings) -> tuple[str, int]:
    """Say what makes vectors comparable."""
    return part.model, part.vectors.dimensions


def _expects(_form: InputForm, size: int, _params: EmbedParams) -> Expected:
    texts = min(size, _MOST_TEXTS)  # none is empty
    read = tokens_in(size) + texts * (FRAME_TOKENS + 1)
    return Expected(input_tokens=read, calls=_MOST_TEXTS // _TEXTS_A_CALL)


KIND: Final = Kind(
    name="embed",
    params=EmbedParams,
    forms=frozenset({InputForm.TEXTS, InputForm.REF}),
    max_input_bytes=16_777_216,
    engine=always_queue,
    calls=frozenset({Capability.EMBED}),
    expects=_expects,
    run=run,
)
