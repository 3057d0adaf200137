"""A command's frame: a client, a screen, and an ending for everything that may go wrong."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import typer

from uketsuke_client.client import Client
from uketsuke_client.command.ending import BadInput, ExitCode, ending_of
from uketsuke_client.command.screen import Screen
from uketsuke_client.error import (
    ApiError,
    NotFinished,
    StillRedriving,
    UnexpectedAnswer,
    Unreachable,
)
from uketsuke_client.request import Unsendable
from uketsuke_client.transport import Retry

PATIENCE_VARIABLE = "UKETSUKE_PATIENCE"
_PATIENCE_SECONDS = 6.0  # a person waits, and can say it again
_BROKEN_PIPE = 141  # what a shell shows for a program that SIGPIPE ended


@dataclass(slots=True, kw_only=True)
class Aside:
    """What the ending should know if the command ends here."""

    job_id: str | None = None
    if_interrupted: Sequence[str] = ()
    if_unanswered: Sequence[str] = ()
    hints: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    client: Client
    screen: Screen
    aside: Aside


@contextmanager
def session(
    *, url: str, key: str | None, json_output: bool, job_id: str | None = None
) -> Iterator[Session]:
    """Yield a client and a screen; turn what may go wrong into words and an exit code."""
    screen = Screen(json_output=json_output)
    with (
        ended_well(screen, job_id=job_id) as aside,
        Client(url, key, patience=_patience(), on_retry=_teller(screen)) as client,
    ):
        yield Session(client=client, screen=screen, aside=aside)


def _patience() -> float:
    given = os.environ.get(PATIENCE_VARIABLE)
    if given is None:
        return _PATIENCE_SECONDS
    try:
        return float(given)
    except ValueError:
        raise BadInput(f"{PATIENCE_VARIABLE} is not a number of seconds: {given!r}") from None


def _teller(screen: Screen) -> Callable[[Retry], None]:
    said: set[str] = set()

    def tell(retry: Retry) -> None:
        if retry.reason not in said:
            said.add(retry.reason)
            screen.note(f"{retry.reason}; trying again", style="yellow")

    return tell


@contextmanager
def ended_well(screen: Screen, *, job_id: str | None = None) -> Iterator[Aside]:
    """Let nothing through but ``typer.Exit``: the words are said, the document is printed."""
    aside = Aside(job_id=job_id)
    try:
        yield aside
    except (
        ApiError,
        Unreachable,
        UnexpectedAnswer,
        NotFinished,
        StillRedriving,
        BadInput,
        Unsendable,
    ) as error:
        ending = ending_of(error, job_id=aside.job_id, hints=aside.hints)
        screen.error([*ending.lines, *_if_unanswered(error, aside)])
        screen.document(ending.document)
        raise typer.Exit(ending.exit_code) from None
    except KeyboardInterrupt:
        screen.error(["interrupted", *aside.if_interrupted])
        screen.document({"code": "interrupted"})
        raise typer.Exit(ExitCode.INTERRUPTED) from None
    except BrokenPipeError:
        # Whoever read has enough; Python's own flush at exit must not complain either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(_BROKEN_PIPE) from None


def _if_unanswered(error: Exception, aside: Aside) -> Sequence[str]:
    """Say what the command may have done all the same, though no answer tells."""
    doubtful = isinstance(error, Unreachable) or (
        isinstance(error, ApiError) and error.status > 500
    )
    return aside.if_unanswered if doubtful else ()
