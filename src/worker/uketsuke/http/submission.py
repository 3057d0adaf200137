"""From the JSON of ``POST /v1/jobs`` to a ``Submission``, or to all that is wrong with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from uketsuke.domain.money import USD_PATTERN, parse_usd
from uketsuke.http.asked_work import Surroundings, expected_of, work_faults
from uketsuke.http.characters import bad_characters
from uketsuke.http.input_member import InputMember, given_input
from uketsuke.http.pointer import ROOT
from uketsuke.http.problem import Fault
from uketsuke.http.walk import find_faults
from uketsuke.kinds.plan import run_limit
from uketsuke.services.submit import Submission

# Members of the contract that nothing acts on yet: to take them and do nothing would be a lie.
NOT_BUILT: Final = frozenset({"not_before", "priority", "callback_url"})


class Envelope(msgspec.Struct, frozen=True, kw_only=True):
    """The members of a submission. What ``input`` and ``params`` hold depends on the kind."""

    kind: str
    input: InputMember
    params: dict[str, Any] = {}
    run_key: Annotated[str, Meta(min_length=1, max_length=200)] | None = None
    on_conflict: Literal["reject", "return"] = "reject"
    max_attempts: Annotated[int, Meta(ge=1, le=20)] | UnsetType = UNSET
    deadline_seconds: Annotated[int, Meta(ge=1, le=604_800)] | UnsetType = UNSET
    max_cost_usd: Annotated[str, Meta(pattern=USD_PATTERN)] | None = None
    metadata: Annotated[
        dict[Annotated[str, Meta(max_length=64)], Annotated[str, Meta(max_length=512)]],
        Meta(max_length=16),
    ] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Sender:
    """What a submission has beside its body."""

    tenant_id: str
    idempotency_key: str | None
    traceparent: str


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
    yield from work_faults(built, around)


def to_submission(document: Mapping[str, Any], around: Surroundings, sender: Sender) -> Submission:
    """Turn a sound document into the submission. The parameters stay as they were sent."""
    envelope = msgspec.convert(document, Envelope)
    given = given_input(document["input"], around.sizes)
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
        run_limit=run_limit(kind, engine, settings),
        max_cost_micros=parse_usd(envelope.max_cost_usd) if envelope.max_cost_usd else None,
        expected=expected_of(kind, given, envelope.params),
    )


def _or(given: int | UnsetType, default: int) -> int:
    return default if isinstance(given, UnsetType) else given
