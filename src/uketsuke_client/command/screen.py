"""Where words go: answers to stdout, everything else to stderr; JSON alone or for people."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Mapping
from typing import Any, TextIO

from rich.console import Console, RenderableType
from rich.text import Text

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def printable(text: str) -> str:
    """Return ``text`` without what a terminal would obey: it came from elsewhere."""
    return _CONTROLS.sub("\N{REPLACEMENT CHARACTER}", text.replace("\r\n", "\n"))


class Screen:
    """With ``json_output``, stdout gets exactly one JSON document; see ``document``."""

    def __init__(self, *, json_output: bool) -> None:
        self.json_output = json_output
        self.out = Console(file=_unbreakable(sys.stdout), highlight=False, markup=False)
        self.err = Console(file=_unbreakable(sys.stderr), highlight=False, markup=False)
        self._documented = False

    def document(self, raw: object) -> None:
        """Print the one document, unless it is printed already. People get none."""
        if not self.json_output or self._documented:
            return
        self._documented = True
        self.out.file.write(self.as_json(raw) + "\n")
        self.out.file.flush()

    def as_json(self, raw: object) -> str:
        """Return ``raw`` as JSON that stdout's encoding can carry."""
        utf8 = "utf" in self.out.encoding.lower()
        return as_json(raw, indent=2 if self.out.is_terminal else None, ascii_only=not utf8)

    def answer(self, text: str, *, rendered: RenderableType | None = None) -> None:
        """Print what was asked for: as it is into a pipe or file, safe and wrapped for eyes."""
        if self.json_output:
            return
        if self.out.is_terminal:
            self.out.print(rendered or Text(printable(text)))
        else:
            self.out.file.write(text + "\n")
            self.out.file.flush()

    def agrees(self, question: str) -> bool:
        """Ask who sits at the terminal. Anything but a yes, the end of input too, is a no."""
        self.err.print(Text(f"{printable(question)} [y/N] "), end="", soft_wrap=True)
        return sys.stdin.readline().strip().lower() in {"y", "yes"}

    def note(self, text: str, *, style: str = "") -> None:
        self.err.print(Text(printable(text), style=style), soft_wrap=True)

    def error(self, lines: Iterable[str]) -> None:
        first, *rest = lines
        self.err.print(Text(f"uketsuke: {printable(first)}", style="red"), soft_wrap=True)
        for line in rest:
            self.note(line)


def as_json(raw: object, *, indent: int | None = None, ascii_only: bool = False) -> str:
    return json.dumps(raw, ensure_ascii=ascii_only, indent=indent, default=_plain)


def _plain(value: object) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} has no JSON")


def _unbreakable(stream: TextIO) -> TextIO:
    """Let a stream escape what its encoding lacks, and lone surrogates."""
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")
    return stream
