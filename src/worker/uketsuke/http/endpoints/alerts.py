"""``GET /v1/alerts``: how the objectives stand, and whether somebody was told."""

from __future__ import annotations

from datetime import datetime

from uketsuke.domain.alert import Alert
from uketsuke.domain.condition import Condition
from uketsuke.http.answer import PRIVATE, json_answer, rfc3339
from uketsuke.http.context import Context
from uketsuke.http.message import Request, Response


async def list_alerts(_request: Request, context: Context) -> Response:
    """List the alerts by name, as the sweep left them. There is one page."""
    at, standings = await context.ports.alerts.look()
    items = [_show(each.condition, each.alert) for each in standings if each.alert]
    document = {"at": rfc3339(at), "items": items, "next": None}
    # No entity tag: the time it is as of is never the same.
    return json_answer(200, document, headers=PRIVATE)


def _show(condition: Condition, alert: Alert) -> dict[str, object]:
    since = alert.since if alert.fires else condition.since
    return {
        "name": alert.name,
        "state": alert.state,
        "value": condition.value,
        "limit": condition.bound,
        "subject": condition.subject,
        "since": _time(since),
        "fired_at": _time(alert.fired_at),
        "resolved_at": _time(alert.resolved_at),
        "computed_at": rfc3339(condition.computed_at),
        "delivery": {
            "pending": alert.untold,
            "last_at": _time(alert.told_at),
            "tries": alert.tries if alert.untold else 0,
            "error_class": alert.fault,
        },
    }


def _time(time: datetime | None) -> str | None:
    return rfc3339(time) if time else None
