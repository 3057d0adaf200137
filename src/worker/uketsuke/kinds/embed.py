"""embed: texts to vectors, in their order."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

import msgspec

from uketsuke.domain.failure import AttemptFailed, ErrorClass
from uketsuke.domain.job import EncodedResult, InputForm
from uketsuke.domain.lane import Capability
from uketsuke.domain.price import FRAME_TOKENS, Expected, tokens_in
from uketsuke.kinds.kind import Kind, Work, always_queue

_TEXTS_A_CALL: Final = 64
_MOST_TEXTS: Final = 2048


class EmbedParams(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """embed takes no parameters."""


async def run(work: Work, _params: EmbedParams) -> EncodedResult:
    """Return ``{"model", "dimensions", "vectors"}``; vectors in the order of the texts.

    Each call's vectors become JSON as they come: as Python numbers, all of them together would
    take several times the memory.
    """
    texts = await work.texts()
    if len(texts) > _MOST_TEXTS:
        raise AttemptFailed(ErrorClass.TOO_LARGE, "input_too_large")
    rendered: list[str] = []
    model, dimensions = "", 0
    calls = range(0, len(texts), _TEXTS_A_CALL)
    for number, start in enumerate(calls):
        await work.progress(number, len(calls))
        made = await work.embed(f"texts-{start}", texts[start : start + _TEXTS_A_CALL])
        # A provider that changes its model between two calls gives vectors that do not compare.
        if dimensions not in (0, len(made.vectors[0])):
            raise AttemptFailed(ErrorClass.UNAVAILABLE, "provider_answer_unusable")
        model, dimensions = made.model, len(made.vectors[0])
        rendered.append(",".join(map(_render, made.vectors)))
    await work.progress(len(calls), len(calls))
    head = f'{{"model":{json.dumps(model)},"dimensions":{dimensions},"vectors":['
    return EncodedResult(
        content=(head + ",".join(rendered) + "]}").encode(), content_type="application/json"
    )


def _render(vector: Sequence[float]) -> str:
    # Nine digits give every 32-bit float back exactly, and vectors hold no more than that.
    return "[" + ",".join([f"{number:.9g}" for number in vector]) + "]"


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
