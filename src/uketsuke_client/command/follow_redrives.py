"""A bulk redrive's way to its end, live on a terminal and line by line elsewhere; on stderr."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import typer
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from uketsuke_client.command.ending import ExitCode, run_hint
from uketsuke_client.command.screen import Screen, printable
from uketsuke_client.command.session import Session
from uketsuke_client.command.show_redrive_run import progress_words, run_style, why_stopped
from uketsuke_client.redrive_run import RedriveRun


def follow_redrives(session: Session, *, run_id: str, timeout: float | None) -> None:
    """Show the bulk redrive until its end, and end with 1 if that was not to be done."""
    session.aside.if_interrupted = ["It goes on.", run_hint(run_id)]
    with _shown_on(session.screen) as show:
        run = session.client.wait_for_redrives(run_id, timeout=timeout, on_change=show)
    session.aside.if_interrupted = ()
    session.screen.note(progress_words(run), style=run_style(run.state))
    if why := why_stopped(run):
        session.screen.note(f"stopped because: {why}")
    session.screen.document(run.raw)
    if run.state == "stopped":
        raise typer.Exit(ExitCode.JOB_FAILED)


@contextmanager
def _shown_on(screen: Screen) -> Iterator[Callable[[RedriveRun], None]]:
    if screen.err.is_terminal:
        with _bar(screen) as progress:
            yield _live(progress)
    else:
        yield _line_by_line(screen)


def _bar(screen: Screen) -> Progress:
    return Progress(
        SpinnerColumn(),
        BarColumn(bar_width=30),
        TextColumn("{task.description}", markup=False),
        TimeElapsedColumn(),
        console=screen.err,
        transient=True,
    )


def _live(progress: Progress) -> Callable[[RedriveRun], None]:
    task = progress.add_task("asking", total=None)

    def show(run: RedriveRun) -> None:
        words = printable(progress_words(run))
        progress.update(task, description=words, total=run.total or None, completed=run.started)

    return show


def _line_by_line(screen: Screen) -> Callable[[RedriveRun], None]:
    def show(run: RedriveRun) -> None:
        if not run.ended:  # its end has a line of its own
            screen.note(progress_words(run))

    return show
