"""``uketsuke dlq redrive-all``: shows what it would touch, asks, and only then starts."""

from __future__ import annotations

import sys
from typing import Annotated, TypeAlias

import typer

from uketsuke_client.command.ending import BadInput, ExitCode, run_hint
from uketsuke_client.command.follow_redrives import follow_redrives
from uketsuke_client.command.option import DEFAULT_URL, Json, Key, Timeout, Url
from uketsuke_client.command.schedule import Tenant
from uketsuke_client.command.session import Session, session
from uketsuke_client.command.show_redrive_run import plan_words
from uketsuke_client.command.usage import OfKind
from uketsuke_client.redrive_run import RedriveFilter, RedrivePlan, RedriveRun

OfClass: TypeAlias = Annotated[
    str | None,
    typer.Option("--class", metavar="CLASS", help="Of this error class only: unavailable, …"),
]
OfFingerprint: TypeAlias = Annotated[
    str | None,
    typer.Option(metavar="FINGERPRINT", help="Of this group only; uketsuke dlq groups shows them."),
]
Before: TypeAlias = Annotated[
    str | None,
    typer.Option(metavar="TIME", help="Only what failed before, as 2026-11-29T10:00:00Z."),
]
Why: TypeAlias = Annotated[
    str | None,
    typer.Option("--reason", metavar="WORDS", help="Why, for each record and for the audit."),
]
Rate: TypeAlias = Annotated[
    int | None, typer.Option(min=1, metavar="N", help="So many a minute. Else 60.")
]
Canary: TypeAlias = Annotated[
    int | None,
    typer.Option(
        min=0, metavar="N", help="So many first, and the others if those succeed. Else 3."
    ),
]
DryRun: TypeAlias = Annotated[
    bool, typer.Option("--dry-run", help="Show what it would touch, and stop there.")
]
Yes: TypeAlias = Annotated[bool, typer.Option("--yes", help="Do not ask.")]
Follow: TypeAlias = Annotated[
    bool, typer.Option("--follow", help="Follow it to its end. Exits 1 if it was stopped.")
]


def redrive_all(
    failure_class: OfClass = None,
    kind: OfKind = None,
    fingerprint: OfFingerprint = None,
    tenant: Tenant = None,
    before: Before = None,
    reason: Why = None,
    rate: Rate = None,
    canary: Canary = None,
    dry_run: DryRun = False,
    yes: Yes = False,
    following: Follow = False,
    timeout: Timeout = None,
    url: Url = DEFAULT_URL,
    key: Key = None,
    json_output: Json = False,
) -> None:
    """Redrive all open dead letters that match, some canaries first; print the bulk redrive's id.

    Shows first what it would touch, and asks. The server does the work: it goes on when this
    command ends, and stops by itself when the canaries fail as before.
    """
    chosen = RedriveFilter(
        failure_class=failure_class,
        kind=kind,
        fingerprint=fingerprint,
        tenant=tenant,
        before=before,
    )
    with session(url=url, key=key, json_output=json_output) as here:
        if dry_run:
            plan = here.client.plan_redrives(chosen, reason=reason)
            here.screen.answer(plan_words(plan))
            here.screen.document(plan.raw)
            return
        why = _ready_to_act(reason, may_ask=not (yes or json_output), yes=yes)
        plan = here.client.plan_redrives(chosen, reason=why)
        here.screen.note(plan_words(plan))
        if _agreed(here, plan, yes=yes):
            run = _started(here, chosen, reason=why, rate=rate, canary=canary)
            _tell(here, run, following=following, timeout=timeout)


def _ready_to_act(reason: str | None, *, may_ask: bool, yes: bool) -> str:
    """Return the reason, or say at once what is missing before anything is asked of the server."""
    if not reason:
        raise BadInput("say why with --reason; --dry-run shows what would be touched without one")
    if not yes and not (may_ask and sys.stdin.isatty()):
        raise BadInput(
            "there is no terminal to ask on: add --yes to redrive them, --dry-run to look first"
        )
    return reason


def _agreed(here: Session, plan: RedrivePlan, *, yes: bool) -> bool:
    if not plan.replayable:
        here.screen.note("There is nothing to redrive.", style="dim")
        here.screen.document(plan.raw)
        return False
    if yes or here.screen.agrees("Redrive them?"):
        return True
    here.screen.note("Nothing was done.")
    raise typer.Exit(ExitCode.INTERRUPTED)


def _started(
    here: Session, chosen: RedriveFilter, *, reason: str, rate: int | None, canary: int | None
) -> RedriveRun:
    doubt = ["Whether it was started: uketsuke redrives list"]
    here.aside.if_unanswered = here.aside.if_interrupted = doubt
    run = here.client.start_redrives(chosen, reason=reason, rate_per_minute=rate, canary=canary)
    here.aside.if_unanswered = here.aside.if_interrupted = ()
    return run


def _tell(here: Session, run: RedriveRun, *, following: bool, timeout: float | None) -> None:
    here.screen.answer(run.id)
    if following:
        follow_redrives(here, run_id=run.id, timeout=timeout)
    else:
        here.screen.note(run_hint(run.id), style="dim")
        here.screen.document(run.raw)
