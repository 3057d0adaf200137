"""An extractive summary: the sentences of the text that say most of it, in their order.

Centrality (how near a sentence is to the whole text) picks, MMR keeps the picked from saying the
same thing twice. It invents nothing, is the same each time, and speaks the text's own language.

Embedding is nearly all of the time, about 1 ms a token, so at most ``_MAX_EMBEDDED`` sentences are
embedded, of a bounded total length: the text is cut into that many even stretches, and each sends
the sentence that shares most words with the rest. Of a text over 40,000 characters, paragraphs at
even distances are read, the first and the last included.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import inf
from typing import Final

import numpy as np
from numpy.typing import NDArray

from uketsuke_local.models.embedding_engine import Vectors, weight
from uketsuke_local.models.prompt import Assignment
from uketsuke_local.models.room import Room, cut_to, word_count
from uketsuke_local.models.sentence import blocks, is_sentence, sentences
from uketsuke_local.models.tokens import WIDE

Embed = Callable[[Sequence[str]], Vectors]
Scores = NDArray[np.float32]

_MAX_READ_CHARACTERS: Final = 40_000
_MAX_EMBEDDED: Final = 40
_MIN_EMBEDDED: Final = 12
_EMBEDDED_WEIGHT: Final = 2_400
# The gist of a sentence is in its first part; longer ones are embedded by it.
_SENTENCE_WEIGHT: Final = 200
_PER_SENTENCE_WEIGHT: Final = 18  # the mode's prefix and the model's two marks

_FULL_WEIGHT: Final = 80  # from here on, a sentence is long enough to say something
_LEAST_RELEVANCE: Final = 0.35  # room that is left is not filled with what says less
_RELEVANCE: Final = 0.7  # MMR's lambda: the rest is novelty
_LEAD: Final = 0.1  # texts open with what they are about

_LIST_MARK: Final = re.compile(r"^(?:[-*+•・◦>]|\d{1,3}[.)])\s+")
_TERM: Final = re.compile(r"[^\W\d_]{3,}|[\u30a0-\u30ff\u4e00-\u9fff]{2}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    text: str
    cut: bool  # the best sentence was cut because max_tokens left no room for a whole one


def summarize(assignment: Assignment, *, max_tokens: int | None, embed: Embed) -> Summary:
    """Return a summary within all bounds, and within half of the text where that can be."""
    candidates = _preselected(_candidates(assignment.text))
    vectors = embed([_opening(sentence) for sentence in candidates])
    relevance = _relevance(candidates, vectors)
    mark = "- " if assignment.bullets else ""
    items = [f"{mark}{sentence}" for sentence in candidates]

    room = _room(assignment, max_tokens)
    half = replace(room, words=min(room.words, word_count(assignment.text) / 2))
    # A text of one long sentence has no half; then its best sentence is the summary.
    chosen = _chosen(items, vectors, relevance, room=half) or _chosen(
        items, vectors, relevance, room=replace(room, sentences=1)
    )
    if chosen:
        return Summary(text=_joined([items[index] for index in sorted(chosen)]), cut=False)
    best = items[int(np.argmax(relevance))]
    return Summary(text=cut_to(best, room), cut=replace(room, tokens=inf).fits(best))


def _candidates(text: str) -> list[str]:
    """Return the text's sentences, each once, in order; headings only if there is nothing else."""
    found = [sentence for block in _spread(blocks(text)) for sentence in sentences(block)]
    plain = dict.fromkeys(_unmarked(sentence) for sentence in found)
    return [s for s in plain if is_sentence(s)] or [s for s in plain if s] or found


def _unmarked(sentence: str) -> str:
    """Drop what Markdown puts around a sentence: a list's mark, bold, half of an emphasis."""
    plain = _LIST_MARK.sub("", sentence).replace("**", "").strip()
    return plain if plain.count("*") % 2 == 0 else plain.strip("*").strip()


def _spread(paragraphs: list[str]) -> list[str]:
    """Return all of a text's blocks, or an even spread of as many as are read."""
    total = sum(map(len, paragraphs))
    if total <= _MAX_READ_CHARACTERS:
        return paragraphs
    count = max(2, len(paragraphs) * _MAX_READ_CHARACTERS // total)
    places = np.linspace(0, len(paragraphs) - 1, count).round().astype(int)
    return [paragraphs[place] for place in places]


def _preselected(found: list[str]) -> list[str]:
    """Return the best-connected sentence of each of as many stretches as can be embedded."""
    mean = sum(min(weight(s), _SENTENCE_WEIGHT) + _PER_SENTENCE_WEIGHT for s in found) / len(found)
    count = max(_MIN_EMBEDDED, min(_MAX_EMBEDDED, int(_EMBEDDED_WEIGHT / mean)))
    if len(found) <= count:
        return found
    scores = _connectedness(found)
    edges = [len(found) * stretch // count for stretch in range(count + 1)]
    return [found[max(range(a, b), key=scores.__getitem__)] for a, b in pairwise(edges)]


def _connectedness(found: list[str]) -> list[float]:
    """Score sentences by how many others share their terms, without any model.

    A term of more than a third of the sentences is a stop word, in whatever language.
    """
    terms = [set(_TERM.findall(sentence.lower())) for sentence in found]
    spread = Counter(term for sentence in terms for term in sentence)
    too_common = max(3, len(found) // 3)
    return [
        sum(spread[term] for term in sentence if 1 < spread[term] <= too_common)
        / (len(sentence) + 8)
        for sentence in terms
    ]


def _opening(sentence: str) -> str:
    kept = sentence[:_SENTENCE_WEIGHT]
    return kept if weight(kept) <= _SENTENCE_WEIGHT else kept[: _SENTENCE_WEIGHT // 2]


def _chosen(items: list[str], vectors: Vectors, relevance: Scores, *, room: Room) -> list[int]:
    """Return the places of the items that MMR takes, best first, while there is room."""
    likeness = _scaled(vectors @ vectors.T)
    redundancy = np.zeros(len(items), dtype=np.float32)
    waiting = list(range(len(items)))
    chosen: list[int] = []
    while waiting:
        scores = _RELEVANCE * relevance - (1 - _RELEVANCE) * redundancy
        best = max(waiting, key=scores.__getitem__)
        waiting.remove(best)
        if room.fits(items[best]) and (not chosen or relevance[best] >= _LEAST_RELEVANCE):
            room = room.without(items[best])
            chosen.append(best)
            redundancy = np.maximum(redundancy, likeness[best])
    return chosen


def _relevance(candidates: list[str], vectors: Vectors) -> Scores:
    """Score how much of the text each sentence says.

    A short one lies near the middle of everything, like a title, and says little: it counts less.
    """
    centrality = _scaled(vectors @ vectors.mean(axis=0))
    lead = _LEAD * np.linspace(1, 0, len(vectors), dtype=np.float32)
    fullness = [min(1.0, weight(sentence) / _FULL_WEIGHT) for sentence in candidates]
    return np.asarray((centrality + lead) * fullness, dtype=np.float32)


def _scaled(scores: Scores) -> Scores:
    """Stretch to 0…1: e5's cosines lie close together, and only their order says something."""
    low, high = scores.min(), scores.max()
    return (scores - low) / (high - low) if high > low else np.zeros_like(scores)


def _room(assignment: Assignment, max_tokens: int | None) -> Room:
    return Room(
        words=assignment.words or inf,
        characters=assignment.characters or inf,
        sentences=assignment.sentences or inf,
        tokens=max_tokens or inf,
    )


def _joined(items: list[str]) -> str:
    if items[0].startswith("- "):
        return "\n".join(items)
    text = items[0]
    for item in items[1:]:
        # Japanese puts no space between sentences.
        text += item if WIDE.match(text[-1]) else f" {item}"
    return text
