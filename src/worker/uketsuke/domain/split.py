"""Cutting a text into pieces that a model can take, at the best place there is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from uketsuke.domain.long_text import Text

# Where a sentence ends; Japanese needs no space after it. A run of dots is looked at once, as a
# whole: begun anew at each of them, a line of nothing else would take minutes.
_SENTENCE_END: Final = re.compile(r"[。！？]+[」』）]*|(?<![.!?])[.!?]++[\"')\]]*+(?=\s)")
# Best first: between paragraphs, between lines, after a sentence, between words. What matches stays
# with the piece before.
_BREAKS: Final = (
    re.compile(r"\n[ \t\u3000]*\n\s*"),
    re.compile(r"\n"),
    _SENTENCE_END,
    re.compile(r"[\s、,;]+"),
)


def cut_text(text: Text, *, size: int) -> list[tuple[int, int]]:
    """Cut ``text`` into pieces of at most ``size`` characters, near-equal, none of them blank.

    Return where each begins and ends. Joined again they give the text back, but for white space at
    the cuts.
    """
    if size < 1:
        raise ValueError("a piece holds at least one character")
    spans = (_stripped(text, start, end) for start, end in _pieces(text, size))
    return [(start, end) for start, end in spans if start < end]


def sentences_in(text: str) -> list[str]:
    """Return a text's sentences. Nothing but white space between them is lost."""
    cuts = [0, *(found.end() for found in _SENTENCE_END.finditer(text)), len(text)]
    sentences = [text[start:end].strip() for start, end in pairwise(cuts)]
    return [sentence for sentence in sentences if sentence]


def _stripped(text: Text, start: int, end: int) -> tuple[int, int]:
    piece = text[start:end]
    return end - len(piece.lstrip()), start + len(piece.rstrip())


def _pieces(text: Text, size: int) -> Iterator[tuple[int, int]]:
    start = 0
    while len(text) - start > size:
        left = len(text) - start
        # Near-equal pieces: a last one of three words would be summarized to three words.
        aim = -(-left // -(-left // size))
        cut = start + _best_cut(text[start : start + size], aim)
        yield start, cut
        start = cut
    yield start, len(text)


def _best_cut(window: str, aim: int) -> int:
    """Return where to cut: the best kind of break between half the aim and the window's end."""
    floor = aim // 2
    for breaks in _BREAKS:
        cuts = [found.end() for found in breaks.finditer(window) if floor < found.end()]
        if cuts:
            return min(cuts, key=lambda cut: abs(cut - aim))
    return len(window)
