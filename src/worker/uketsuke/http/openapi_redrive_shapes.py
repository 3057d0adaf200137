"""The shapes of bulk redrives, as OpenAPI tells them; see openapi_shapes.py."""

from __future__ import annotations

from datetime import datetime

from uketsuke.domain.bulk_redrive import RedriveState, SkipReason, StoppedBecause
from uketsuke.domain.failure import ErrorClass
from uketsuke.http.openapi_shapes import Money, Shape


class RedriveEstimate(Shape):
    """What a bulk redrive would touch; the cost leaves out the unpriced."""

    count: int
    replayable: int
    estimated_cost_usd: Money | None
    unpriced: int


class ShownFilter(Shape, rename={"error_class": "class"}):
    """Which letters a bulk redrive means; null is any."""

    error_class: ErrorClass | None
    kind: str | None
    fingerprint: str | None
    tenant: str | None
    before: datetime | None


class RedriveLinks(Shape, rename={"own": "self"}):
    """Where to go from here; path-absolute."""

    own: str
    stop: str


class Redrive(Shape):
    """One bulk redrive, and what became of what it has started so far."""

    id: str
    state: RedriveState
    filter: ShownFilter
    reason: str
    rate_per_minute: int
    canary: int
    total: int
    started: int
    succeeded: int
    failed: int
    canceled: int
    skipped: int
    skipped_because: dict[SkipReason, int]
    stopped_because: StoppedBecause | None
    stopped_detail: str | None
    stopped_by: str | None
    created_at: datetime
    created_by: str
    finished_at: datetime | None
    links: RedriveLinks


class RedriveList(Shape):
    """A page of bulk redrives, newest first."""

    items: list[Redrive]
    next: str | None
