"""``uketsuke alerts``: how the objectives stand, and whether somebody was told."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from uketsuke_client.alert import Alert, AlertDelivery
from uketsuke_client.clock import Clock
from uketsuke_client.command.age import age
from uketsuke_client.command.option import DEFAULT_URL, Json, Key, Url
from uketsuke_client.command.screen import printable
from uketsuke_client.command.session import session

_HEAD = ("state", "objective", "value", "limit", "about", "since", "told")
_STYLES = {"firing": "red", "pending": "yellow"}


def alerts(url: Url = DEFAULT_URL, key: Key = None, json_output: Json = False) -> None:
    """Show how the objectives stand: which alerts fire, since when, and whether you were told."""
    with session(url=url, key=key, json_output=json_output) as here:
        found, now = here.client.alerts(), Clock().now()
        here.screen.answer(
            alert_lines(found.items, now=now), rendered=alert_table(found.items, now=now)
        )
        here.screen.document(found.raw)


def alert_lines(items: Sequence[Alert], *, now: float) -> str:
    return "\n".join("\t".join(_cells(each, now=now)) for each in items)


def alert_table(items: Sequence[Alert], *, now: float) -> RenderableType:
    table = Table(*_HEAD, box=None, header_style="dim", pad_edge=False)
    for each in items:
        style = _STYLES.get(each.state, "")
        table.add_row(*(Text(printable(cell), style=style) for cell in _cells(each, now=now)))
    return table


def _cells(alert: Alert, *, now: float) -> tuple[str, ...]:
    return (
        alert.state,
        alert.name,
        "not known" if alert.value is None else str(alert.value),
        "" if alert.limit is None else str(alert.limit),
        alert.subject or "",
        age(alert.since, now=now) if alert.since and alert.state != "ok" else "",
        _told(alert.delivery, now=now),
    )


def _told(delivery: AlertDelivery, *, now: float) -> str:
    """Say what became of the last message; nothing if there never was one."""
    if delivery.pending:
        why = f": {delivery.error_class}" if delivery.error_class else ""
        return f"not yet{why}"
    return age(delivery.last_at, now=now) if delivery.last_at else ""
