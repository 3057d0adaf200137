"""A job's way to its end, live on a terminal and line by line elsewhere; always on stderr."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TimeElapsedColumn,
)
from rich.text import Text

from uketsuke_client.command.screen import Screen, printable
from uketsuke_client.command.session import Session
from uketsuke_client.command.show import standing, style_of
from uketsuke_client.job import Job


def follow(session: Session, *, job_id: str, timeout: float | None) -> Job:
    """Show the job with this id until it is terminal, and return it."""
    session.aside.if_interrupted = [f"The job goes on: uketsuke status {job_id} --follow"]
    with _shown_on(session.screen) as show:
        job = session.client.wait(job_id, timeout=timeout, on_change=show)
    session.aside.if_interrupted = ()
    _tell_end(session.screen, job)
    return job


@contextmanager
def _shown_on(screen: Screen) -> Iterator[Callable[[Job], None]]:
    if screen.err.is_terminal:
        with _bar(screen) as progress:
            yield _live(screen, progress)
    else:
        yield _line_by_line(screen)


def _bar(screen: Screen) -> Progress:
    return Progress(
        SpinnerColumn(),
        _Standing(),
        BarColumn(bar_width=30),
        _Done(),
        TimeElapsedColumn(),
        console=screen.err,
        transient=True,
    )


def _live(screen: Screen, progress: Progress) -> Callable[[Job], None]:
    task = progress.add_task("", total=None, job=None)
    tell_setback = _setback_teller(screen)

    def show(job: Job) -> None:
        total, done = (job.progress.total, job.progress.done) if job.progress else (None, 0)
        progress.update(task, total=total, completed=done, job=job)
        tell_setback(job)

    return show


def _line_by_line(screen: Screen) -> Callable[[Job], None]:
    began = time.monotonic()
    tell_setback = _setback_teller(screen)

    def show(job: Job) -> None:
        if job.terminal:
            return  # its end has a line of its own
        words = [standing(job)]
        if job.progress:
            words.append(f"{job.progress.done}/{job.progress.total} done")
        screen.note(f"{time.monotonic() - began:.1f} s: {', '.join(words)}")
        tell_setback(job)

    return show


def _setback_teller(screen: Screen) -> Callable[[Job], None]:
    """Return what tells each attempt's failure once: the job shows it until the next one."""
    told: set[int] = set()

    def tell(job: Job) -> None:
        if job.error and not job.terminal and job.attempts not in told:
            told.add(job.attempts)
            message = job.error.message.rstrip(".")
            screen.note(f"{job.error.code}: {message}; it is tried again", style="yellow")

    return tell


def _tell_end(screen: Screen, job: Job) -> None:
    words = standing(job)
    if job.created_at and job.finished_at:
        words += f", {(job.finished_at - job.created_at).total_seconds():.1f} s after it came in"
    screen.note(words, style=style_of(job.state))
    if job.error:
        screen.note(f"{job.error.code} ({job.error.failure_class}): {job.error.message}")


class _Standing(ProgressColumn):
    def render(self, task: Task) -> Text:
        job: Job | None = task.fields["job"]
        if job is None:
            return Text("asking")
        return Text(printable(standing(job)), style=style_of(job.state))


class _Done(ProgressColumn):
    def render(self, task: Task) -> Text:
        return Text("" if task.total is None else f"{task.completed:.0f}/{task.total:.0f}")
