"""Read from a chat prompt what the summarizer can act on: the text, a length, and bullets or prose.

The text is the last user message; the other messages are the instruction. Where they ask for no
length, the text may carry the instruction as its first paragraph, as people write it by hand.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from uketsuke_local.models.tokens import wide_characters
from uketsuke_local.models.wire import ChatMessage, Refusal

DEFAULT_WORDS: Final = 120

_MAX_INSTRUCTION_CHARACTERS: Final = 600

_UNITS: Final = {
    "word": "words",
    "words": "words",
    "語": "words",
    "単語": "words",
    "character": "characters",
    "characters": "characters",
    "chars": "characters",
    "字": "characters",
    "文字": "characters",
    "sentence": "sentences",
    "sentences": "sentences",
    "文": "sentences",
    "bullet": "sentences",
    "bullets": "sentences",
}
_LENGTH: Final = re.compile(
    r"(?P<before>[a-z][a-z ]{0,20})?"
    r"(?P<number>\d[\d,]*)[\s-]*"
    r"(?P<unit>words?\b|characters?\b|chars\b|sentences?\b|bullets?\b|単語|語|文字|字|文)"
)
# "max_words: 80", as programs write it
_SETTING: Final = re.compile(
    r"max(?:imum)?[_ ](?P<unit>words|characters)\W{1,4}(?P<number>\d[\d,]*)"
)
_LOWER_BOUND: Final = re.compile(r"(at least|minimum(?: of)?|(?<!no )(?<!not )more than|over)\s*$")
_UPPER_BOUND: Final = re.compile(
    r"(at most|no more than|not more than|up to|within|max(?:imum)?(?: of)?|under|below|"
    r"fewer than|less than)\s*$"
)
_UPPER_BOUND_AFTER: Final = re.compile(r"\s*(or (?:fewer|less)|at most|max|以内|以下|まで|未満)")
# "at most 120 words (at most 240 characters where words are not spaced)"
_UNSPACED_ONLY: Final = re.compile(r"\s*(where words are not spaced|(?:for|in) (?:japan|chin)ese)")
_BULLETS: Final = re.compile(r"(?<!no )(?<!without )\bbullet|箇条書き(?!で?は?な)")
_TASK: Final = re.compile(r"summar|shorten|condense|tl;?dr|bullet|要約|まとめ|箇条書き")


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """What is to be summarized, and how long the summary may be (``None``: no such bound)."""

    text: str
    words: int | None
    characters: int | None
    sentences: int | None
    bullets: bool


def read_assignment(messages: Sequence[ChatMessage]) -> Assignment:
    """Return what ``messages`` ask for, or refuse them if there is no text to summarize."""
    last = next((m for m in reversed(messages) if m.role == "user"), None)
    text = last.text() if last is not None else ""
    instruction = _normal("\n".join(m.text() for m in messages if m is not last))

    bounds = _bounds(instruction, text)
    if not bounds:
        opening, text = _split_instruction(text)
        instruction = f"{instruction}\n{opening}"
        bounds = _bounds(instruction, text)
    if not any(character.isalnum() for character in text):
        raise Refusal("The last user message has no text to summarize.", code="invalid_value")

    return Assignment(
        text=text,
        words=bounds.get("words", None if bounds else DEFAULT_WORDS),
        characters=bounds.get("characters"),
        sentences=bounds.get("sentences"),
        bullets=bool(_BULLETS.search(instruction)),
    )


def _split_instruction(text: str) -> tuple[str, str]:
    """Return the instruction that opens ``text``, if it reads like one, and the rest."""
    head, _, rest = text.partition("\n")
    opening = _normal(head)
    if not rest.strip() or len(opening) > _MAX_INSTRUCTION_CHARACTERS:
        return "", text
    is_instruction = _TASK.search(opening) and (_bounds(opening, rest) or _asks(opening))
    return (opening, rest) if is_instruction else ("", text)


def _asks(opening: str) -> bool:
    """Whether a line is a request: it starts with its verb or announces the text."""
    return bool(re.match(r"(please\s+)?(summar|shorten|condense|tl;?dr)", opening)) or (
        opening.rstrip().endswith((":", "ください。", "ください", "して。", "しろ。"))
    )


def _bounds(instruction: str, text: str) -> dict[str, int]:
    """Return the upper bounds that are for ``text``; an explicit one ("at most") wins."""
    explicit: dict[str, int] = {}
    mentioned: dict[str, int] = {}
    spaced = wide_characters(text) * 2 < len(text)
    for match in _LENGTH.finditer(instruction):
        before = match["before"] or ""
        if _LOWER_BOUND.search(before):
            continue
        if spaced and _UNSPACED_ONLY.match(instruction, match.end()):
            continue
        is_bound = _UPPER_BOUND.search(before) or _UPPER_BOUND_AFTER.match(instruction, match.end())
        found = explicit if is_bound else mentioned
        found[_UNITS[match["unit"]]] = _number(match["number"])
    for match in _SETTING.finditer(instruction):
        explicit[match["unit"]] = _number(match["number"])
    return mentioned | explicit


def _number(digits: str) -> int:
    # Longer than this is no length of a summary, and int() refuses thousands of digits.
    return max(1, int(digits.replace(",", "")[:9]))


def _normal(text: str) -> str:
    """Return lower case with full-width digits and letters made plain."""
    return unicodedata.normalize("NFKC", text).lower()
