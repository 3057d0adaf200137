"""Bulk redrives as people read them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from uketsuke_client.command.age import age
from uketsuke_client.command.blocks import Row, blocks
from uketsuke_client.command.screen import printable
from uketsuke_client.command.show import shown_time
from uketsuke_client.redrive_run import RedrivePlan, RedriveRun

_STYLES: Final[Mapping[str, str]] = {
    "canary": "yellow",
    "running": "blue",
    "done": "green",
    "stopped": "red",
}
_HEAD = ("id", "began", "state", "started", "succeeded", "failed")


def plan_words(plan: RedrivePlan) -> str:
    """Return what would be touched, in a sentence each."""
    letters = "open dead letter matches" if plan.count == 1 else "open dead letters match"
    lines = [f"{plan.count} {letters}; {plan.replayable} would be redriven as they are."]
    if plan.count > plan.replayable:
        lines.append(
            f"{plan.count - plan.replayable} stay open: each needs a patch, or is past help."
        )
    return "\n".join([*lines, _estimate(plan)] if plan.replayable else lines)


def _estimate(plan: RedrivePlan) -> str:
    if plan.estimated_cost_usd is None:
        return "What that costs is not known: no price of their models is."
    words = f"An attempt of each costs at most ${plan.estimated_cost_usd} in all."
    return f"{words} The price of {plan.unpriced} is not known." if plan.unpriced else words


def progress_words(run: RedriveRun) -> str:
    words = f"{run.state}, {run.started} of {run.total} started"
    words += f", {run.succeeded} succeeded, {run.failed} failed"
    return f"{words}, {run.skipped} passed over" if run.skipped else words


def why_stopped(run: RedriveRun) -> str | None:
    """Return why it was stopped, by its word and in a sentence; None if it was not."""
    if run.stopped_because is None:
        return None
    by = (f"by the key {run.stopped_by}",) if run.stopped_by else ()
    return "; ".join([run.stopped_because, *filter(None, [run.stopped_detail]), *by])


def run_style(state: str) -> str:
    return _STYLES.get(state, "")


def run_lines(run: RedriveRun) -> str:
    """Return a bulk redrive as plain ``name: value`` lines."""
    return "\n".join(f"{name}: {value}" for name, value in _facts(run))


def run_table(run: RedriveRun) -> RenderableType:
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in _facts(run):
        style = run_style(run.state) if name == "state" else ""
        table.add_row(name, Text(printable(value), style=style))
    return table


def run_list_lines(runs: Iterable[RedriveRun]) -> str:
    return "\n".join(
        "\t".join(
            (
                run.id,
                shown_time(run.created_at) if run.created_at else "",
                run.state,
                *_numbers(run),
                run.reason or "",
            )
        ).rstrip("\t")
        for run in runs
    )


def run_list_table(runs: Sequence[RedriveRun], *, now: float) -> RenderableType:
    return blocks(_HEAD, [_row(run, now=now) for run in runs])


def _row(run: RedriveRun, *, now: float) -> Row:
    cells = (run.id, age(run.created_at, now=now), run.state, *_numbers(run))
    why = why_stopped(run)
    under = "; ".join([run.reason or "", *([f"stopped: {why}"] if why else [])])
    return Row(cells=cells, under=under, style=run_style(run.state))


def _numbers(run: RedriveRun) -> tuple[str, str, str]:
    return f"{run.started}/{run.total}", str(run.succeeded), str(run.failed)


def _facts(run: RedriveRun) -> Iterator[tuple[str, str]]:
    yield "id", run.id
    yield "state", run.state
    if why := why_stopped(run):
        yield "stopped because", why
    yield "started", f"{run.started} of {run.total}"
    yield "succeeded", str(run.succeeded)
    yield "failed", str(run.failed)
    if run.canceled:
        yield "canceled", str(run.canceled)
    for reason, count in run.skipped_because.items():
        yield "passed over", f"{count}: {reason}"
    yield from _order(run)
    for name, at in (("began", run.created_at), ("ended", run.finished_at)):
        if at:
            yield name, shown_time(at)


def _order(run: RedriveRun) -> Iterator[tuple[str, str]]:
    """Yield what was asked for."""
    if run.reason:
        yield "reason", run.reason
    for name, value in run.filter.items():
        if value is not None:
            yield f"only {name}", str(value)
    if run.rate_per_minute is not None:
        yield "rate", f"{run.rate_per_minute} a minute"
    if run.canary is not None:
        yield "canaries", str(run.canary)
