"""``uketsuke usage``: what was used and what it cost, day by day."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Annotated, TypeAlias

import typer
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from uketsuke_client.command.blocks import Row, blocks, width_as_table
from uketsuke_client.command.option import DEFAULT_URL, Json, Key, Url
from uketsuke_client.command.schedule import Tenant
from uketsuke_client.command.screen import printable
from uketsuke_client.command.session import session
from uketsuke_client.usage import Budget, UsageReport, Used

Day: TypeAlias = str | None
From: TypeAlias = Annotated[
    Day, typer.Option("--from", metavar="DAY", help="The first day, as 2026-11-01. Else 30 days.")
]
To: TypeAlias = Annotated[
    Day, typer.Option("--to", metavar="DAY", help="The last day, included. Else today (UTC).")
]
OfKind: TypeAlias = Annotated[
    str | None, typer.Option("--kind", metavar="KIND", help="Of this kind of job only.")
]

_HEAD = ("day", "kind", "model", "attempts", "failed", "tokens", "audio", "cost", "of failures")
_NUMBERS = _HEAD[3:]
_NARROW_HEAD = ("day", "attempts", "failed", "cost", "of failures")


def usage(
    first: From = None,
    last: To = None,
    kind: OfKind = None,
    tenant: Tenant = None,
    url: Url = DEFAULT_URL,
    key: Key = None,
    json_output: Json = False,
) -> None:
    """Show what was used and what it cost, day by day, and what failed attempts cost of it."""
    with session(url=url, key=key, json_output=json_output) as here:
        report = here.client.usage(start=first, end=last, kind=kind, tenant=tenant)
        width = here.screen.out.width
        here.screen.answer(usage_lines(report), rendered=usage_table(report, width=width))
        here.screen.document(report.raw)


def usage_lines(report: UsageReport) -> str:
    """Return a line an item, its cells parted by tabs, then the sums and the budget."""
    lines = ["\t".join(cells) for cells in _rows(report)]
    return "\n".join([*lines, *_budget_lines(report.budget)])


def usage_table(report: UsageReport, *, width: int) -> RenderableType:
    """Return a table, or blocks where it would be too wide: an amount cut short is a wrong one."""
    head = ("tenant", *_HEAD) if _told_whose(report) else _HEAD
    rows = list(_rows(report))
    shown = _table(head, rows) if width_as_table(head, rows) <= width else _blocks(rows)
    return Group(shown, *(Text(line, style="dim") for line in _budget_lines(report.budget)))


def _table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> Table:
    table = Table(box=None, header_style="dim", pad_edge=False)
    for name in head:
        table.add_column(name, justify="right" if name in _NUMBERS else "left")
    *rows, totals = lines
    for cells in rows:
        table.add_row(*(Text(printable(cell)) for cell in cells))
    table.add_section()
    table.add_row(*(Text(printable(cell), style="bold") for cell in totals))
    return table


def _blocks(lines: Sequence[Sequence[str]]) -> RenderableType:
    *rows, totals = lines
    return blocks(_NARROW_HEAD, [*map(_block, rows), replace(_block(totals), style="bold")])


def _block(cells: Sequence[str]) -> Row:
    *whose, day, kind, model, attempts, failed, tokens, audio, cost, of_failures = cells
    under = ", ".join(filter(None, (*whose, kind, model, tokens, audio)))
    return Row(cells=(day, attempts, failed, cost, of_failures), under=under)


def _told_whose(report: UsageReport) -> bool:
    """Operators see several tenants' use."""
    return len({item.tenant_id for item in report.items}) > 1


def _rows(report: UsageReport) -> Iterator[tuple[str, ...]]:
    told_whose = _told_whose(report)
    for item in report.items:
        whose = (item.tenant_id or "",) if told_whose else ()
        yield (*whose, item.day, item.kind, item.model or "-", *_cells(item.used))
    yield (*(("",) if told_whose else ()), "total", "", "", *_cells(report.totals))


def _cells(used: Used) -> tuple[str, ...]:
    # Nothing failed, so that failures cost nothing, whatever is not known of the others.
    of_failures = used.failed_cost_usd if used.failed_attempts else "0"
    at_least = "≥ " if used.unknown_cost_attempts and used.cost_usd else ""
    return (
        str(used.attempts),
        str(used.failed_attempts),
        f"{used.input_tokens} in, {used.output_tokens} out",
        f"{used.audio_seconds:.0f} s",
        f"{at_least}{_usd(used.cost_usd)}",
        _usd(of_failures),
    )


def _usd(amount: str | None) -> str:
    return "unknown" if amount is None else f"${amount}"


def _budget_lines(budget: Budget | None) -> list[str]:
    if budget is None:
        return []
    told = f"${budget.spent_usd} spent and ${budget.reserved_usd} reserved"
    return [f"today: {told} of ${budget.daily_usd}"]
