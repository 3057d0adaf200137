"""Put a schedule: decide when it is next due, and write it durably."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from uketsuke.domain.cron import parse
from uketsuke.domain.job import InputForm, InputPlace
from uketsuke.domain.lifecycle import Engine, Origin
from uketsuke.domain.price import Expected
from uketsuke.domain.schedule import NewSchedule, Overlap, Schedule, ScheduleKey
from uketsuke.services.ports import Ports
from uketsuke.services.ports.schedules import PutSchedule
from uketsuke.services.submit import Submission, encode_content


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedSchedule:
    """A valid request for a schedule.

    ``content`` is the input's text(s) for the forms text and texts; ``refs`` names uploads.
    ``input_bytes`` is the size of the content, or of the uploads together.
    """

    key: ScheduleKey
    cron: str
    timezone: str
    kind: str
    form: InputForm
    content: str | Sequence[str] | None
    refs: tuple[str, ...]
    input_bytes: int
    params: Mapping[str, object]
    run_key: str | None
    overlap: Overlap
    enabled: bool
    expected: Expected | None = None


async def put_schedule(wanted: WantedSchedule, *, ports: Ports) -> PutSchedule | None:
    """Make the schedule or replace it; None if an upload that it names went meanwhile.

    A repeat of the same request changes nothing but the time of the last change.
    """
    return await ports.schedules.put(
        NewSchedule(
            key=wanted.key,
            generation=ports.dice.entropy(16).hex(),
            cron=wanted.cron,
            timezone=wanted.timezone,
            kind=wanted.kind,
            params=wanted.params,
            input=InputPlace(form=wanted.form, bytes=wanted.input_bytes, refs=wanted.refs),
            # However large: a row takes twice what a request's body may have.
            content=None if wanted.refs else encode_content(wanted.content),
            run_key=wanted.run_key,
            overlap=wanted.overlap,
            enabled=wanted.enabled,
            next_at=_next_at(wanted, now=ports.clock.now()),
            expected=wanted.expected,
        )
    )


def _next_at(wanted: WantedSchedule, *, now: datetime) -> datetime | None:
    if not wanted.enabled:
        return None
    return parse(wanted.cron, wanted.timezone).next_after(now)


def submission_of(
    schedule: Schedule, *, engine: Engine, run_limit: timedelta, origin: Origin, ports: Ports
) -> Submission:
    """Return the submission that a schedule, read with its content, stands for."""
    place, settings = schedule.input, ports.settings
    return Submission(
        tenant_id=schedule.tenant_id,
        kind=schedule.kind,
        engine=engine,
        form=place.form,
        content=None if schedule.content is None else json.loads(schedule.content),
        refs=place.refs,
        input_bytes=place.bytes,
        params=schedule.params,
        run_key=schedule.run_key,
        max_attempts=settings.default_max_attempts,
        deadline=settings.default_deadline,
        metadata={},
        idempotency_key=None,
        document={},
        traceparent=None,
        run_limit=run_limit,
        origin=origin,
        expected=schedule.expected,
    )
