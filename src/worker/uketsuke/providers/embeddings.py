"""Vectors in a provider's answer: held against the texts, and packed as they come."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any, Final

from uketsuke.domain.vectors import Vectors, pack
from uketsuke.kinds.kind import Embeddings
from uketsuke.providers.meaning import Fault, fault
from uketsuke.providers.port import Answer

# Far more than any model has; what is longer is a mistake.
MOST_DIMENSIONS: Final = 16_384


def vectors_of(document: Mapping[str, Any], *, count: int) -> Vectors:
    """Read ``data`` as OpenAI's embeddings route answers it; rows in the order of the texts."""
    try:
        entries = sorted(document["data"], key=lambda entry: entry["index"])
        indexes = [entry["index"] for entry in entries]
        rows = [entry["embedding"] for entry in entries]
    except (LookupError, TypeError):
        raise fault(Fault.VECTORS_UNFIT) from None
    if indexes != list(range(count)):
        raise fault(Fault.VECTORS_UNFIT)
    return packed_rows(rows, count=count)


def packed_rows(rows: Sequence[object], *, count: int) -> Vectors:
    """Pack one row a text. Raises ``AttemptFailed`` for what cannot be used."""
    lists = [row for row in rows if isinstance(row, list) and len(row) <= MOST_DIMENSIONS]
    if not len(rows) == len(lists) == count:
        raise fault(Fault.VECTORS_UNFIT)
    try:
        return pack(lists)
    except ValueError:
        raise fault(Fault.VECTORS_UNFIT) from None


def written(answer: Answer, *, asked: str, count: int) -> dict[str, object]:
    """Return an answer's vectors as JSON, as a step keeps them: a third more than their bytes."""
    vectors = answer.value
    if not isinstance(vectors, Vectors) or vectors.count != count:
        raise fault(Fault.VECTORS_UNFIT)
    return {
        "model": answer.model or asked,
        "dimensions": vectors.dimensions,
        "packed": base64.b64encode(vectors.packed).decode(),
    }


def read_written(kept: Mapping[str, Any]) -> Embeddings:
    """Read what ``written`` wrote."""
    packed = base64.b64decode(kept["packed"])
    vectors = Vectors(dimensions=kept["dimensions"], packed=packed)
    return Embeddings(model=kept["model"], vectors=vectors)
