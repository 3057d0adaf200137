"""``uketsuke dev`` and ``models``: what runs on this machine, loaded only when asked for."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from uketsuke_client.command.ending import BadInput
from uketsuke_client.command.option import pair
from uketsuke_client.command.screen import Screen
from uketsuke_client.command.session import ended_well


def dev(
    port: Annotated[int, typer.Option(min=0, max=65535, help="Where the API listens.")] = 8787,
    state: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="What is kept across restarts: jobs, blobs, runs. Without it, .uketsuke in the "
            "project's folder.",
        ),
    ] = None,
    json_output: Annotated[
        bool,
        typer.Option("--json", help="Print one JSON line when ready: URLs and the seeded keys."),
    ] = False,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="A setting of the Workers; repeatable."),
    ] = None,
) -> None:
    """Run the whole stack here in the foreground, without account or network."""
    chosen = dict(pair(s, option="--set") for s in settings or ())
    with ended_well(Screen(json_output=False)):
        run_dev = _local("uketsuke_local.dev", "run_dev")
        code = run_dev(port=port, state=state, json_output=json_output, settings=chosen)
    raise typer.Exit(code)


def _local(module: str, name: str) -> Callable[..., int]:
    """Return a function of the local stack.

    By name, not by import: the client must not depend on it, nor, through it, on the Worker.
    """
    try:
        found: Callable[..., int] = getattr(import_module(module), name)
    except ModuleNotFoundError as error:
        raise BadInput(
            f"the local stack is not installed (no module {error.name}): "
            "pip install 'uketsuke[local]'"
        ) from None
    return found


def models(
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535)] = 8788,
    warm: Annotated[bool, typer.Option("--warm", help="Load the models before saying ready.")] = (
        False
    ),
    api_key: Annotated[
        str | None, typer.Option(metavar="KEY", help="Refuse calls without this key.")
    ] = None,
    json_output: Annotated[
        bool, typer.Option("--json", help="Print one JSON line when ready.")
    ] = False,
) -> None:
    """Run the local model server alone: OpenAI's routes, no account, no network."""
    with ended_well(Screen(json_output=False)):
        serve = _local("uketsuke_local.models.server", "serve")
        code = serve(host=host, port=port, json_output=json_output, warm=warm, api_key=api_key)
    raise typer.Exit(code)
