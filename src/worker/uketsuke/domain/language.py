"""A guess at a text's language, good enough to label a result when nobody said."""

from __future__ import annotations

import re
from typing import Final

from uketsuke.domain.long_text import Text

UNDETERMINED: Final = "und"  # BCP 47's word for it

_SCRIPTS: Final = (
    ("ja", re.compile(r"[\u3040-\u30ff]")),  # kana; before Han, which Japanese uses too
    ("ko", re.compile(r"[\uac00-\ud7af]")),
    ("zh", re.compile(r"[\u4e00-\u9fff]")),
    ("ru", re.compile(r"[\u0400-\u04ff]")),
    ("ar", re.compile(r"[\u0600-\u06ff]")),
    ("el", re.compile(r"[\u0370-\u03ff]")),
)
_COMMON_WORDS: Final = {
    "en": frozenset(
        [
            "the",
            "of",
            "and",
            "to",
            "in",
            "is",
            "that",
            "it",
            "was",
            "for",
            "with",
            "as",
            "on",
            "are",
            "by",
            "this",
        ]
    ),
    "de": frozenset(
        [
            "der",
            "die",
            "und",
            "das",
            "ist",
            "nicht",
            "ein",
            "eine",
            "den",
            "zu",
            "mit",
            "von",
            "auf",
            "dem",
        ]
    ),
    "fr": frozenset(
        [
            "le",
            "la",
            "les",
            "des",
            "et",
            "est",
            "une",
            "dans",
            "que",
            "pour",
            "qui",
            "sur",
            "pas",
            "du",
        ]
    ),
    "es": frozenset(
        [
            "el",
            "los",
            "las",
            "una",
            "que",
            "por",
            "con",
            "para",
            "del",
            "se",
            "no",
            "su",
            "como",
            "es",
        ]
    ),
}
_SAMPLE: Final = 4000


def guess_language(text: Text) -> str:
    """Return a BCP 47 tag for the start of ``text``, ``und`` when in doubt."""
    sample = text[:_SAMPLE]
    for tag, script in _SCRIPTS:
        # A few foreign letters in a name are not a language.
        if len(script.findall(sample)) * 20 > len(sample):
            return tag
    words = re.findall(r"[^\W\d_]+", sample.lower())
    scores = {tag: sum(word in common for word in words) for tag, common in _COMMON_WORDS.items()}
    best = max(scores, key=lambda tag: scores[tag])
    return best if scores[best] * 8 > len(words) else UNDETERMINED
