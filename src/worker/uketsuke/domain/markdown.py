"""Other people's words in a Markdown document of ours: shown as they are, and nothing more.

A model's text may hold headings, links, tables or HTML, by accident or because its source wanted
it. Escaped, they are letters: the document keeps the structure that we gave it.
"""

from __future__ import annotations

import re
from typing import Final

# CommonMark 0.31 and GitHub's extensions: what acts anywhere in a line ...
_ANYWHERE: Final = re.compile(r"[\\`*_\[\]<>&|~$#]")
# ... what links by itself ...
_LINKS: Final = re.compile(r"(?i)(?<=http)(?=://)|(?<=https)(?=://)|(?<=ftp)(?=://)|(?<=www)(?=\.)")
_ADDRESS: Final = re.compile(r"@")
# ... and what acts at the start of one.
_SIGN_FIRST: Final = re.compile(r"^[+=-]")
_NUMBER_FIRST: Final = re.compile(r"^(\d+)([.)])")
# CommonMark 0.31, section 2.4: any ASCII punctuation may be escaped.
_ESCAPED: Final = re.compile(r"\\([!-/:-@\[-`{-~])")


def literal(text: str) -> str:
    """Return ``text`` as Markdown that shows it as plain paragraphs, line by line."""
    lines = [_line(line.strip()) for line in text.splitlines()]
    # One blank line parts two paragraphs, however many there were.
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip("\n")


def literal_line(text: str) -> str:
    """Return ``text`` as Markdown that shows it in one line."""
    return _line(" ".join(text.split()))


def words(markdown: str) -> str:
    """Take the escapes off again: what ``literal`` has written, as it was; other marks stay."""
    return _ESCAPED.sub(r"\1", markdown)


def _line(line: str) -> str:
    line = _ANYWHERE.sub(r"\\\g<0>", line)
    line = _ADDRESS.sub(r"\\@", _LINKS.sub(r"\\", line))
    return _NUMBER_FIRST.sub(r"\1\\\2", _SIGN_FIRST.sub(r"\\\g<0>", line))
