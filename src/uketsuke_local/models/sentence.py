"""Cut a text into sentences, in English, Japanese and what is written like them.

pysbd finds the ends (abbreviations, decimals, quotes). Its time grows with the square of its
input, 12 s for 100,000 characters, so it sees a block of at most 2,000 at a time.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from functools import cache
from typing import Any, Final

_BLOCK_CHARACTERS: Final = 2_000

_BLANK_LINES: Final = re.compile(r"\n[ \t\r\u3000]*\n\s*")
_KANA: Final = re.compile(r"[\u3040-\u30ff]")
_WIDE_LETTER: Final = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]")
_SENTENCE_END: Final = re.compile(r"[.!?。!?…]['\"”’」』))\]]*$")
_LIST_ITEM: Final = re.compile(r"\s*([-*+•・◦#>|]|\d+[.)]\s)")
# Where a block without blank lines is cut: after a sentence's end, else at a space, else anywhere.
_CUTS: Final = (re.compile(r"[.!?。!?]['\"”’」』))]*\s*"), re.compile(r"\s+"))

# A shorter line was not broken for lack of room.
_WRAPPED_FROM: Final = 40


def blocks(text: str) -> list[str]:
    """Return the paragraphs of ``text``, unwrapped, in pieces of bounded length."""
    paragraphs = (_unwrap(paragraph) for paragraph in _BLANK_LINES.split(text))
    return [piece for paragraph in paragraphs for piece in _pieces(paragraph) if piece.strip()]


def sentences(block: str) -> list[str]:
    """Return the sentences of one block, each exactly as the text has it but for line breaks."""
    found = _segmenter("ja" if _is_japanese(block) else "en").segment(block)
    return [sentence.strip() for sentence in found if sentence.strip()] or [block.strip()]


def is_sentence(text: str) -> bool:
    """Whether ``text`` reads as a sentence, not as a heading, a label or a line of a table."""
    if len(_WIDE_LETTER.findall(text)) * 2 > len(text):
        return len(text) >= 8 and bool(_SENTENCE_END.search(text))
    return len(text.split()) >= 4 and bool(_SENTENCE_END.search(text))


@cache
def _segmenter(language: str) -> Any:
    with warnings.catch_warnings():
        # Its sources have invalid escapes, which later Pythons warn of when they compile them.
        warnings.simplefilter("ignore")
        import pysbd

    return pysbd.Segmenter(language=language, clean=False)


def _is_japanese(block: str) -> bool:
    """Whether the Japanese rules fit: kana, or Chinese, which ends its sentences alike."""
    letters = len(_WIDE_LETTER.findall(block))
    return letters * 2 > len(block) or (letters * 10 > len(block) and bool(_KANA.search(block)))


def _unwrap(paragraph: str) -> str:
    """Join the lines of a hard-wrapped paragraph: pysbd takes every line break for an end."""
    joined: list[str] = []
    for line in paragraph.splitlines():
        if joined and _goes_on(joined[-1], line):
            space = "" if _WIDE_LETTER.match(line) else " "
            joined[-1] = f"{joined[-1].rstrip()}{space}{line.lstrip()}"
        else:
            joined.append(line)
    return "\n".join(joined)


def _goes_on(line: str, following: str) -> bool:
    width = len(line) + len(_WIDE_LETTER.findall(line))
    return (
        width >= _WRAPPED_FROM
        and not _SENTENCE_END.search(line.rstrip())
        and not _LIST_ITEM.match(following)
    )


def _pieces(paragraph: str) -> Iterator[str]:
    while len(paragraph) > _BLOCK_CHARACTERS:
        head = paragraph[:_BLOCK_CHARACTERS]
        cut = next((end for pattern in _CUTS if (end := _last_end(pattern, head))), len(head))
        yield paragraph[:cut]
        paragraph = paragraph[cut:]
    yield paragraph


def _last_end(pattern: re.Pattern[str], text: str) -> int:
    return max((match.end() for match in pattern.finditer(text)), default=0)
