"""Between rows and the domain's values."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from uketsuke.adapters.sql.database import Row
from uketsuke.domain.failure import ErrorClass
from uketsuke.domain.job import (
    Attempt,
    Ending,
    Funds,
    InputForm,
    InputPlace,
    Job,
    JobKey,
    LeasedJob,
    Progress,
    ResultPlace,
    SeenJob,
    Upload,
    Usage,
)
from uketsuke.domain.lane import parse_lane
from uketsuke.domain.lifecycle import Engine, JobState, Origin, Outcome
from uketsuke.domain.price import Expected, Tariff

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def to_time(value: float) -> datetime:
    """Turn epoch milliseconds into an aware time."""
    return _EPOCH + timedelta(milliseconds=int(value))


def to_time_or_none(value: float | None) -> datetime | None:
    return None if value is None else to_time(value)


def from_time(time: datetime) -> int:
    """Turn an aware time into epoch milliseconds."""
    return to_ms(time - _EPOCH)


def from_time_or_none(time: datetime | None) -> int | None:
    return None if time is None else from_time(time)


def to_ms(duration: timedelta) -> int:
    """Turn a duration into whole milliseconds."""
    return duration // timedelta(milliseconds=1)


def to_duration(value: float) -> timedelta:
    return timedelta(milliseconds=value)


def dump(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def load(text: str) -> Any:
    return json.loads(text)


def to_job(row: Row) -> Job:
    total = row["progress_total"]
    return Job(
        id=row["id"],
        tenant_id=row["tenant_id"],
        kind=row["kind"],
        engine=Engine(row["engine"]),
        origin=Origin(row["origin"]),
        state=JobState(row["state"]),
        run_key=row["run_key"],
        attempts=row["attempts"],
        attempt_no=row["attempt_no"],
        max_attempts=row["max_attempts"],
        progress=None if total is None else Progress(done=row["progress_done"], total=total),
        created_at=to_time(row["created_at"]),
        started_at=to_time_or_none(row["started_at"]),
        leased_at=to_time_or_none(row["leased_at"]),
        finished_at=to_time_or_none(row["finished_at"]),
        due_at=to_time(row["due_at"]),
        deadline_at=to_time(row["deadline_at"]),
        expires_at=to_time_or_none(row["expires_at"]),
        cancel_requested_at=to_time_or_none(row["cancel_requested_at"]),
        erased_at=to_time_or_none(row["erased_at"]),
        error_class=to_error_class(row["error_class"]),
        error_code=row["error_code"],
        usage=to_usage(row["usage"]),
        attempts_cost_micros=row["attempts_cost_micros"],
        redriven_from=row["redriven_from"],
        redriven_to=row["redriven_to"],
        metadata=json.loads(row["metadata"]),
        params=json.loads(row["params"]),
        input=to_input_place(row["input"]),
        result=to_result_place(row["result"]),
        traceparent=row["traceparent"],
        max_cost_micros=row["max_cost_micros"],
        charged_micros=row["charged_micros"],
        unknown_costs=row["unknown_costs"],
        redrives=row["redrives"],
        expected=to_expected(row["expected"]),
    )


def to_error_class(text: str | None) -> ErrorClass | None:
    if text is None:
        return None
    try:
        return ErrorClass(text)
    except ValueError:  # written by a newer version
        return ErrorClass.UNKNOWN


def to_usage(text: str | None) -> Usage | None:
    return None if text is None else Usage(**_known(json.loads(text), Usage))


def from_usage(usage: Usage | None) -> str | None:
    if usage is None:
        return None
    figures = {name: getattr(usage, name) for name in Usage.__dataclass_fields__}
    return dump({name: value for name, value in figures.items() if value is not None})


def to_expected(text: str | None) -> Expected | None:
    if text is None:
        return None
    kept = json.loads(text)
    return Expected(
        input_tokens=kept["i"], output_tokens=kept["o"], audio_ms=kept["a"], calls=kept["n"]
    )


def from_expected(expected: Expected | None) -> str | None:
    """Write it with the short names that the claiming statement reads."""
    if expected is None:
        return None
    return dump(
        {
            "i": expected.input_tokens,
            "o": expected.output_tokens,
            "a": expected.audio_ms,
            "n": expected.calls,
        }
    )


def to_input_place(text: str) -> InputPlace:
    kept = json.loads(text)
    return InputPlace(
        form=InputForm(kept["form"]),
        bytes=kept["bytes"],
        object_key=kept.get("object_key"),
        refs=tuple(kept.get("refs", ())),
    )


def from_input_place(place: InputPlace) -> str:
    kept: dict[str, object] = {"form": place.form, "bytes": place.bytes}
    if place.object_key:
        kept["object_key"] = place.object_key
    if place.refs:
        kept["refs"] = place.refs
    return dump(kept)


def to_result_place(text: str | None) -> ResultPlace | None:
    return None if text is None else ResultPlace(**_known(json.loads(text), ResultPlace))


def from_result_place(place: ResultPlace | None) -> str | None:
    if place is None:
        return None
    return dump(
        {
            "bytes": place.bytes,
            "content_type": place.content_type,
            "attempt": place.attempt,
            "object_key": place.object_key,
        }
    )


def to_leased_job(row: Row, *, token: str) -> LeasedJob:
    return LeasedJob(
        job=to_job(row),
        token=token,
        call_epoch=row["call_epoch"],
        inline_input=row["inline_input"],
        time_left=to_duration(row["time_left"]),
        limit_left=to_duration(row["limit_left"]),
        taken_over=bool(row["taken_over"]),
        lost_before=bool(row["lost_before"]),
        reserved_micros=row["reserved_micros"],
        lives=row["lives"],
        funds=to_funds(row["funds"]),
    )


def to_funds(text: str | None) -> Funds | None:
    return None if text is None else Funds(text)


def to_seen_job(row: Row) -> SeenJob:
    ends_in = row["lease_ends_in"]
    return SeenJob(
        job=to_job(row),
        lease_ends_in=None if ends_in is None else to_duration(ends_in),
        due_in=to_duration(row["due_in"]),
        time_left=to_duration(row["time_left"]),
        quarantined=bool(row["quarantined"]),
        spent=bool(row["spent"]),
        funds=to_funds(row["funds"]),
    )


def to_attempt(row: Row) -> Attempt:
    return Attempt(
        number=row["number"],
        started_at=to_time(row["started_at"]),
        ended_at=to_time(row["ended_at"]),
        outcome=Outcome(row["outcome"]),
        state=JobState(row["state"]),
        error_class=to_error_class(row["error_class"]),
        error_code=row["error_code"],
        usage=to_usage(row["usage"]),
        provider_ms=row["provider_ms"],
    )


def to_upload(row: Row) -> Upload:
    return Upload(
        ref=row["id"],
        tenant_id=row["tenant_id"],
        object_key=row["object_key"],
        bytes=row["bytes"],
        sha256=row["sha256"],
        content_type=row["content_type"],
        expires_at=to_time(row["expires_at"]),
    )


def from_keys(keys: Iterable[JobKey]) -> str:
    """Write job keys as the JSON array of [tenant, id] that the statements take."""
    return dump([list(key) for key in keys])


def from_tariff(tariff: Tariff) -> tuple[str, int | None]:
    """Write the kinds' rates and the daily budget as the statements take them."""
    rates = {kind: list(rates) for kind, rates in tariff.rates.items()}
    return dump(rates), tariff.daily_budget_micros


def from_ending(ending: Ending, *, grace: timedelta) -> Mapping[str, object]:
    """Write an ending with the short names that the settling statements read."""
    failure = ending.failure
    return {
        "t": ending.key.tenant_id,
        "i": ending.key.job_id,
        "k": ending.token,
        "n": ending.attempt,
        "s": ending.state,
        "o": ending.outcome,
        "c": failure.error_class if failure else None,
        "d": failure.code if failure else None,
        "w": to_ms(ending.wait),
        "z": to_ms(grace),
        "g": int(ending.gives_back),
        "e": int(ending.new_epoch),
        "r": from_result_place(ending.result),
        "x": ending.result_text,
        "u": from_usage(ending.usage),
        "p": ending.provider_ms,
        "m": _asked_model(ending),
        **_costs(ending.usage),
        "road": ending.road,
    }


def _asked_model(ending: Ending) -> str | None:
    """Return the model that turned the attempt away, else the last one that was asked."""
    if ending.failure and ending.failure.lane:
        return parse_lane(ending.failure.lane).model
    return ending.usage.asked_model if ending.usage else None


def _costs(usage: Usage | None) -> Mapping[str, object]:
    """An attempt without a use has called nobody: that costs nothing, and is known."""
    if usage is None:
        return {"cost": None, "charged": 0, "unknown": 0}
    return {
        "cost": usage.cost_micros,
        "charged": usage.charged_micros or 0,
        "unknown": int(usage.whole_cost is None),
    }


def _known(document: Mapping[str, Any], shape: type) -> dict[str, Any]:
    """Keep the members that this version knows: a newer one may have written more."""
    return {name: document[name] for name in shape.__dataclass_fields__ if name in document}  # type: ignore[attr-defined]
