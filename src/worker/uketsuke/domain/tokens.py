"""How many tokens a text may be to a model whose vocabulary nobody knows: for what people write, at
least as many as there are.

Each character has a weight of its own, so the estimate of a text is at most the sum of its parts'
and never less than that of any part. Only what nobody reads, such as keys and encoded files, may be
more: a model that finds it too large says so.
"""

from __future__ import annotations

import string
from typing import Final

# Counted in thirds of a token, so that everything stays whole.
_LETTER: Final = 1  # a small one of ASCII
_SPACE: Final = 2  # part of a word's token, unless there are many
_SIGN: Final = 3  # capitals, digits, punctuation, line ends: each may be a token of its own
_WIDE: Final = 6  # any other character: kana and Han are one to two
_ASTRAL: Final = 12  # beyond the basic plane, emoji among them: four bytes

_LETTERS: Final = string.ascii_lowercase.encode()


def estimate_tokens(text: str) -> int:
    """Return how many tokens ``text`` is at most, reckoned generously."""
    plain = text.encode("ascii", "ignore")
    spaces = plain.count(b" ")
    signs = len(plain.translate(None, _LETTERS)) - spaces
    letters = len(plain) - spaces - signs
    # UTF-16 takes a second unit for what lies beyond the basic plane.
    astral = len(text.encode("utf-16-le", "surrogatepass")) // 2 - len(text)
    wide = len(text) - len(plain) - astral
    thirds = letters * _LETTER + spaces * _SPACE + signs * _SIGN + wide * _WIDE + astral * _ASTRAL
    return -(-thirds // 3)
