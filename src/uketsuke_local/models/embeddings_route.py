"""``POST /v1/embeddings``: vectors of 384 numbers, normalized, one a text.

e5 embeds documents and questions differently. Documents are the default; for questions, write
``"input_type": "query"`` or ask for the model ``multilingual-e5-small-query``.
"""

from __future__ import annotations

import base64
from functools import partial
from typing import Any, Final

import numpy as np
from starlette.requests import Request
from starlette.responses import Response

from uketsuke_local.models.calls import Workshop
from uketsuke_local.models.embedding_engine import Vectors, slices
from uketsuke_local.models.names import DIMENSIONS, EMBEDDING_MODEL, QUERY_MODES
from uketsuke_local.models.tokens import estimated_tokens
from uketsuke_local.models.wire import (
    EmbeddingRequest,
    Refusal,
    decode,
    json_response,
    unknown_model,
)

# OpenAI's bound on one text; on all of a call ours, about 100 s of work.
_MAX_TEXT_TOKENS: Final = 8_192
_MAX_CALL_TOKENS: Final = 100_000


async def answer_embeddings(shop: Workshop, request: Request) -> Response:
    asked = decode(await request.body(), EmbeddingRequest)
    query = _is_query(asked)
    tokens = _checked_tokens(asked)
    with shop.embedding_lane.place():
        pieces = [
            await shop.embedding_lane.run(partial(shop.embedding.vectors, piece, query=query))
            for piece in slices(asked.texts())
        ]
    vectors = np.concatenate(pieces)
    return json_response(
        {
            "object": "list",
            "data": _items(vectors, as_base64=asked.encoding_format == "base64"),
            "model": EMBEDDING_MODEL,
            "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
        }
    )


def _is_query(asked: EmbeddingRequest) -> bool:
    if asked.model not in QUERY_MODES:
        raise unknown_model(asked.model, known=list(QUERY_MODES))
    if asked.dimensions not in (None, DIMENSIONS):
        raise Refusal(f"'dimensions' can only be {DIMENSIONS}.", code="invalid_value")
    if asked.input_type is not None:
        return asked.input_type == "query"
    return QUERY_MODES[asked.model]


def _checked_tokens(asked: EmbeddingRequest) -> int:
    counts = [estimated_tokens(text) for text in asked.texts()]
    if not all(counts):
        raise Refusal("'input' must not hold an empty string.", code="invalid_value")
    if max(counts) > _MAX_TEXT_TOKENS or sum(counts) > _MAX_CALL_TOKENS:
        raise Refusal(
            f"A text may have {_MAX_TEXT_TOKENS} tokens, a call {_MAX_CALL_TOKENS}.",
            code="context_length_exceeded",
        )
    return sum(counts)


def _items(vectors: Vectors, *, as_base64: bool) -> list[dict[str, Any]]:
    rows = (
        # float32 in little-endian order, as OpenAI's clients read it
        [base64.b64encode(row.astype("<f4").tobytes()).decode() for row in vectors]
        if as_base64
        else vectors.tolist()
    )
    return [
        {"object": "embedding", "index": index, "embedding": row} for index, row in enumerate(rows)
    ]
