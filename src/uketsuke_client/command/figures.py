"""The figures of a deployment on one page for eyes: a line for what belongs together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from uketsuke_client import decode
from uketsuke_client.command.screen import printable
from uketsuke_client.decode import JsonObject

_STATES: Final = ("accepted", "running", "retrying", "ready", "delayed")
_ENDS: Final = ("accepted", "succeeded", "failed", "canceled")
_AGES: Final = ("waiting", "due", "running")
_LAGS: Final = ("sweep", "outbox")


def figure_table(raw: JsonObject) -> RenderableType:
    """Return what ``GET /v1/metrics`` tells beside the conditions; nothing that it leaves out."""
    table = Table("figure", "value", box=None, header_style="dim", pad_edge=False)
    for name, value in _lines(raw):
        table.add_row(name, Text(printable(value)))
    return table


def _lines(raw: JsonObject) -> Iterator[tuple[str, str]]:
    backlog, hour = decode.nested(raw, "backlog"), decode.nested(raw, "last_hour")
    if backlog:
        yield "backlog", _counts(backlog, _STATES)
    ages = [f"{name} {_seconds(raw.get(f'oldest_{name}_seconds'))}" for name in _AGES]
    yield "oldest", ", ".join(ages)
    if hour:
        yield from _hour(hour)
    letters = decode.nested(raw, "dead_letters") or {}
    yield "dead letters", _counts(letters, ("open", "past_triage", "expiring"))
    lags = [f"{name} {_seconds(raw.get(f'{name}_lag_seconds'))}" for name in _LAGS]
    yield "lag", ", ".join(lags)
    yield "late writes", str(decode.whole(raw, "late_writes") or 0)


def _hour(hour: JsonObject) -> Iterator[tuple[str, str]]:
    yield "last hour", _counts(hour, _ENDS)
    rates = [f"success {_share(hour, 'success_rate')}", f"retry {_share(hour, 'retry_rate')}"]
    yield "rates", ", ".join(rates)
    for name, member in (("waits", "queue_seconds"), ("runs", "run_seconds")):
        times = decode.nested(hour, member) or {}
        yield name, ", ".join(f"{part} {_seconds(value)}" for part, value in times.items())
    costs = [decode.text(hour, name) for name in ("cost_usd", "failed_cost_usd")]
    whole, failed = (f"${cost}" if cost else "not known" for cost in costs)
    yield "cost", f"{whole}, of failed attempts {failed}"


def _counts(counts: JsonObject, names: tuple[str, ...]) -> str:
    told = [(name, decode.whole(counts, name)) for name in names]
    return ", ".join(f"{value} {name}" for name, value in told if value is not None)


def _share(hour: JsonObject, name: str) -> str:
    share = hour.get(name)
    return f"{share:.1%}" if isinstance(share, int | float) else "-"


def _seconds(value: Any) -> str:
    """Write a time; one that is told to the millisecond is not rounded further if it is short."""
    if not isinstance(value, int | float):
        return "-"
    return f"{value:,.0f} s" if value >= 100 else f"{value:.3g} s"
