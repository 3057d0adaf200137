"""Values for tests of the HTTP layer: give what matters, the rest is filled in."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal

import msgspec

from uketsuke.domain.ids import time_sorted_id
from uketsuke.domain.job import InputForm, InputPlace, Job, NewJob, Upload
from uketsuke.domain.lane import Capability
from uketsuke.domain.lifecycle import Engine, JobState, Origin
from uketsuke.kinds.kind import Kind, Result, Work, always_queue

TENANT = "t_alpha"
OTHER_TENANT = "t_beta"
# Other work on the same machine must not fail a property.
CREATED = datetime(2026, 11, 29, 12, 0, 0, tzinfo=UTC)


class SummaryParams(msgspec.Struct, frozen=True, kw_only=True):
    max_words: Annotated[int, msgspec.Meta(ge=10, le=1000)] = 120
    style: Literal["paragraph", "bullets"] = "paragraph"


class NoParams(msgspec.Struct, frozen=True, kw_only=True):
    pass


async def _run(_work: Work, _params: msgspec.Struct) -> Result:
    raise NotImplementedError("no test of the HTTP layer works a job")


def a_kind(
    name: str,
    *forms: InputForm,
    params: type[msgspec.Struct] = NoParams,
    max_input_bytes: int = 600_000,
) -> Kind:
    return Kind(
        name=name,
        params=params,
        forms=frozenset(forms),
        max_input_bytes=max_input_bytes,
        engine=always_queue,
        calls=frozenset({Capability.CHAT}),
        run=_run,
    )


KINDS = {
    kind.name: kind
    for kind in (
        a_kind("summarize", InputForm.TEXT, InputForm.REF, params=SummaryParams),
        a_kind("embed", InputForm.TEXTS, InputForm.REF),
        a_kind("report", InputForm.REFS),
    )
}


def an_id(prefix: str, number: int) -> str:
    return time_sorted_id(prefix, now_ms=1, entropy=number.to_bytes(10, "big"))


def a_job(**given: Any) -> Job:
    filled: dict[str, Any] = {
        "id": an_id("job", 1),
        "tenant_id": TENANT,
        "kind": "summarize",
        "engine": Engine.QUEUE,
        "origin": Origin.API,
        "state": JobState.ACCEPTED,
        "run_key": None,
        "attempts": 0,
        "attempt_no": 0,
        "max_attempts": 5,
        "progress": None,
        "created_at": CREATED,
        "started_at": None,
        "leased_at": None,
        "finished_at": None,
        "due_at": CREATED,
        "deadline_at": CREATED + timedelta(hours=24),
        "expires_at": None,
        "cancel_requested_at": None,
        "erased_at": None,
        "error_class": None,
        "error_code": None,
        "usage": None,
        "attempts_cost_micros": None,
        "redriven_from": None,
        "redriven_to": None,
        "metadata": {},
        "params": {},
        "input": InputPlace(form=InputForm.TEXT, bytes=3),
        "result": None,
        "traceparent": None,
    }
    return Job(**{**filled, **given})


def job_from(new: NewJob, *, at: datetime) -> Job:
    """What a store makes of a submission."""
    return a_job(
        id=new.key.job_id,
        tenant_id=new.key.tenant_id,
        kind=new.kind,
        engine=new.engine,
        origin=new.origin,
        run_key=new.run_key,
        max_attempts=new.max_attempts,
        created_at=at,
        due_at=at,
        deadline_at=at + new.deadline,
        metadata=new.metadata,
        params=new.params,
        input=new.input,
        traceparent=new.traceparent,
    )


def an_upload(number: int = 1, **given: Any) -> Upload:
    ref = an_id("in", number)
    filled: dict[str, Any] = {
        "ref": ref,
        "tenant_id": TENANT,
        "object_key": f"{TENANT}/{ref}/x",
        "bytes": 10,
        "sha256": "5" * 64,
        "content_type": "text/plain",
        "expires_at": CREATED + timedelta(days=30),
    }
    return Upload(**{**filled, **given})
