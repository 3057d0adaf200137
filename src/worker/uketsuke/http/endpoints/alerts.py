"""``GET /v1/alerts``: how the objectives stand, and whether somebody was told."""

from __future__ import annotations

from datetime import datetime

from uketsuke.domain.alert import Alert
from uketsuke.domain.condition import Condition
from uketsuke.http.answer import PRIVATE, rfc3339, tagged_answer
from uketsuke.http.context import Context
from uketsuke.http.message import Request, Response


async def list_alerts(request: Request, context: Context) -> Response:
    """List the alerts by name, as the sweep left them. There is one page."""
    standings = await context.ports.alerts.standing()
    items = [_show(each.condition, each.alert) for each in standings if each.alert]
    return tagged_answer({"items": items, "next": None}, asked=request.headers, headers=PRIVATE)


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
