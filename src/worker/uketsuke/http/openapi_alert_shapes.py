"""The shapes of what operators are told of alerts."""

from __future__ import annotations

from datetime import datetime

from uketsuke.domain.alert import AlertState, DeliveryFault
from uketsuke.http.openapi_shapes import Shape


class AlertDelivery(Shape):
    """What became of what is to be said; ``error_class`` is of the last try, if that failed."""

    pending: bool
    last_at: datetime | None
    tries: int
    error_class: DeliveryFault | None


class Alert(Shape):
    """An objective. ``since``: when its value went above the limit, in this firing if it fires."""

    name: str
    state: AlertState
    value: int | None
    limit: int
    subject: str | None
    since: datetime | None
    fired_at: datetime | None
    resolved_at: datetime | None
    computed_at: datetime
    delivery: AlertDelivery


class AlertList(Shape):
    """The alerts by name. There is one page. ``at``: when it was looked at."""

    at: datetime
    items: list[Alert]
    next: None
