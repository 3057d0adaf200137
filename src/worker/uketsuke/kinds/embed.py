"""embed: texts to vectors, in their order."""

from __future__ import annotations

from typing import Final

import msgspec

from uketsuke.domain.failure import AttemptFailed, ErrorClass
from uketsuke.domain.job import InputForm
from uketsuke.kinds.kind import Embeddings, Kind, Result, Work, always_queue

_TEXTS_A_CALL: Final = 64
_MOST_TEXTS: Final = 2048


class EmbedParams(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """embed takes no parameters."""


async def run(work: Work, params: EmbedParams) -> Result:
    """Return ``{"model", "dimensions", "vectors"}``; vectors in the order of the texts."""
    texts = await work.texts()
    if len(texts) > _MOST_TEXTS:
        raise AttemptFailed(ErrorClass.TOO_LARGE, "input_too_large")
    vectors: list[list[float]] = []
    model = ""
    calls = range(0, len(texts), _TEXTS_A_CALL)
    for number, start in enumerate(calls):
        await work.progress(number, len(calls))
        made = await work.embed(f"texts-{start}", texts[start : start + _TEXTS_A_CALL])
        _check_dimensions(vectors, made)
        vectors += [list(vector) for vector in made.vectors]
        model = made.model
    await work.progress(len(calls), len(calls))
    return {"model": model, "dimensions": len(vectors[0]), "vectors": vectors}


def _check_dimensions(so_far: list[list[float]], made: Embeddings) -> None:
    # A provider that changes its model between two calls would give vectors that do not compare.
    if so_far and len(so_far[0]) != len(made.vectors[0]):
        raise AttemptFailed(ErrorClass.UNAVAILABLE, "provider_answer_unusable")


KIND: Final = Kind(
    name="embed",
    params=EmbedParams,
    forms=frozenset({InputForm.TEXTS, InputForm.REF}),
    max_input_bytes=16_777_216,
    engine=always_queue,
    run=run,
)
