"""The ``input`` of a submission: one of four forms, of which a kind takes some."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Final

import msgspec
from msgspec import UNSET, Meta, UnsetType

from uketsuke.domain.ids import INPUT_ID
from uketsuke.domain.job import InputForm, Upload
from uketsuke.http.pointer import ROOT, Pointer
from uketsuke.http.problem import Fault, FaultCode
from uketsuke.kinds.kind import Kind

_POINTER: Final = ROOT.child("input")
# A ref to another job's result. Its work is not built.
_JOB_PREFIX: Final = "job_"
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
    """What an input is held against. ``kind`` is None when the request names none that we know."""

    kind: Kind | None
    uploads: Mapping[str, Upload]
    max_text_bytes: int

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
    if not isinstance(given, dict):
        return ()
    many = given.get("refs")
    candidates = [given.get("ref"), *(many[:MOST_REFS] if isinstance(many, list) else ())]
    refs = (ref for ref in candidates if isinstance(ref, str) and INPUT_ID.fullmatch(ref))
    return tuple(dict.fromkeys(refs))


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


def given_input(given: Mapping[str, object], uploads: Mapping[str, Upload]) -> GivenInput:
    """Return a sound input's content and size."""
    member = msgspec.convert(given, InputMember)
    if isinstance(member.text, str):
        size = utf8_size(member.text)
        return GivenInput(form=InputForm.TEXT, content=member.text, refs=(), bytes=size)
    if isinstance(member.texts, list):
        size = sum(map(utf8_size, member.texts))
        return GivenInput(form=InputForm.TEXTS, content=member.texts, refs=(), bytes=size)
    form = InputForm.REF if isinstance(member.ref, str) else InputForm.REFS
    refs = [member.ref] if isinstance(member.ref, str) else member.refs or []
    size = sum(uploads[ref].bytes for ref in refs)
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
    elif upload.bytes > rules.max_bytes:
        detail = f"This kind works inputs of at most {rules.max_bytes} bytes."
        yield Fault(pointer=str(pointer), code="too_long", detail=detail)


def _refs_faults(refs: object, pointer: Pointer, rules: InputRules) -> Iterator[Fault]:
    if not isinstance(refs, list):
        return
    for place, ref in enumerate(refs[:MOST_REFS]):
        if isinstance(ref, str) and ref.startswith(_JOB_PREFIX):
            detail = "Results of jobs as inputs are not built yet. Upload the result."
            yield Fault(pointer=str(pointer.child(place)), code="not_supported", detail=detail)
        else:
            yield from _ref_faults(ref, pointer.child(place), rules)


_FAULTS_OF: Final = {
    InputForm.TEXT: _text_faults,
    InputForm.TEXTS: _texts_faults,
    InputForm.REF: _ref_faults,
    InputForm.REFS: _refs_faults,
}
