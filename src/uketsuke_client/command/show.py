"""Jobs, events and results as people read them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from rich.console import RenderableType
from rich.markdown import Markdown
from rich.table import Table
from rich.text import Text

from uketsuke_client.command.screen import printable
from uketsuke_client.event import Event
from uketsuke_client.job import Job

STATE_STYLES: Final[Mapping[str, str]] = {
    "accepted": "cyan",
    "running": "blue",
    "retrying": "yellow",
    "succeeded": "green",
    "failed": "red",
    "canceled": "magenta",
}


def style_of(state: str) -> str:
    return STATE_STYLES.get(state, "")


def standing(job: Job) -> str:
    """Return where a job stands in a few words, for a line or beside a bar."""
    words = [job.state]
    if job.attempts:
        words.append(_of("attempt", job.attempts, job.max_attempts))
    if job.cancel_requested_at and not job.terminal:
        words.append("cancel requested")
    return ", ".join(words)


def job_lines(job: Job) -> str:
    """Return a job as plain ``name: value`` lines."""
    return "\n".join(f"{name}: {value}" for name, value in _facts(job))


def job_table(job: Job) -> RenderableType:
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in _facts(job):
        style = style_of(job.state) if name == "state" else ""
        table.add_row(name, Text(printable(value), style=style))
    return table


def _facts(job: Job) -> Iterator[tuple[str, str]]:
    yield "id", job.id
    yield "kind", job.kind
    yield "state", standing(job)
    if job.progress:
        yield "progress", _of("", job.progress.done, job.progress.total)
    if job.error:
        yield "error", f"{job.error.code} ({job.error.failure_class}): {job.error.message}"
    yield from _times(job)
    yield from _cost(job)
    for name in ("run_key", "redriven_from", "redriven_to"):
        if value := getattr(job, name):
            yield name.replace("_", " "), value
    for name, value in job.metadata.items():
        yield f"metadata {name}", value


def _times(job: Job) -> Iterator[tuple[str, str]]:
    for name in ("created", "started", "next_attempt", "finished", "expires", "erased"):
        value: datetime | None = getattr(job, f"{name}_at")
        if value:
            yield name.replace("_", " "), shown_time(value)
    if job.created_at and job.finished_at:
        yield "took", f"{(job.finished_at - job.created_at).total_seconds():.1f} s"


def _cost(job: Job) -> Iterator[tuple[str, str]]:
    if job.usage is None:
        return
    if job.usage.model:
        yield "model", job.usage.model
    if job.usage.input_tokens is not None:
        yield "tokens", f"{job.usage.input_tokens} in, {job.usage.output_tokens or 0} out"
    if job.usage.attempts_cost_usd:
        yield "cost", f"${job.usage.attempts_cost_usd}"


def shown_time(value: datetime) -> str:
    return value.isoformat(sep=" ", timespec="milliseconds").replace("+00:00", " UTC")


def _of(word: str, part: int, whole: int | None) -> str:
    return f"{word} {part} of {whole}".strip() if whole else f"{word} {part}".strip()


def event_lines(events: Iterable[Event]) -> str:
    return "\n".join("\t".join(cells).rstrip("\t") for cells in _event_cells(events))


def event_table(events: Sequence[Event]) -> RenderableType:
    table = Table("at", "event", "attempt", "class", box=None, header_style="dim", pad_edge=False)
    for cells in _event_cells(events):
        table.add_row(*(Text(printable(cell)) for cell in cells))
    return table


def _event_cells(events: Iterable[Event]) -> Iterator[tuple[str, str, str, str]]:
    for event in events:
        yield (
            shown_time(event.at) if event.at else "",
            event.type,
            "" if event.attempt is None else str(event.attempt),
            event.failure_class or "",
        )


def result_text(result: Mapping[str, Any]) -> str | None:
    """Return the words of a result that is made of words."""
    for name in ("summary", "markdown", "text"):
        if isinstance(result.get(name), str):
            return str(result[name])
    return None


def result_rendered(result: Mapping[str, Any]) -> RenderableType | None:
    """Return how a terminal shows a result that is more than its words."""
    if isinstance(result.get("markdown"), str):
        return Markdown(printable(result["markdown"]), hyperlinks=False)
    vectors = result.get("vectors")
    if isinstance(vectors, list):
        size, model = result.get("dimensions"), printable(str(result.get("model")))
        return Text(
            f"{len(vectors)} vectors of {size} dimensions, by {model}. "
            "--json prints them, -o FILE.json or FILE.f32 keeps them."
        )
    return None
