"""The command's table of contents, and the one place where it ends."""

from __future__ import annotations

import sys
from functools import cache
from typing import Annotated, Any

import typer
from typer.main import get_command

from uketsuke_client.command.alerts import alerts
from uketsuke_client.command.audit import audit
from uketsuke_client.command.dlq import dlq_app
from uketsuke_client.command.doctor import doctor
from uketsuke_client.command.ending import EXIT_CODES_HELP, ExitCode
from uketsuke_client.command.local import dev, models
from uketsuke_client.command.look import events, result, status
from uketsuke_client.command.metrics import metrics
from uketsuke_client.command.redrives import redrives_app
from uketsuke_client.command.schedule import schedule_app
from uketsuke_client.command.screen import Screen
from uketsuke_client.command.session import PATIENCE_VARIABLE
from uketsuke_client.command.submit import submit
from uketsuke_client.command.usage import usage
from uketsuke_client.command.write import cancel, upload
from uketsuke_client.version import version

_VARIABLES_HELP = (
    "Variables: UKETSUKE_URL and UKETSUKE_KEY stand for --url and --key; "
    f"{PATIENCE_VARIABLE} is how many seconds to keep trying while no answer comes."
)

app = typer.Typer(
    name="uketsuke",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Submit AI work to a Uketsuke server, follow it, and run a whole one here.",
    epilog=f"{EXIT_CODES_HELP}\n\n{_VARIABLES_HELP}",
)
_FOR_TENANTS = (submit, status, result, events, cancel, upload, usage)
_FOR_OPERATORS = (audit, metrics, alerts, doctor)
for command in (*_FOR_TENANTS, *_FOR_OPERATORS, dev, models):
    app.command(epilog=EXIT_CODES_HELP)(command)
app.add_typer(schedule_app, name="schedule", epilog=EXIT_CODES_HELP)
app.add_typer(dlq_app, name="dlq", epilog=EXIT_CODES_HELP)
app.add_typer(redrives_app, name="redrives", epilog=EXIT_CODES_HELP)


def _version(wanted: bool) -> None:
    if wanted:
        sys.stdout.write(f"uketsuke {version()}\n")
        raise typer.Exit


@app.callback()
def root(
    _: Annotated[
        bool,
        typer.Option(
            "--version", callback=_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Take what belongs to no single command."""


def run(argv: list[str]) -> int:
    """Run ``argv`` and return the exit code."""
    try:
        code = _command().main(argv, prog_name="uketsuke", standalone_mode=False)
    except typer.TyperException as error:
        _tell_usage(error, screen=Screen(json_output="--json" in argv))
        return ExitCode.BAD_INPUT
    return int(code or 0)


@cache
def _command() -> Any:
    return get_command(app)


def _tell_usage(error: typer.TyperException, *, screen: Screen) -> None:
    message = error.format_message()
    if message.strip():  # without arguments, the help has been shown instead
        context = getattr(error, "ctx", None)
        path = context.command_path if context else "uketsuke"
        screen.error([message, f"What it takes: {path} --help"])
    screen.document({"code": "usage", "detail": message})
