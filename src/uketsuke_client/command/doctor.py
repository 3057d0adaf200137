"""``uketsuke doctor``: whether the store is sound, and what is done if it is not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, TypeAlias

import typer
from rich.console import Group, RenderableType
from rich.text import Text

from uketsuke_client.command.ending import BadInput, ExitCode
from uketsuke_client.command.option import DEFAULT_URL, Json, Key, Url
from uketsuke_client.command.screen import printable
from uketsuke_client.command.session import Session, session
from uketsuke_client.doctor import Check, Diagnosis, RepairReport

# The server names so many of a check's rows, and stops counting there.
_COUNTED = 10_001
_OK, _NOT_OK = "ok", "NOT OK"

OneCheck: TypeAlias = Annotated[
    str | None, typer.Option("--check", metavar="CHECK", help="Only this check.")
]
Repair: TypeAlias = Annotated[
    str | None,
    typer.Option("--repair", metavar="CHECK", help="Mend what this check has found."),
]
Why: TypeAlias = Annotated[
    str | None,
    typer.Option("--reason", metavar="WORDS", help="Why, for the audit. A repair takes it."),
]


def doctor(
    check: OneCheck = None,
    repair: Repair = None,
    reason: Why = None,
    url: Url = DEFAULT_URL,
    key: Key = None,
    json_output: Json = False,
) -> None:
    """Hold the server's store against its invariants. Exits 1 if one does not hold.

    With --repair, mend what one check has found; exits 1 if offenders are left.
    """
    with session(url=url, key=key, json_output=json_output) as here:
        if repair is not None:
            _mend(here, repair, check=check, reason=reason)
        elif reason is not None:
            raise BadInput("--reason is for a repair: say --repair CHECK with it")
        else:
            _examine(here, check)


def _examine(here: Session, check: str | None) -> None:
    found = here.client.doctor(check=check)
    here.screen.answer("\n".join(lines_of(found)), rendered=_rendered(found))
    here.screen.document(found.raw)
    if not found.ok:
        raise typer.Exit(ExitCode.NOT_SOUND)


def _mend(here: Session, name: str, *, check: str | None, reason: str | None) -> None:
    if reason is None:
        raise BadInput("a repair takes a reason, for the audit: --reason WORDS")
    if check is not None:
        raise BadInput("--check looks, --repair mends: say one of them")
    done = here.client.repair(name, reason=reason)
    here.screen.answer("\n".join(_repair_lines(done)))
    here.screen.document(done.raw)
    if done.left:
        here.screen.note("Say it again for more; what stays is for a person: see uketsuke doctor.")
        raise typer.Exit(ExitCode.NOT_SOUND)


def lines_of(found: Diagnosis) -> Iterator[str]:
    """Yield a line a check that holds; of the others what offends, and what to do."""
    for check in found.checks:
        yield from _check_lines(check)


def _check_lines(check: Check) -> Iterator[str]:
    if check.ok:
        yield f"{_OK}  {check.name}"
        return
    many = f"at least {check.count}" if check.count >= _COUNTED else str(check.count)
    yield f"{_NOT_OK}  {check.name}: {many} (looked at: {check.looked_at})"
    yield f"    {check.description}"
    yield from (f"    {row}" for row in check.rows)
    if check.count > len(check.rows):
        yield "    …"
    if check.repair:
        yield f"    repair: {check.repair}"
        yield f"    uketsuke doctor --repair {check.name} --reason WORDS"
    if check.by_hand:
        yield f"    by hand: {check.by_hand}"


def _rendered(found: Diagnosis) -> RenderableType:
    lines = (Text(printable(line)) for line in lines_of(found))
    return Group(*(_colored(line) for line in lines))


def _colored(line: Text) -> Text:
    line.highlight_regex(rf"^{_OK} ", "green")
    line.highlight_regex(rf"^{_NOT_OK} ", "bold red")
    return line


def _repair_lines(done: RepairReport) -> Iterator[str]:
    yield f"{done.check}: {len(done.rows)} mended, {done.left} left"
    yield from (f"    {row}" for row in done.rows)
