"""``uketsuke audit``: who did what, when and why."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Annotated, TypeAlias

import typer
from rich.console import RenderableType

from uketsuke_client.audit import AuditEntry
from uketsuke_client.clock import Clock
from uketsuke_client.command.age import age
from uketsuke_client.command.blocks import Row, blocks
from uketsuke_client.command.option import DEFAULT_URL, Json, Key, Limit, Url
from uketsuke_client.command.schedule import Tenant
from uketsuke_client.command.session import session
from uketsuke_client.command.show import shown_time

Target: TypeAlias = Annotated[
    str | None, typer.Option(metavar="ID", help="What was done to this dl_… or rd_… only.")
]
Action: TypeAlias = Annotated[
    str | None, typer.Option(metavar="ACTION", help="Such acts only: dead_letter.redriven, …")
]

_HEAD = ("when", "action", "target", "key")


def audit(
    target: Target = None,
    action: Action = None,
    tenant: Tenant = None,
    limit: Limit = 50,
    url: Url = DEFAULT_URL,
    key: Key = None,
    json_output: Json = False,
) -> None:
    """Show what operators did and why, newest first. A tenant's key sees its own part."""
    with session(url=url, key=key, json_output=json_output) as here:
        matching = here.client.audit(action=action, target=target, tenant=tenant)
        found = list(islice(matching, limit))
        if found:
            here.screen.answer(audit_lines(found), rendered=audit_table(found, now=Clock().now()))
        else:
            here.screen.note("The audit has nothing of it.", style="dim")
        here.screen.document({"items": [entry.raw for entry in found]})


def audit_lines(entries: Iterable[AuditEntry]) -> str:
    return "\n".join(
        "\t".join(
            (
                shown_time(entry.at) if entry.at else "",
                entry.action,
                entry.target,
                entry.actor or "",
                entry.reason or "",
            )
        ).rstrip("\t")
        for entry in entries
    )


def audit_table(entries: Sequence[AuditEntry], *, now: float) -> RenderableType:
    return blocks(_HEAD, [_row(entry, now=now) for entry in entries])


def _row(entry: AuditEntry, *, now: float) -> Row:
    whose = (f"tenant {entry.tenant_id}",) if entry.tenant_id else ()
    facts = [f"{name.replace('_', ' ')} {_words(each)}" for name, each in entry.detail.items()]
    return Row(
        cells=(age(entry.at, now=now), entry.action, entry.target, entry.actor or ""),
        under="; ".join([entry.reason or "no reason", *whose, *facts]),
    )


def _words(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
