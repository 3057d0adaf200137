"""``uketsuke schedule list``, ``show``, ``set``, ``delete`` and ``trigger``."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import typer

from uketsuke_client.command.ending import EXIT_CODES_HELP
from uketsuke_client.command.option import DEFAULT_URL, Json, Key, Url, json_pair
from uketsuke_client.command.session import session
from uketsuke_client.command.show_schedule import (
    next_of,
    schedule_lines,
    schedule_list_lines,
    schedule_list_table,
    schedule_table,
)
from uketsuke_client.command.source import Given, input_of
from uketsuke_client.command.submit import File, Params, Refs, Texts, TextsFile

Name: TypeAlias = Annotated[str, typer.Argument(metavar="NAME", help="The schedule's name.")]
Tenant: TypeAlias = Annotated[
    str | None, typer.Option("--tenant", metavar="ID", help="Whose, for operators.")
]

schedule_app = typer.Typer(
    no_args_is_help=True, help="List, show, set, delete and trigger what is to run by the clock."
)


@schedule_app.command("list", epilog=EXIT_CODES_HELP)
def list_(
    tenant: Tenant = None, url: Url = DEFAULT_URL, key: Key = None, json_output: Json = False
) -> None:
    """List the schedules by name."""
    with session(url=url, key=key, json_output=json_output) as here:
        found = list(here.client.schedules(tenant=tenant))
        if found:
            here.screen.answer(schedule_list_lines(found), rendered=schedule_list_table(found))
        else:
            here.screen.note("There is no schedule; uketsuke schedule set makes one.", style="dim")
        here.screen.document({"items": [schedule.raw for schedule in found]})


@schedule_app.command(epilog=EXIT_CODES_HELP)
def show(
    name: Name,
    tenant: Tenant = None,
    url: Url = DEFAULT_URL,
    key: Key = None,
    json_output: Json = False,
) -> None:
    """Show a schedule: what it starts, when next, and what became of the last time."""
    with session(url=url, key=key, json_output=json_output) as here:
        schedule = here.client.schedule(name, tenant=tenant)
        here.screen.answer(schedule_lines(schedule), rendered=schedule_table(schedule))
        here.screen.document(schedule.raw)


@schedule_app.command("set", epilog=EXIT_CODES_HELP)
def set_(
    name: Name,
    cron: Annotated[
        str,
        typer.Option(
            metavar="CRON",
            help="Minute, hour, day-of-month, month, day-of-week: '30 7 * * 1-5'.",
        ),
    ],
    kind: Annotated[
        str, typer.Option(metavar="KIND", help="summarize, transcribe, embed, report, …")
    ],
    timezone: Annotated[
        str | None,
        typer.Option(metavar="ZONE", help="An IANA time zone, such as Asia/Tokyo. Else UTC."),
    ] = None,
    text: Texts = None,
    file: File = None,
    texts_file: TextsFile = None,
    ref: Refs = None,
    param: Params = None,
    run_key: Annotated[
        str | None,
        typer.Option(metavar="KEY", help="Of which only one job may be live. Else schedule:NAME."),
    ] = None,
    overlap: Annotated[
        str | None,
        typer.Option(
            metavar="skip|allow", help="What to do while the job before is live. Else skip."
        ),
    ] = None,
    disabled: Annotated[
        bool, typer.Option("--disabled", help="Keep it, and start nothing.")
    ] = False,
    url: Url = DEFAULT_URL,
    key: Key = None,
    json_output: Json = False,
) -> None:
    """Make a schedule, or replace the whole one of that name."""
    given = Given(texts=text or (), file=file, texts_file=texts_file, refs=ref or ())
    params = dict(json_pair(p, option="--param") for p in param or ()) or None
    with session(url=url, key=key, json_output=json_output) as here:
        schedule = here.client.put_schedule(
            name,
            cron=cron,
            kind=kind,
            input=input_of(given, kind=kind, session=here),
            timezone=timezone,
            params=params,
            run_key=run_key,
            overlap=overlap,
            enabled=not disabled,
        )
        told = f"next {next_of(schedule)}" if schedule.enabled else next_of(schedule)
        here.screen.answer(f"{schedule.name}: {told}")
        here.screen.document(schedule.raw)


@schedule_app.command(epilog=EXIT_CODES_HELP)
def delete(name: Name, url: Url = DEFAULT_URL, key: Key = None, json_output: Json = False) -> None:
    """Delete a schedule. The jobs that it started live on."""
    with session(url=url, key=key, json_output=json_output) as here:
        here.client.delete_schedule(name)
        here.screen.answer(f"{name}: deleted")
        here.screen.document({"deleted": name})


@schedule_app.command(epilog=EXIT_CODES_HELP)
def trigger(name: Name, url: Url = DEFAULT_URL, key: Key = None, json_output: Json = False) -> None:
    """Start a schedule's job now, and print its id."""
    with session(url=url, key=key, json_output=json_output) as here:
        job = here.client.trigger_schedule(name)
        here.screen.answer(job.id)
        here.screen.document(job.raw)
