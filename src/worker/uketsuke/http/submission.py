"""From the JSON of ``POST /v1/jobs`` to a ``Submission``, or to all that is wrong with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from uketsuke.domain.job import Upload
from uketsuke.domain.lifecycle import Engine
from uketsuke.http.characters import bad_characters
from uketsuke.http.input_member import (
    InputMember,
    InputRules,
    given_input,
    input_faults,
    named_refs,
)
from uketsuke.http.pointer import ROOT
from uketsuke.http.problem import Fault
from uketsuke.http.walk import find_faults
from uketsuke.kinds.kind import Kind
from uketsuke.services.submit import Submission
from uketsuke.settings import Settings

# Members of the contract that nothing acts on yet: to take them and do nothing would be a lie.
NOT_BUILT: Final = frozenset({"not_before", "priority", "callback_url", "max_cost_usd"})


class Envelope(msgspec.Struct, frozen=True, kw_only=True):
    """The members of a submission. What ``input`` and ``params`` hold depends on the kind."""

    kind: str
    input: InputMember
    params: dict[str, Any] = {}
    run_key: Annotated[str, Meta(min_length=1, max_length=200)] | None = None
    on_conflict: Literal["reject", "return"] = "reject"
    max_attempts: Annotated[int, Meta(ge=1, le=20)] | UnsetType = UNSET
    deadline_seconds: Annotated[int, Meta(ge=1, le=604_800)] | UnsetType = UNSET
    metadata: Annotated[
        dict[Annotated[str, Meta(max_length=64)], Annotated[str, Meta(max_length=512)]],
        Meta(max_length=16),
    ] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What a submission is held against: this deployment, and the uploads that it names."""

    kinds: Mapping[str, Kind]
    uploads: Mapping[str, Upload]
    settings: Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Sender:
    """What a submission has beside its body."""

    tenant_id: str
    idempotency_key: str | None
    traceparent: str


def refs_in(document: object) -> tuple[str, ...]:
    """Return the uploads that an unchecked document names."""
    return named_refs(document.get("input")) if isinstance(document, dict) else ()


def submission_faults(document: object, around: Surroundings) -> Iterator[Fault]:
    """Find everything that is wrong with a document; nothing found means that it is sound."""
    yield from bad_characters(document)
    if not isinstance(document, dict):
        yield from find_faults(document, Envelope)
        return
    for name in sorted(document.keys() & NOT_BUILT):
        yield Fault(
            pointer=str(ROOT.child(name)), code="not_supported", detail=f"{name} is not built."
        )
    built = {name: value for name, value in document.items() if name not in NOT_BUILT}
    yield from find_faults(built, Envelope)
    yield from _kind_faults(built, around)


def _kind_faults(document: Mapping[str, object], around: Surroundings) -> Iterator[Fault]:
    named = document.get("kind")
    kind = around.kinds.get(named) if isinstance(named, str) else None
    if isinstance(named, str) and kind is None:
        known = ", ".join(sorted(around.kinds))
        detail = f"This deployment knows the kinds: {known}."
        yield Fault(pointer="/kind", code="unknown_kind", detail=detail)
    rules = InputRules(
        kind=kind, uploads=around.uploads, max_text_bytes=around.settings.max_text_bytes
    )
    yield from input_faults(document.get("input"), rules)
    params = document.get("params", {})
    if kind and isinstance(params, dict):
        yield from find_faults(params, kind.params, pointer=ROOT.child("params"))


def to_submission(document: Mapping[str, Any], around: Surroundings, sender: Sender) -> Submission:
    """Turn a sound document into the submission. The parameters stay as they were sent."""
    envelope = msgspec.convert(document, Envelope)
    given = given_input(document["input"], around.uploads)
    kind = around.kinds[envelope.kind]
    settings = around.settings
    engine = kind.engine(given.form, given.bytes)
    return Submission(
        tenant_id=sender.tenant_id,
        kind=kind.name,
        engine=engine,
        form=given.form,
        content=given.content,
        refs=given.refs,
        input_bytes=given.bytes,
        params=envelope.params,
        run_key=envelope.run_key,
        max_attempts=_or(envelope.max_attempts, settings.default_max_attempts),
        deadline=timedelta(
            seconds=_or(envelope.deadline_seconds, int(settings.default_deadline.total_seconds()))
        ),
        metadata=envelope.metadata,
        idempotency_key=sender.idempotency_key,
        document=document,
        traceparent=sender.traceparent,
        run_limit=_run_limit(kind, engine, settings),
    )


def _run_limit(kind: Kind, engine: Engine, settings: Settings) -> timedelta:
    """How long one attempt may take."""
    if engine is Engine.QUEUE:
        return settings.attempt_limit
    return min(kind.run_limit, settings.longest_run)


def _or(given: int | UnsetType, default: int) -> int:
    return default if isinstance(given, UnsetType) else given
