"""``uketsuke metrics``: how the deployment does, and which conditions worth an alert hold."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from uketsuke_client.clock import Clock
from uketsuke_client.command.age import age
from uketsuke_client.command.figures import figure_table
from uketsuke_client.command.option import DEFAULT_URL, Json, Key, Url
from uketsuke_client.command.screen import printable
from uketsuke_client.command.session import session
from uketsuke_client.metrics import Condition

_HEAD = ("condition", "value", "limit", "holds since", "computed")


def metrics(url: Url = DEFAULT_URL, key: Key = None, json_output: Json = False) -> None:
    """Show what is worth an alert: each condition's value, its limit, and since when it holds.

    A terminal shows the figures of now and of the last hour too; --json has all of them.
    """
    with session(url=url, key=key, json_output=json_output) as here:
        found, now = here.client.metrics(), Clock().now()
        here.screen.answer(
            condition_lines(found.conditions, now=now),
            rendered=Group(figure_table(found.raw), "", condition_table(found.conditions, now=now)),
        )
        here.screen.document(found.raw)


def condition_lines(conditions: Sequence[Condition], *, now: float) -> str:
    return "\n".join("\t".join(_cells(each, now=now)) for each in conditions)


def condition_table(conditions: Sequence[Condition], *, now: float) -> RenderableType:
    table = Table(*_HEAD, box=None, header_style="dim", pad_edge=False)
    for each in conditions:
        style = "red" if each.holds else ""
        table.add_row(*(Text(printable(cell), style=style) for cell in _cells(each, now=now)))
    return table


def _cells(condition: Condition, *, now: float) -> tuple[str, ...]:
    return (
        condition.name,
        "not known" if condition.value is None else str(condition.value),
        "" if condition.limit is None else str(condition.limit),
        age(condition.since, now=now) if condition.holds else "does not hold",
        age(condition.computed_at, now=now),
    )
