"""The options that several commands share."""

from __future__ import annotations

import json
from typing import Annotated, Any, TypeAlias

import typer

DEFAULT_URL = "http://127.0.0.1:8787"

JobId: TypeAlias = Annotated[str, typer.Argument(metavar="ID", help="The job's id, job_….")]
Url: TypeAlias = Annotated[
    str, typer.Option("--url", envvar="UKETSUKE_URL", metavar="URL", help="The server.")
]
Key: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--key",
        envvar="UKETSUKE_KEY",
        metavar="KEY",
        show_envvar=True,
        help="Your key. The variable keeps it out of the list of processes.",
    ),
]
Json: TypeAlias = Annotated[
    bool, typer.Option("--json", help="Print exactly one JSON document on stdout.")
]
Timeout: TypeAlias = Annotated[
    float | None,
    typer.Option(
        "--timeout", min=0, metavar="SECONDS", help="Stop following after this time (exit 5)."
    ),
]
LetterId: TypeAlias = Annotated[
    str, typer.Argument(metavar="ID", help="The dead letter's id, dl_….")
]
RunId: TypeAlias = Annotated[str, typer.Argument(metavar="ID", help="The bulk redrive's id, rd_….")]
Reason: TypeAlias = Annotated[
    str, typer.Option("--reason", metavar="WORDS", help="Why, for the record and the audit.")
]
Limit: TypeAlias = Annotated[
    int, typer.Option("--limit", min=1, metavar="N", help="Show so many at most.")
]


def pair(given: str, *, option: str) -> tuple[str, str]:
    """Return NAME=VALUE as two strings, or say which option has none."""
    name, equals, value = given.partition("=")
    if not equals or not name:
        raise typer.BadParameter(f"{given!r} is not NAME=VALUE", param_hint=option)
    return name, value


def json_pair(given: str, *, option: str) -> tuple[str, Any]:
    """Return NAME=VALUE with its value as JSON if it is JSON, and else as the words it is."""
    name, value = pair(given, option=option)
    try:
        return name, json.loads(value, parse_constant=_no_number)
    except ValueError:
        return name, value


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")
