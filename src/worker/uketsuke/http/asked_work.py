"""``kind``, ``input`` and ``params``: what jobs and schedules both say of the work they ask for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import msgspec

from uketsuke.domain.job import Upload
from uketsuke.domain.lifecycle import Engine
from uketsuke.domain.price import Expected
from uketsuke.http.context import Context
from uketsuke.http.input_member import GivenInput, InputRules, input_faults, named_refs
from uketsuke.http.pointer import ROOT
from uketsuke.http.problem import Fault
from uketsuke.http.walk import find_faults
from uketsuke.kinds.kind import Kind
from uketsuke.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What a document is held against: this deployment, and the uploads that it names."""

    kinds: Mapping[str, Kind]
    uploads: Mapping[str, Upload]
    settings: Settings


async def look_around(document: object, context: Context) -> Surroundings:
    """Return the surroundings of an unchecked document."""
    refs = refs_in(document)
    inputs = context.ports.inputs
    uploads = await inputs.find(refs, tenant_id=context.tenant_id) if refs else {}
    return Surroundings(kinds=context.kinds, uploads=uploads, settings=context.settings)


def refs_in(document: object) -> tuple[str, ...]:
    """Return the uploads that an unchecked document names."""
    return named_refs(document.get("input")) if isinstance(document, dict) else ()


def work_faults(document: Mapping[str, object], around: Surroundings) -> Iterator[Fault]:
    """Find what is wrong with the three members beyond their types."""
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


def expected_of(kind: Kind, given: GivenInput, params: Mapping[str, Any]) -> Expected:
    """Return what sound work is expected to use at most."""
    return kind.expects(given.form, given.bytes, msgspec.convert(params, kind.params))


def run_limit(kind: Kind, engine: Engine, settings: Settings) -> timedelta:
    """Return how long one attempt may take."""
    if engine is Engine.QUEUE:
        return settings.attempt_limit
    return min(kind.run_limit, settings.longest_run)


def vanished(document: Mapping[str, Any]) -> list[Fault]:
    """Point at the uploads: one of them went between our look at it and the writing."""
    form = "ref" if "ref" in document["input"] else "refs"
    detail = "The uploaded input is gone. Upload it again."
    return [Fault(pointer=f"/input/{form}", code="input_not_found", detail=detail)]
