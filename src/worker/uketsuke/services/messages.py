"""What the queue carries: a hint that says "look at this job", under 1 KB, without content."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from uketsuke.domain.ids import JOB_ID
from uketsuke.domain.job import Job, JobKey

SCHEMA_VERSION = 1
# Versions count up by one: a larger number is nobody's, and no column would hold it.
_LAST_VERSION = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A readable message of a version that we know."""

    key: JobKey
    kind: str
    traceparent: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Newer:
    """A message of a later version: a rollout may be under way."""

    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Undecodable:
    """Not a message of ours."""


def message_for(job: Job) -> dict[str, object]:
    """Return the body that tells a consumer to look at ``job``."""
    return {
        "v": SCHEMA_VERSION,
        "job": job.id,
        "tenant": job.tenant_id,
        "kind": job.kind,
        "input": job.input.refs[0] if job.input.refs else None,
        "traceparent": job.traceparent,
    }


def read_message(body: object) -> Message | Newer | Undecodable:
    """Read a body as it came off the queue. Total: whatever it is, there is an answer."""
    if not isinstance(body, Mapping):
        return Undecodable()
    version = body.get("v")
    if isinstance(version, bool) or not isinstance(version, int):
        return Undecodable()
    if not 1 <= version <= _LAST_VERSION:
        return Undecodable()
    if version > SCHEMA_VERSION:
        return Newer(version=version)
    job, tenant, kind = body.get("job"), body.get("tenant"), body.get("kind")
    if not (isinstance(job, str) and isinstance(tenant, str) and isinstance(kind, str)):
        return Undecodable()
    if not JOB_ID.fullmatch(job) or not 0 < len(tenant) <= 64:
        return Undecodable()
    trace = body.get("traceparent")
    return Message(
        key=JobKey(tenant, job), kind=kind, traceparent=trace if isinstance(trace, str) else None
    )
