"""``kind``, ``input`` and ``params``: what jobs and schedules both say of the work they ask for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from uketsuke.domain.audio import HEAD_BYTES
from uketsuke.domain.job import Job, Upload
from uketsuke.domain.price import Expected
from uketsuke.http.context import Context
from uketsuke.http.input_member import (
    GivenInput,
    InputRules,
    input_faults,
    named_jobs,
    named_refs,
)
from uketsuke.http.pointer import ROOT
from uketsuke.http.problem import Fault
from uketsuke.http.walk import find_faults
from uketsuke.kinds.kind import Kind
from uketsuke.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What a document is held against: this deployment, and what it names for its input.

    ``heads`` are the first bytes of an upload, for a kind that takes recordings.
    """

    kinds: Mapping[str, Kind]
    uploads: Mapping[str, Upload]
    settings: Settings
    jobs: Mapping[str, Job] = field(default_factory=dict)
    heads: Mapping[str, bytes] = field(default_factory=dict)

    @property
    def sizes(self) -> Mapping[str, int]:
        """How many bytes each of the named has."""
        ended = {ref: job.result for ref, job in self.jobs.items()}
        results = {ref: place.bytes for ref, place in ended.items() if place}
        return {**{ref: upload.bytes for ref, upload in self.uploads.items()}, **results}


async def look_around(document: object, context: Context, *, tenant_id: str) -> Surroundings:
    """Return the surroundings of an unchecked document, as far as they are the tenant's."""
    inputs = context.ports.inputs
    refs, job_ids = refs_in(document), jobs_in(document)
    uploads = await inputs.find(refs, tenant_id=tenant_id) if refs else {}
    jobs = await inputs.find_jobs(job_ids, tenant_id=tenant_id) if job_ids else {}
    return Surroundings(
        kinds=context.kinds,
        uploads=uploads,
        settings=context.settings,
        jobs=jobs,
        heads=await _heads_of(document, uploads, context),
    )


def refs_in(document: object) -> tuple[str, ...]:
    """Return the uploads that an unchecked document names."""
    return named_refs(document.get("input")) if isinstance(document, dict) else ()


def jobs_in(document: object) -> tuple[str, ...]:
    """Return the jobs whose results an unchecked document names."""
    return named_jobs(document.get("input")) if isinstance(document, dict) else ()


async def _heads_of(
    document: object, uploads: Mapping[str, Upload], context: Context
) -> Mapping[str, bytes]:
    """Read the beginnings of what is to be a recording; what is gone begins with nothing."""
    kind = _kind_in(document, context.kinds)
    if kind is None or not kind.hears:
        return {}
    read = context.ports.blobs.part
    return {
        ref: await read(upload.object_key, offset=0, length=min(HEAD_BYTES, upload.bytes)) or b""
        for ref, upload in uploads.items()
        if upload.bytes
    }


def _kind_in(document: object, kinds: Mapping[str, Kind]) -> Kind | None:
    named = document.get("kind") if isinstance(document, dict) else None
    return kinds.get(named) if isinstance(named, str) else None


def work_faults(document: Mapping[str, object], around: Surroundings) -> Iterator[Fault]:
    """Find what is wrong with the three members beyond their types."""
    named, kind = document.get("kind"), _kind_in(document, around.kinds)
    if isinstance(named, str) and kind is None:
        known = ", ".join(sorted(around.kinds))
        detail = f"This deployment knows the kinds: {known}."
        yield Fault(pointer="/kind", code="unknown_kind", detail=detail)
    rules = InputRules(
        kind=kind,
        kinds=around.kinds,
        uploads=around.uploads,
        jobs=around.jobs,
        heads=around.heads,
        sizes=around.sizes,
        max_text_bytes=around.settings.max_text_bytes,
        max_audio_bytes=around.settings.transcribe_max_bytes,
    )
    yield from input_faults(document.get("input"), rules)
    params = document.get("params", {})
    if kind and isinstance(params, dict):
        yield from find_faults(params, kind.params, pointer=ROOT.child("params"))


def expected_of(kind: Kind, given: GivenInput, params: Mapping[str, Any]) -> Expected:
    """Return what sound work is expected to use at most."""
    return kind.expects(given.form, given.bytes, msgspec.convert(params, kind.params))


def vanished(document: Mapping[str, Any]) -> list[Fault]:
    """Point at the refs: what one of them names went between our look at it and the writing."""
    form = "ref" if "ref" in document["input"] else "refs"
    detail = "An input that is named here is gone. Upload it, or run its job, again."
    return [Fault(pointer=f"/input/{form}", code="input_not_found", detail=detail)]
