"""``uketsuke dlq``: its ``list``, ``groups`` and ``show``, and where its other commands are."""

from __future__ import annotations

from itertools import islice
from typing import Annotated, TypeAlias

import typer

from uketsuke_client.clock import Clock
from uketsuke_client.command.dlq_act import discard, redrive
from uketsuke_client.command.ending import EXIT_CODES_HELP
from uketsuke_client.command.option import DEFAULT_URL, Json, Key, LetterId, Limit, Url
from uketsuke_client.command.redrive_all import OfClass, OfFingerprint, redrive_all
from uketsuke_client.command.schedule import Tenant
from uketsuke_client.command.session import session
from uketsuke_client.command.show_dead_letter import (
    group_lines,
    group_table,
    letter_lines,
    letter_list_lines,
    letter_list_table,
    letter_table,
    next_steps,
)
from uketsuke_client.command.usage import OfKind

Status: TypeAlias = Annotated[
    str, typer.Option(metavar="STATUS", help="open, redriven, discarded, or all.")
]

dlq_app = typer.Typer(
    no_args_is_help=True,
    help="Find dead letters, understand them, and bring their jobs back. For operators' keys.",
)


@dlq_app.command("list", epilog=EXIT_CODES_HELP)
def list_(
    status: Status = "open",
    failure_class: OfClass = None,
    kind: OfKind = None,
    fingerprint: OfFingerprint = None,
    tenant: Tenant = None,
    limit: Limit = 50,
    url: Url = DEFAULT_URL,
    key: Key = None,
    json_output: Json = False,
) -> None:
    """List dead letters, the last failed first."""
    with session(url=url, key=key, json_output=json_output) as here:
        matching = here.client.dead_letters(
            status=None if status == "all" else status,
            failure_class=failure_class,
            kind=kind,
            tenant=tenant,
            fingerprint=fingerprint,
        )
        found = list(islice(matching, limit))
        if found:
            width, now = here.screen.out.width, Clock().now()
            here.screen.answer(
                letter_list_lines(found), rendered=letter_list_table(found, width=width, now=now)
            )
        else:
            here.screen.note("No dead letter matches.", style="dim")
        if len(found) == limit:
            here.screen.note(f"These are the newest {limit}; --limit shows more.", style="dim")
        here.screen.document({"items": [letter.raw for letter in found]})


@dlq_app.command(epilog=EXIT_CODES_HELP)
def groups(
    tenant: Tenant = None, url: Url = DEFAULT_URL, key: Key = None, json_output: Json = False
) -> None:
    """Show what the open dead letters have in common, and what most likely helps."""
    with session(url=url, key=key, json_output=json_output) as here:
        found = list(here.client.dead_letter_groups(tenant=tenant))
        if found:
            here.screen.answer(group_lines(found), rendered=group_table(found, now=Clock().now()))
        else:
            here.screen.note("No dead letter is open.", style="dim")
        here.screen.document({"items": [group.raw for group in found]})


@dlq_app.command(epilog=EXIT_CODES_HELP)
def show(
    letter_id: LetterId, url: Url = DEFAULT_URL, key: Key = None, json_output: Json = False
) -> None:
    """Show a dead letter: what went wrong, each attempt, and what may be done."""
    with session(url=url, key=key, json_output=json_output) as here:
        letter, now = here.client.dead_letter(letter_id), Clock().now()
        here.screen.answer(letter_lines(letter, now=now), rendered=letter_table(letter, now=now))
        for step in next_steps(letter):
            here.screen.note(step, style="dim")
        here.screen.document(letter.raw)


for act in (redrive, discard, redrive_all):
    dlq_app.command(epilog=EXIT_CODES_HELP)(act)
