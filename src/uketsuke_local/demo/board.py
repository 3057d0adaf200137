"""Where each job of the demo stands, while it is followed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn

from uketsuke_client import Job
from uketsuke_local.demo.orders import Order


class Board:
    """Where each job stands: live bars on a terminal, a line for each change elsewhere."""

    def __init__(self, console: Console, progress: Progress | None) -> None:
        self._console = console
        self._progress = progress
        self._shown: dict[str, Any] = {}

    def show(self, order: Order, job: Job) -> None:
        done = f"{job.progress.done}/{job.progress.total}" if job.progress else ""
        if self._progress is not None:
            self._draw(self._progress, job, words=_words(order, job, done=done))
        elif self._shown.get(job.id) != (job.state, done):
            self._shown[job.id] = (job.state, done)
            self._console.print(f"  {job.id}: {job.state} {done}".rstrip(), soft_wrap=True)

    def _draw(self, progress: Progress, job: Job, *, words: str) -> None:
        if job.id not in self._shown:
            self._shown[job.id] = progress.add_task(job.id, total=None, words="")
        total = job.progress.total if job.progress else None
        done = job.progress.done if job.progress else 0
        if job.terminal:
            total = done = total or 1
        progress.update(self._shown[job.id], total=total, completed=done, words=words)


def _words(order: Order, job: Job, *, done: str) -> str:
    running = order.looks["running"]
    return f"{job.state:<9} {done:<4} " + (f"seen running {running} times" if running else "")


@contextmanager
def open_board(console: Console) -> Iterator[Board]:
    if not console.is_terminal:
        yield Board(console, None)
        return
    columns = [
        SpinnerColumn(finished_text="✓"),
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=20),
        TextColumn("{task.fields[words]}", markup=False),
    ]
    with Progress(*columns, console=console) as progress:
        yield Board(console, progress)
