"""The room that a summary may fill, in words, characters, sentences and tokens at once."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

from uketsuke_local.models.tokens import WIDE, estimated_tokens, wide_characters


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """What still fits; infinite where nothing was asked."""

    words: float
    characters: float
    sentences: float
    tokens: float

    def fits(self, item: str) -> bool:
        return (
            word_count(item) <= self.words
            and len(item) <= self.characters
            and self.sentences >= 1
            and estimated_tokens(item) <= self.tokens
        )

    def without(self, item: str) -> Room:
        """Return what is left after ``item`` and what joins it to the next one."""
        return Room(
            words=self.words - word_count(item),
            characters=self.characters - len(item) - 1,
            sentences=self.sentences - 1,
            tokens=self.tokens - estimated_tokens(f"{item} "),
        )


def word_count(text: str) -> float:
    """Count words as translators do: two Chinese or Japanese characters are one."""
    return wide_characters(text) / 2 + len(WIDE.sub(" ", text).split())


def cut_to(item: str, room: Room) -> str:
    """Return the longest beginning of ``item`` that fits with its ellipsis, if any does."""
    # The first length that does not fit; longer ones fit even less.
    length = bisect_left(range(1, len(item) + 1), True, key=lambda n: not room.fits(f"{item[:n]}…"))
    kept = item[:length]
    at_word = kept.rstrip() if WIDE.search(kept[-1:]) else kept.rpartition(" ")[0] or kept
    return f"{at_word.rstrip()}…"
