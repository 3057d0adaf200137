"""The ``input`` of a submission: one of four forms, of which a kind takes some."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Final

import msgspec
from msgspec import UNSET, Meta, UnsetType

from uketsuke.domain.audio import TAKEN, sniff
from uketsuke.domain.ids import INPUT_ID, JOB_ID
from uketsuke.domain.job import InputForm, Job, Upload
from uketsuke.domain.lifecycle import JobState
from uketsuke.http.pointer import ROOT, Pointer
from uketsuke.http.problem import Fault, FaultCode
from uketsuke.kinds.kind import Kind

_POINTER: Final = ROOT.child("input")
MOST_TEXTS: Final = 2048
MOST_REFS: Final = 50

_Name = Annotated[str, Meta(min_length=1)]


class InputMember(msgspec.Struct, frozen=True, kw_only=True):
    """The types of the four forms; which of them are there is judged below."""

    text: str | UnsetType = UNSET
    texts: Annotated[list[str], Meta(min_length=1, max_length=MOST_TEXTS)] | UnsetType = UNSET
    ref: _Name | UnsetType = UNSET
    refs: Annotated[list[_Name], Meta(min_length=1, max_length=MOST_REFS)] | UnsetType = UNSET


@dataclass(frozen=True, slots=True, kw_only=True)
class InputRules:
    """What an input is held against. ``kind`` is None when the request names none that we know.

    ``uploads`` and ``jobs`` are those that the input names, as far as they are there, ``sizes``
    their bytes; ``heads`` the first bytes of what is to be a recording.
    """

    kind: Kind | None
    kinds: Mapping[str, Kind]
    uploads: Mapping[str, Upload]
    jobs: Mapping[str, Job]
    heads: Mapping[str, bytes]
    sizes: Mapping[str, int]
    max_text_bytes: int
    max_audio_bytes: int

    @property
    def max_bytes(self) -> int:
        return self.kind.max_input_bytes if self.kind else sys.maxsize


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenInput:
    """A sound input, as a submission takes it."""

    form: InputForm
    content: str | list[str] | None
    refs: tuple[str, ...]
    bytes: int


def utf8_size(text: str) -> int:
    """Return the bytes of a text; a lone surrogate, refused elsewhere, counts as three."""
    return len(text.encode("utf-8", "surrogatepass"))


def named_refs(given: object) -> tuple[str, ...]:
    """Return the uploads that an unchecked input names, each once, for one look at the store."""
    one = [given.get("ref")] if isinstance(given, dict) else []
    return _of_shape(INPUT_ID, [*one, *_many_in(given)])


def named_jobs(given: object) -> tuple[str, ...]:
    """Return the jobs whose results an unchecked input names, each once; only ``refs`` may."""
    return _of_shape(JOB_ID, _many_in(given))


def _many_in(given: object) -> list[object]:
    many = given.get("refs") if isinstance(given, dict) else None
    return many[:MOST_REFS] if isinstance(many, list) else []


def _of_shape(shape: re.Pattern[str], named: Iterable[object]) -> tuple[str, ...]:
    return tuple(
        dict.fromkeys(ref for ref in named if isinstance(ref, str) and shape.fullmatch(ref))
    )


def input_faults(given: object, rules: InputRules) -> Iterator[Fault]:
    """Find what is wrong with an input beyond its members' types, which ``walk`` has checked."""
    if not isinstance(given, dict):
        return
    forms = [form for form in InputForm if form in given]
    if len(forms) != 1:
        code: FaultCode = "bad_value" if forms else "missing"
        detail = "Give exactly one of text, texts, ref and refs."
        yield Fault(pointer=str(_POINTER), code=code, detail=detail)
        return
    (form,) = forms
    if rules.kind and form not in rules.kind.forms:
        takes = ", ".join(sorted(rules.kind.forms))
        detail = f"This kind takes its input as: {takes}."
        yield Fault(pointer=str(_POINTER.child(form)), code="bad_value", detail=detail)
        return
    yield from _FAULTS_OF[form](given[form], _POINTER.child(form), rules)


def given_input(given: Mapping[str, object], sizes: Mapping[str, int]) -> GivenInput:
    """Return a sound input's content and size; ``sizes`` are those of what it names."""
    member = msgspec.convert(given, InputMember)
    if isinstance(member.text, str):
        size = utf8_size(member.text)
        return GivenInput(form=InputForm.TEXT, content=member.text, refs=(), bytes=size)
    if isinstance(member.texts, list):
        size = sum(map(utf8_size, member.texts))
        return GivenInput(form=InputForm.TEXTS, content=member.texts, refs=(), bytes=size)
    form = InputForm.REF if isinstance(member.ref, str) else InputForm.REFS
    refs = [member.ref] if isinstance(member.ref, str) else member.refs or []
    size = sum(sizes[ref] for ref in refs)
    return GivenInput(form=form, content=None, refs=tuple(refs), bytes=size)


def _text_faults(text: object, pointer: Pointer, rules: InputRules) -> Iterator[Fault]:
    if not isinstance(text, str):
        return
    limit = min(rules.max_text_bytes, rules.max_bytes)
    if not text.strip():
        yield Fault(pointer=str(pointer), code="empty", detail="The text holds nothing to work on.")
    elif utf8_size(text) > limit:
        detail = f"A text here may have {limit} bytes in UTF-8. Upload it and give its ref."
        yield Fault(pointer=str(pointer), code="too_long", detail=detail)


def _texts_faults(texts: object, pointer: Pointer, rules: InputRules) -> Iterator[Fault]:
    if not isinstance(texts, list):
        return
    total = 0
    for place, text in enumerate(texts[:MOST_TEXTS]):
        if isinstance(text, str):
            total += utf8_size(text)
            if not text.strip():
                detail = "This text holds nothing to work on."
                yield Fault(pointer=str(pointer.child(place)), code="empty", detail=detail)
    if total > rules.max_bytes:
        detail = f"The texts may have {rules.max_bytes} bytes in UTF-8 together."
        yield Fault(pointer=str(pointer), code="too_long", detail=detail)


def _ref_faults(ref: object, pointer: Pointer, rules: InputRules) -> Iterator[Fault]:
    if not isinstance(ref, str) or not ref:
        return
    upload = rules.uploads.get(ref)
    if upload is None:
        detail = "There is no such input. Upload it by PUT /v1/inputs and give the ref it got."
        yield Fault(pointer=str(pointer), code="input_not_found", detail=detail)
    elif not upload.bytes:
        yield Fault(pointer=str(pointer), code="empty", detail="The uploaded input has no bytes.")
    elif rules.kind and rules.kind.hears:
        yield from _audio_faults(upload, pointer, rules)
    elif upload.bytes > rules.max_bytes:
        detail = f"This kind works inputs of at most {rules.max_bytes} bytes."
        yield Fault(pointer=str(pointer), code="too_long", detail=detail)


def _audio_faults(upload: Upload, pointer: Pointer, rules: InputRules) -> Iterator[Fault]:
    limit = min(rules.max_bytes, rules.max_audio_bytes)
    if upload.bytes > limit:
        detail = f"A recording may have {limit} bytes here. Cut it, or compress it more."
        yield Fault(pointer=str(pointer), code="too_large", detail=detail)
    if sniff(rules.heads.get(upload.ref, b"")) is None:
        detail = f"The upload is no recording that can be heard. Its content must be {TAKEN}."
        yield Fault(pointer=str(pointer), code="bad_value", detail=detail)


def _refs_faults(refs: object, pointer: Pointer, rules: InputRules) -> Iterator[Fault]:
    if not isinstance(refs, list):
        return
    for place, ref in enumerate(refs[:MOST_REFS]):
        if isinstance(ref, str) and JOB_ID.fullmatch(ref):
            yield from _result_faults(ref, pointer.child(place), rules)
        else:
            yield from _ref_faults(ref, pointer.child(place), rules)
    named = [ref for ref in refs[:MOST_REFS] if isinstance(ref, str)]
    if sum(rules.sizes.get(ref, 0) for ref in named) > rules.max_bytes:
        detail = f"The inputs may have {rules.max_bytes} bytes together."
        yield Fault(pointer=str(pointer), code="too_long", detail=detail)


def _result_faults(job_id: str, pointer: Pointer, rules: InputRules) -> Iterator[Fault]:
    """Find why another job's result cannot be an input."""
    job = rules.jobs.get(job_id)
    if job is None:
        detail = "There is no such job, or its result is gone."
        yield Fault(pointer=str(pointer), code="input_not_found", detail=detail)
    elif job.state is not JobState.SUCCEEDED:
        detail = f"The job is {job.state}: only one that has succeeded has a result."
        yield Fault(pointer=str(pointer), code="bad_value", detail=detail)
    elif (kind := rules.kinds.get(job.kind)) is None or kind.gives is None:
        detail = "The results of this kind of job hold no text to work on."
        yield Fault(pointer=str(pointer), code="bad_value", detail=detail)


_FAULTS_OF: Final = {
    InputForm.TEXT: _text_faults,
    InputForm.TEXTS: _texts_faults,
    InputForm.REF: _ref_faults,
    InputForm.REFS: _refs_faults,
}
