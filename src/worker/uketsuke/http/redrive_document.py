"""From the JSON of ``POST /v1/redrives`` to what is wanted or all faults; a bulk redrive shown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, UnsetType

from uketsuke.domain.bulk_redrive import (
    MOST_A_MINUTE,
    MOST_CANARIES,
    BulkRedrive,
    Estimate,
    LetterFilter,
)
from uketsuke.domain.failure import ErrorClass
from uketsuke.domain.money import show_usd
from uketsuke.http.answer import rfc3339
from uketsuke.http.characters import bad_characters
from uketsuke.http.instant import LIKE, read_instant
from uketsuke.http.problem import Fault
from uketsuke.http.reason import Reason, reason_faults
from uketsuke.http.walk import find_faults
from uketsuke.services.ports import ShownRedrive

_Name = Annotated[str, Meta(min_length=1, max_length=500)]


class RedriveFilter(msgspec.Struct, frozen=True, kw_only=True, rename={"error_class": "class"}):
    """Which open dead letters are meant: those that fit all that is given."""

    error_class: _Name | None = None
    kind: _Name | None = None
    fingerprint: _Name | None = None
    tenant: _Name | None = None
    before: Annotated[str, Meta(extra_json_schema={"format": "date-time"})] | None = None


class RedriveOrder(msgspec.Struct, frozen=True, kw_only=True):
    """What to redrive in bulk, and how. A dry run needs no reason: it changes nothing."""

    filter: RedriveFilter
    reason: Reason | UnsetType = UNSET
    rate_per_minute: Annotated[int, Meta(ge=1, le=MOST_A_MINUTE)] = 60
    canary: Annotated[int, Meta(ge=0, le=MOST_CANARIES)] = 3
    dry_run: bool = False


class StopOrder(msgspec.Struct, frozen=True, kw_only=True):
    """Why a bulk redrive is stopped, if that is to be told."""

    reason: Reason | None = None


def order_faults(document: object) -> Iterator[Fault]:
    """Find everything that is wrong with an order."""
    yield from bad_characters(document)
    yield from find_faults(document, RedriveOrder)
    yield from reason_faults(document)
    if isinstance(document, dict):
        if document.get("dry_run", False) is False and "reason" not in document:
            yield Fault(pointer="/reason", code="missing", detail="reason is required.")
        if isinstance(document.get("filter"), dict):
            yield from _filter_faults(document["filter"])


def stop_faults(document: object) -> Iterator[Fault]:
    yield from bad_characters(document)
    yield from find_faults(document, StopOrder)
    yield from reason_faults(document)


def _filter_faults(given: Mapping[str, object]) -> Iterator[Fault]:
    name, before = given.get("class"), given.get("before")
    if isinstance(name, str) and name and name not in set(ErrorClass):
        detail = f"Give one of {', '.join(ErrorClass)} here."
        yield Fault(pointer="/filter/class", code="bad_value", detail=detail)
    if isinstance(before, str) and read_instant(before) is None:
        detail = f"Give {LIKE} here."
        yield Fault(pointer="/filter/before", code="bad_value", detail=detail)


def to_filter(given: RedriveFilter) -> LetterFilter:
    return LetterFilter(
        error_class=given.error_class,
        kind=given.kind,
        fingerprint=given.fingerprint,
        tenant_id=given.tenant,
        before=read_instant(given.before) if given.before else None,
    )


def show_estimate(estimate: Estimate) -> dict[str, object]:
    cost = estimate.cost_micros
    return {
        "count": estimate.count,
        "replayable": estimate.replayable,
        "estimated_cost_usd": None if cost is None else show_usd(cost),
        "unpriced": estimate.unpriced,
    }


def redrive_path(redrive_id: str) -> str:
    return f"/v1/redrives/{redrive_id}"


def show_redrive(shown: ShownRedrive) -> dict[str, object]:
    """Return the bulk redrive's document with its figures of now."""
    redrive, figures = shown.redrive, shown.figures
    stopping, path = redrive.stopping, redrive_path(redrive.id)
    return {
        "id": redrive.id,
        "state": redrive.state,
        "filter": _show_filter(redrive),
        "reason": redrive.reason,
        "rate_per_minute": redrive.rate_per_minute,
        "canary": redrive.canary,
        "total": redrive.total,
        "started": figures.started,
        "succeeded": figures.succeeded,
        "failed": figures.failed,
        "canceled": figures.canceled,
        "skipped": sum(figures.skipped.values()),
        "skipped_because": figures.skipped,
        "stopped_because": stopping.because if stopping else None,
        "stopped_detail": stopping.detail if stopping else None,
        "stopped_by": redrive.stopped_by,
        "created_at": rfc3339(redrive.created_at),
        "created_by": redrive.created_by,
        "finished_at": rfc3339(redrive.finished_at) if redrive.finished_at else None,
        "links": {"self": path, "stop": f"{path}/stop"},
    }


def _show_filter(redrive: BulkRedrive) -> dict[str, Any]:
    wanted = redrive.wanted
    return {
        "class": wanted.error_class,
        "kind": wanted.kind,
        "fingerprint": wanted.fingerprint,
        "tenant": wanted.tenant_id,
        "before": rfc3339(wanted.before) if wanted.before else None,
    }
