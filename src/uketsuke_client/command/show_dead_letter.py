"""Dead letters and their groups as people read them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Final

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from uketsuke_client.command.age import age
from uketsuke_client.command.blocks import Row, blocks
from uketsuke_client.command.screen import printable
from uketsuke_client.command.show import shown_time
from uketsuke_client.dead_letter import DeadLetter, DeadLetterGroup, PastAttempt

_STYLES: Final[Mapping[str, str]] = {"open": "", "redriven": "green", "discarded": "dim"}
_HEAD = ("id", "failed", "tenant", "kind", "failure", "verdict")
_NARROW_HEAD = ("id", "failed", "verdict")
_WIDE_COLUMNS = 110  # from here on, a dead letter has room on one line
_ATTEMPT_HEAD = ("attempt", "ended", "outcome", "failure", "cost")
_GROUP_HEAD = ("count", "tenants", "first seen", "last seen", "verdict")


def letter_list_lines(letters: Iterable[DeadLetter]) -> str:
    return "\n".join("\t".join(_plain_cells(letter)) for letter in letters)


def letter_list_table(letters: Sequence[DeadLetter], *, width: int, now: float) -> RenderableType:
    if width < _WIDE_COLUMNS:
        return blocks(_NARROW_HEAD, [_narrow_row(letter, now=now) for letter in letters])
    table = Table(box=None, header_style="dim", pad_edge=False)
    for name in _HEAD:
        table.add_column(name, no_wrap=name == "id", overflow="fold")
    for letter in letters:
        cells = (
            letter.id,
            age(letter.last_failed_at, now=now),
            letter.tenant_id or "-",
            letter.kind or "-",
            _failure(letter),
            _standing(letter),
        )
        table.add_row(*(Text(printable(cell), style=_style(letter)) for cell in cells))
    return table


def group_lines(groups: Iterable[DeadLetterGroup]) -> str:
    return "\n".join(
        "\t".join(
            (
                group.fingerprint,
                str(group.count),
                str(group.tenants),
                _time(group.first_failed_at),
                _time(group.last_failed_at),
                group.verdict or "",
            )
        )
        for group in groups
    )


def group_table(groups: Sequence[DeadLetterGroup], *, now: float) -> RenderableType:
    return blocks(_GROUP_HEAD, [_group_row(group, now=now) for group in groups])


def letter_lines(letter: DeadLetter, *, now: float) -> str:
    """Return a dead letter as plain ``name: value`` lines, then a line an attempt."""
    facts = [f"{name}: {value}" for name, value in _facts(letter, now=now)]
    attempts = ["\t".join(("attempt", *_attempt_cells(each))) for each in letter.attempts_history]
    return "\n".join([*facts, *attempts])


def letter_table(letter: DeadLetter, *, now: float) -> RenderableType:
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in _facts(letter, now=now):
        table.add_row(name, Text(printable(value)))
    if not letter.attempts_history:
        return table
    return Group(table, Text(), _attempt_table(letter.attempts_history, now=now))


def next_steps(letter: DeadLetter) -> list[str]:
    """Return the commands that may follow, for a letter that is open."""
    if letter.status != "open":
        return []
    steps = []
    if letter.replayable:
        steps.append(f"Redrive it: uketsuke dlq redrive {letter.id} --reason …")
    elif letter.job_id:
        steps.append(f"With another input: uketsuke dlq redrive {letter.id} --patch … --reason …")
    return [*steps, f"Nothing to be done: uketsuke dlq discard {letter.id} --reason …"]


def _plain_cells(letter: DeadLetter) -> tuple[str, ...]:
    return (
        letter.id,
        _time(letter.last_failed_at),
        letter.tenant_id or "",
        letter.kind or "",
        letter.failure_class,
        letter.code,
        _standing(letter),
    )


def _narrow_row(letter: DeadLetter, *, now: float) -> Row:
    whose = f" of {letter.tenant_id}" if letter.tenant_id else ""
    return Row(
        cells=(letter.id, age(letter.last_failed_at, now=now), _standing(letter)),
        under=f"{letter.kind or 'no job'}{whose}: {_failure(letter)}",
        style=_style(letter),
    )


def _group_row(group: DeadLetterGroup, *, now: float) -> Row:
    return Row(
        cells=(
            str(group.count),
            str(group.tenants),
            age(group.first_failed_at, now=now),
            age(group.last_failed_at, now=now),
            group.verdict or "",
        ),
        under=group.fingerprint,
    )


def _standing(letter: DeadLetter) -> str:
    """Return what most likely helps, or what was done already."""
    return (letter.verdict or "") if letter.status == "open" else letter.status


def _style(letter: DeadLetter) -> str:
    return _STYLES.get(letter.status, "")


def _failure(letter: DeadLetter) -> str:
    return f"{letter.failure_class}, {letter.code}"


def _facts(letter: DeadLetter, *, now: float) -> Iterator[tuple[str, str]]:
    yield "id", letter.id
    yield "status", letter.status
    yield "failure", f"{letter.code} ({letter.failure_class}): {letter.message or ''}"
    if letter.verdict:
        yield "verdict", letter.verdict
    told = "yes" if letter.replayable else "no"
    yield "replayable", f"{told}: {letter.replayable_reason or ''}"
    yield from _origin(letter)
    yield from _times(letter, now=now)
    yield from _resolution(letter)
    if letter.fingerprint:
        yield "fingerprint", letter.fingerprint


def _origin(letter: DeadLetter) -> Iterator[tuple[str, str]]:
    for name in ("tenant_id", "job_id", "kind", "model", "road", "queue", "message_id"):
        if value := getattr(letter, name):
            yield name.removesuffix("_id").replace("_", " "), value
    yield "attempts", str(letter.attempts)


def _times(letter: DeadLetter, *, now: float) -> Iterator[tuple[str, str]]:
    for name, at in (
        ("first failed", letter.first_failed_at),
        ("last failed", letter.last_failed_at),
        ("triage due", letter.triage_due_at),
        ("input kept until", letter.replayable_until),
    ):
        if at:
            yield name, f"{shown_time(at)} ({age(at, now=now)})"


def _resolution(letter: DeadLetter) -> Iterator[tuple[str, str]]:
    if letter.redrive_count:
        yield "redrives of its line", str(letter.redrive_count)
    for name in ("redriven_to", "redrive_id", "resolved_by", "reason"):
        if value := getattr(letter, name):
            yield name.removesuffix("_id").replace("_", " "), value
    if letter.resolved_at:
        yield "resolved", shown_time(letter.resolved_at)


def _attempt_table(attempts: Sequence[PastAttempt], *, now: float) -> RenderableType:
    table = Table(*_ATTEMPT_HEAD, box=None, header_style="dim", pad_edge=False)
    for attempt in attempts:
        number, _, outcome, failure, _, cost = _attempt_cells(attempt)
        cells = (number, age(attempt.ended_at, now=now), outcome, failure, cost)
        table.add_row(*(Text(printable(cell)) for cell in cells))
    return table


def _attempt_cells(attempt: PastAttempt) -> tuple[str, ...]:
    return (
        str(attempt.number),
        _time(attempt.ended_at),
        attempt.outcome or "",
        attempt.code or "",
        attempt.model or "",
        f"${attempt.cost_usd}" if attempt.cost_usd else "",
    )


def _time(at: datetime | None) -> str:
    return shown_time(at) if at else ""
