"""What is said of alerts: JSON whose ``text`` Slack-compatible receivers show, and our own members.

Figures, names and times, and no content: not a word of a job's.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Final, NamedTuple

from uketsuke.domain.alert import Alert, Standing
from uketsuke.domain.condition import Condition, ConditionName


def _count(value: int) -> str:
    return str(value)


def _duration(seconds: int) -> str:
    if seconds < 120:
        return f"{seconds} s"
    minutes = seconds // 60
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h {minutes % 60} min"


def _percent(value: int) -> str:
    return f"{value} %"


def _per_mille(value: int) -> str:
    return f"{value // 10}.{value % 10} %"


def _dollars(cents: int) -> str:
    return f"${cents // 100}.{cents % 100:02d}"


class Phrase(NamedTuple):
    """What a condition measures, in words, and how its figures are written."""

    words: str
    write: Callable[[int], str]


PHRASES: Final[Mapping[str, Phrase]] = MappingProxyType(
    {
        ConditionName.PAST_TRIAGE: Phrase("dead letters past their triage time", _count),
        ConditionName.EXPIRING: Phrase("open dead letters whose input goes soon", _count),
        ConditionName.GROWTH: Phrase("dead letters of the last hour", _count),
        ConditionName.DLQ_OLDEST: Phrase("longest wait in the dead-letter queue", _duration),
        ConditionName.WAITING: Phrase("time since the oldest waiting job came", _duration),
        ConditionName.DUE: Phrase("time for which a job is due and nobody takes it", _duration),
        ConditionName.FAILED: Phrase("jobs of the last hour that failed", _per_mille),
        ConditionName.BUDGET: Phrase("share of its day's budget that a tenant has used", _percent),
        ConditionName.SPEND: Phrase("cost of today", _dollars),
        ConditionName.SWEEP_LAG: Phrase("time since a duty of the sweep was done", _duration),
        ConditionName.DENIED: Phrase("models that know neither our key nor their name", _count),
    }
)
# Of a condition that only another version knows.
_ANY: Final = Phrase("its value", _count)


def message_of(standings: Sequence[Standing]) -> Mapping[str, object]:
    """Return one message about all of them. The same things said again have the same ``id``."""
    told = [(each.alert, each.condition) for each in standings if each.alert]
    ids = " ".join(alert.id for alert, _ in told)
    lines = [_line(alert, condition) for alert, condition in told]
    return {
        "text": _escaped("\n".join([_headline([alert for alert, _ in told]), *lines])),
        "id": f"alerts_{hashlib.sha256(ids.encode()).hexdigest()[:32]}",
        "alerts": [_item(alert, condition) for alert, condition in told],
    }


def _headline(alerts: Sequence[Alert]) -> str:
    firing = sum(alert.fires for alert in alerts)
    over = len(alerts) - firing
    parts = [f"{firing} firing" if firing else "", f"{over} resolved" if over else ""]
    return f"Uketsuke: {', '.join(part for part in parts if part)}"


def _line(alert: Alert, condition: Condition) -> str:
    words, write = PHRASES.get(alert.name, _ANY)
    value = "unknown" if condition.value is None else write(condition.value)
    about = f" ({condition.subject})" if condition.subject and alert.fires else ""
    figures = f"{words}: {value}, limit {write(condition.bound)}{about}"
    return f"- {_verb(alert)} {alert.name}: {figures}; {_when(alert)}"


def _verb(alert: Alert) -> str:
    if not alert.fires:
        return "RESOLVED"
    return "STILL FIRING" if alert.told_that_it_fires else "FIRING"


def _when(alert: Alert) -> str:
    if alert.fires or alert.cleared_at is None:
        return f"since {_minute(alert.since)}"
    return f"from {_minute(alert.since)} to {_minute(alert.cleared_at)}"


def _minute(time: datetime | None) -> str:
    return f"{time:%Y-%m-%d %H:%M} UTC" if time else "unknown"


def _item(alert: Alert, condition: Condition) -> Mapping[str, object]:
    return {
        "id": alert.id,
        "name": alert.name,
        "state": "firing" if alert.fires else "resolved",
        "reminder": alert.fires and alert.told_that_it_fires,
        "value": condition.value,
        "limit": condition.bound,
        "subject": condition.subject,
        "since": _iso(alert.since),
        "fired_at": _iso(alert.fired_at),
        "resolved_at": _iso(alert.resolved_at),
        "runbook": f"docs/alerts.md#{alert.name}",
    }


def _iso(time: datetime | None) -> str | None:
    return time.isoformat(timespec="milliseconds").replace("+00:00", "Z") if time else None


def _escaped(text: str) -> str:
    """Escape what Slack takes for its own markup: a subject's name could hold it."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
