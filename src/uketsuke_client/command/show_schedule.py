"""Schedules as people read them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from uketsuke_client.command.screen import printable
from uketsuke_client.schedule import Last, Schedule

_HEAD = ("name", "cron", "zone", "kind", "next", "last")
_EXCERPT = 60


def next_of(schedule: Schedule) -> str:
    if not schedule.enabled:
        return "disabled"
    return _minute(schedule.next_at) if schedule.next_at else "never"


def schedule_lines(schedule: Schedule) -> str:
    """Return a schedule as plain ``name: value`` lines."""
    return "\n".join(f"{name}: {value}" for name, value in _facts(schedule))


def schedule_table(schedule: Schedule) -> RenderableType:
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in _facts(schedule):
        table.add_row(name, Text(printable(value)))
    return table


def schedule_list_lines(schedules: Iterable[Schedule]) -> str:
    return "\n".join("\t".join(_cells(schedule)).rstrip("\t") for schedule in schedules)


def schedule_list_table(schedules: Sequence[Schedule]) -> RenderableType:
    told_whose = any(map(_seen_by_an_operator, schedules))
    head = ("tenant", *_HEAD) if told_whose else _HEAD
    table = Table(*head, box=None, header_style="dim", pad_edge=False)
    for schedule in schedules:
        tenant = (schedule.tenant_id or "",) if told_whose else ()
        style = "" if schedule.enabled else "dim"
        cells = (*tenant, *_cells(schedule))
        table.add_row(*(Text(printable(cell), style=style) for cell in cells))
    return table


def _seen_by_an_operator(schedule: Schedule) -> bool:
    return schedule.input is None


def _cells(schedule: Schedule) -> tuple[str, ...]:
    return (
        schedule.name,
        schedule.cron,
        schedule.timezone or "",
        schedule.kind,
        next_of(schedule),
        _shown_last(schedule.last),
    )


def _facts(schedule: Schedule) -> Iterator[tuple[str, str]]:
    yield "name", schedule.name
    if _seen_by_an_operator(schedule):
        yield "tenant", schedule.tenant_id or ""
    yield "cron", f"{schedule.cron} ({schedule.timezone})"
    yield "next", next_of(schedule)
    if schedule.last:
        yield "last", _shown_last(schedule.last)
    yield "kind", schedule.kind
    for form, given in (schedule.input or {}).items():
        yield form, _excerpt(given)
    for name, value in (schedule.params or {}).items():
        yield name.replace("_", " "), str(value)
    yield "overlap", schedule.overlap or ""
    if schedule.run_key:
        yield "run key", schedule.run_key


def _shown_last(last: Last | None) -> str:
    if last is None:
        return ""
    at = _minute(last.at) if last.at else ""
    return " ".join(filter(None, (at, last.outcome, last.job_id)))


def _minute(at: datetime) -> str:
    # Occurrences are whole minutes.
    return at.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")


def _excerpt(given: Any) -> str:
    if isinstance(given, list):
        return ", ".join(_excerpt(one) for one in given[:3]) + (", …" if len(given) > 3 else "")
    text = str(given)
    line = " ".join(text[: _EXCERPT * 2].split())
    return line if len(text) <= _EXCERPT else f"{line[:_EXCERPT]}… ({len(text)} characters)"
