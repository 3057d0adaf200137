"""Rows too wide for a table: cells in columns, and under each row a line of its own.

A table would break an id or a fingerprint in two, which then cannot be copied.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Group, RenderableType
from rich.text import Text

from uketsuke_client.command.screen import printable


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    cells: Sequence[str]
    under: str
    style: str = ""


def blocks(head: Sequence[str], rows: Sequence[Row]) -> RenderableType:
    """Return the rows under their head; every cell is as wide as its column's widest."""
    lines = [tuple(printable(cell) for cell in row.cells) for row in rows]
    widths = [max(map(len, column)) for column in zip(head, *lines, strict=True)]
    shown = [Text(_line(head, widths), style="dim")]
    for cells, row in zip(lines, rows, strict=True):
        shown += [
            Text(_line(cells, widths), style=row.style),
            Text(f"  {printable(row.under)}", style="dim"),
        ]
    return Group(*shown)


def width_as_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> int:
    """Return how many columns of a terminal a table of these rows takes, if none is cut short."""
    return sum(max(map(len, column)) + 2 for column in zip(head, *rows, strict=True)) - 2


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()
