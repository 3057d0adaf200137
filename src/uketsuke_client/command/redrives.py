"""``uketsuke redrives list``, ``show``, ``follow`` and ``stop``."""

from __future__ import annotations

from itertools import islice
from typing import Annotated, TypeAlias

import typer

from uketsuke_client.clock import Clock
from uketsuke_client.command.ending import EXIT_CODES_HELP
from uketsuke_client.command.follow_redrives import follow_redrives
from uketsuke_client.command.option import DEFAULT_URL, Json, Key, Limit, RunId, Timeout, Url
from uketsuke_client.command.session import session
from uketsuke_client.command.show_redrive_run import (
    progress_words,
    run_lines,
    run_list_lines,
    run_list_table,
    run_table,
)

Why: TypeAlias = Annotated[
    str | None, typer.Option("--reason", metavar="WORDS", help="Why, for the audit.")
]

redrives_app = typer.Typer(
    no_args_is_help=True,
    help="Look at, follow and stop bulk redrives. uketsuke dlq redrive-all starts one.",
)


@redrives_app.command("list", epilog=EXIT_CODES_HELP)
def list_(
    limit: Limit = 20, url: Url = DEFAULT_URL, key: Key = None, json_output: Json = False
) -> None:
    """List the bulk redrives, newest first."""
    with session(url=url, key=key, json_output=json_output) as here:
        found = list(islice(here.client.redrives(), limit))
        if found:
            here.screen.answer(
                run_list_lines(found), rendered=run_list_table(found, now=Clock().now())
            )
        else:
            here.screen.note("There was no bulk redrive.", style="dim")
        here.screen.document({"items": [run.raw for run in found]})


@redrives_app.command(epilog=EXIT_CODES_HELP)
def show(run_id: RunId, url: Url = DEFAULT_URL, key: Key = None, json_output: Json = False) -> None:
    """Show how far a bulk redrive has come, and why it stopped if it did."""
    with session(url=url, key=key, json_output=json_output) as here:
        run = here.client.redrive_progress(run_id)
        here.screen.answer(run_lines(run), rendered=run_table(run))
        here.screen.document(run.raw)


@redrives_app.command(epilog=EXIT_CODES_HELP)
def follow(
    run_id: RunId,
    timeout: Timeout = None,
    url: Url = DEFAULT_URL,
    key: Key = None,
    json_output: Json = False,
) -> None:
    """Follow a bulk redrive to its end. Exits 1 if it was stopped."""
    with session(url=url, key=key, json_output=json_output) as here:
        follow_redrives(here, run_id=run_id, timeout=timeout)


@redrives_app.command(epilog=EXIT_CODES_HELP)
def stop(
    run_id: RunId,
    reason: Why = None,
    url: Url = DEFAULT_URL,
    key: Key = None,
    json_output: Json = False,
) -> None:
    """Let a bulk redrive start nothing more. The jobs that it has started go on."""
    with session(url=url, key=key, json_output=json_output) as here:
        run = here.client.stop_redrives(run_id, reason=reason)
        here.screen.answer(f"{run.id}: {progress_words(run)}")
        here.screen.document(run.raw)
