"""The estimate of tokens behind every ``usage`` of this server.

A provider counts with its model's own vocabulary. Here one rule serves all routes, so that a
number can be checked by hand: a Chinese, Japanese or Korean character is one token, and every
four other characters are one, rounded up. (It errs high for English, about right for Japanese.)
"""

from __future__ import annotations

import re
from typing import Final

# Kana, Han, Hangul, full-width forms and their punctuation.
WIDE: Final = re.compile(
    r"[\u3000-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]"
)


def wide_characters(text: str) -> int:
    return sum(1 for _ in WIDE.finditer(text))


def estimated_tokens(text: str) -> int:
    wide = wide_characters(text)
    return wide + -(-(len(text) - wide) // 4)
