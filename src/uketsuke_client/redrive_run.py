"""Bulk redrives: what one would do, and how far one has come."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Self

from uketsuke_client import decode
from uketsuke_client.decode import JsonObject

# Where nothing of a bulk redrive starts any more. A state of a later server is taken for live.
_ENDS = frozenset({"stopped", "done"})


@dataclass(frozen=True, slots=True, kw_only=True)
class RedriveFilter:
    """Which open dead letters are meant: all that match every member that is given.

    ``before`` (RFC 3339) leaves out what failed later.
    """

    failure_class: str | None = None
    kind: str | None = None
    fingerprint: str | None = None
    tenant: str | None = None
    before: str | None = None

    def to_json(self) -> dict[str, str]:
        members = {
            "class": self.failure_class,
            "kind": self.kind,
            "fingerprint": self.fingerprint,
            "tenant": self.tenant,
            "before": self.before,
        }
        return {name: value for name, value in members.items() if value is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class RedrivePlan:
    """What a bulk redrive would do: nothing of it has been done.

    ``count`` open dead letters match; ``replayable`` of them need no patch and would be redriven.
    The estimate leaves out the ``unpriced`` and is None if no price is known.
    """

    count: int
    replayable: int
    unpriced: int
    estimated_cost_usd: str | None
    raw: JsonObject = field(repr=False, compare=False)

    @classmethod
    def from_json(cls, raw: JsonObject) -> Self:
        """Return the plan in ``raw``. Raises ``ValueError`` if that is not one at all."""
        count, replayable = decode.whole(raw, "count"), decode.whole(raw, "replayable")
        if count is None or replayable is None:
            raise ValueError("the answer is no dry run: it lacks a count, or what is replayable")
        return cls(
            count=count,
            replayable=replayable,
            unpriced=decode.whole(raw, "unpriced") or 0,
            estimated_cost_usd=decode.text(raw, "estimated_cost_usd"),
            raw=raw,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RedriveRun:
    """A bulk redrive. ``started`` jobs are made; what of them has ended so far is counted.

    ``skipped`` dead letters were passed over and stay open; ``skipped_because`` counts why.
    """

    id: str
    state: str
    total: int
    started: int
    succeeded: int
    failed: int
    canceled: int
    skipped: int
    skipped_because: Mapping[str, int]
    stopped_because: str | None
    stopped_detail: str | None
    stopped_by: str | None
    reason: str | None
    rate_per_minute: int | None
    canary: int | None
    filter: JsonObject
    created_at: datetime | None
    finished_at: datetime | None
    raw: JsonObject = field(repr=False, compare=False)

    @property
    def ended(self) -> bool:
        """Whether it starts nothing more. Jobs that it started may still be at work."""
        return self.state in _ENDS

    @classmethod
    def from_json(cls, raw: JsonObject) -> Self:
        """Return the bulk redrive in ``raw``. Raises ``ValueError`` if that is not one at all."""
        run_id, state = decode.text(raw, "id"), decode.text(raw, "state")
        if not (run_id and state):
            raise ValueError("the answer is not a bulk redrive: it lacks an id or a state")
        return cls(
            **{name: decode.whole(raw, name) or 0 for name in _COUNTS},
            id=run_id,
            state=state,
            skipped_because=decode.counts(raw, "skipped_because"),
            stopped_because=decode.text(raw, "stopped_because"),
            stopped_detail=decode.text(raw, "stopped_detail"),
            stopped_by=decode.text(raw, "stopped_by"),
            reason=decode.text(raw, "reason"),
            rate_per_minute=decode.whole(raw, "rate_per_minute"),
            canary=decode.whole(raw, "canary"),
            filter=decode.nested(raw, "filter") or {},
            created_at=decode.moment(raw, "created_at"),
            finished_at=decode.moment(raw, "finished_at"),
            raw=raw,
        )


_COUNTS = ("total", "started", "succeeded", "failed", "canceled", "skipped")
