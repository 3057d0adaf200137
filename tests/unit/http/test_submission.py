"""Submissions: every member's limits, every fault at once, and what a sound one becomes."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.http.factories import KINDS, PATIENT, a_kind, an_id, an_upload
from tests.unit.http.test_walk import assert_resolves
from uketsuke.domain.job import InputForm, Upload
from uketsuke.domain.lifecycle import Engine
from uketsuke.http.submission import (
    Sender,
    Surroundings,
    refs_in,
    submission_faults,
    to_submission,
)
from uketsuke.settings import Settings

SOUND = {"kind": "summarize", "input": {"text": "Some words."}}
SENDER = Sender(tenant_id="t_alpha", idempotency_key=None, traceparent="00-1-2-00")
KIB = 1024
SMALL, EMPTY, LARGE = an_upload(1), an_upload(2, bytes=0), an_upload(3, bytes=600_001)
UPLOADS = {upload.ref: upload for upload in (SMALL, EMPTY, LARGE)}
UNKNOWN_REF = an_id("in", 99)


def around(uploads: Mapping[str, Upload] = UPLOADS, **settings: Any) -> Surroundings:
    return Surroundings(kinds=KINDS, uploads=uploads, settings=Settings(**settings))


def faults_of(document: object) -> list[tuple[str, str]]:
    return [(fault.pointer, fault.code) for fault in submission_faults(document, around())]


def summarize(**members: object) -> dict[str, object]:
    return {**SOUND, **members}


def embed(given_input: object) -> dict[str, object]:
    return {"kind": "embed", "input": given_input}


def report(*refs: object) -> dict[str, object]:
    return {"kind": "report", "input": {"refs": list(refs)}}


@pytest.mark.parametrize(
    ("document", "fault"),
    [
        ([], ("", "wrong_type")),
        ("text", ("", "wrong_type")),
        ({"input": SOUND["input"]}, ("/kind", "missing")),
        (summarize(kind=1), ("/kind", "wrong_type")),
        (summarize(kind="SUMMARIZE"), ("/kind", "unknown_kind")),
        (summarize(kind=""), ("/kind", "unknown_kind")),
        (summarize(kind="k" * 100_000), ("/kind", "unknown_kind")),
        ({"kind": "summarize"}, ("/input", "missing")),
        (summarize(input="text"), ("/input", "wrong_type")),
        (summarize(input=None), ("/input", "wrong_type")),
        (summarize(input={}), ("/input", "missing")),
        (summarize(input={"text": "a", "ref": SMALL.ref}), ("/input", "bad_value")),
        (summarize(input={"text": 1}), ("/input/text", "wrong_type")),
        (summarize(input={"text": ""}), ("/input/text", "empty")),
        (summarize(input={"text": " \n\u3000"}), ("/input/text", "empty")),
        (summarize(input={"text": "a" * (512 * KIB + 1)}), ("/input/text", "too_long")),
        (summarize(input={"text": "受" * (171 * KIB)}), ("/input/text", "too_long")),
        (summarize(input={"texts": ["a"]}), ("/input/texts", "bad_value")),
        (summarize(input={"refs": [SMALL.ref]}), ("/input/refs", "bad_value")),
        (summarize(input={"ref": 1}), ("/input/ref", "wrong_type")),
        (summarize(input={"ref": ""}), ("/input/ref", "empty")),
        (summarize(input={"ref": "in_nothing"}), ("/input/ref", "input_not_found")),
        (summarize(input={"ref": UNKNOWN_REF}), ("/input/ref", "input_not_found")),
        (summarize(input={"ref": an_id("job", 1)}), ("/input/ref", "input_not_found")),
        (summarize(input={"ref": EMPTY.ref}), ("/input/ref", "empty")),
        (summarize(input={"ref": LARGE.ref}), ("/input/ref", "too_long")),
        (embed({"text": "a"}), ("/input/text", "bad_value")),
        (embed({"texts": "a"}), ("/input/texts", "wrong_type")),
        (embed({"texts": []}), ("/input/texts", "empty")),
        (embed({"texts": ["a"] * 2049}), ("/input/texts", "too_long")),
        (embed({"texts": ["a", " "]}), ("/input/texts/1", "empty")),
        (embed({"texts": ["a", 1]}), ("/input/texts/1", "wrong_type")),
        (embed({"texts": ["a" * 300_001] * 2}), ("/input/texts", "too_long")),
        (report(), ("/input/refs", "empty")),
        (report(*[SMALL.ref] * 51), ("/input/refs", "too_long")),
        (report(SMALL.ref, UNKNOWN_REF), ("/input/refs/1", "input_not_found")),
        (report(an_id("job", 1)), ("/input/refs/0", "not_supported")),
        (report(5), ("/input/refs/0", "wrong_type")),
        ({"kind": "report", "input": {"refs": SMALL.ref}}, ("/input/refs", "wrong_type")),
        (summarize(params=None), ("/params", "wrong_type")),
        (summarize(params={"max_words": 9}), ("/params/max_words", "out_of_range")),
        (summarize(params={"max_words": 1001}), ("/params/max_words", "out_of_range")),
        (summarize(params={"max_words": "10"}), ("/params/max_words", "wrong_type")),
        (summarize(params={"style": "poem"}), ("/params/style", "bad_value")),
        (summarize(params={"tone": "dry"}), ("/params/tone", "unknown_member")),
        (summarize(run_key=""), ("/run_key", "empty")),
        (summarize(run_key="r" * 201), ("/run_key", "too_long")),
        (summarize(run_key=7), ("/run_key", "wrong_type")),
        (summarize(run_key="a\x00"), ("/run_key", "bad_value")),
        (summarize(on_conflict="replace"), ("/on_conflict", "bad_value")),
        (summarize(on_conflict=True), ("/on_conflict", "wrong_type")),
        (summarize(max_attempts=0), ("/max_attempts", "out_of_range")),
        (summarize(max_attempts=21), ("/max_attempts", "out_of_range")),
        (summarize(max_attempts=True), ("/max_attempts", "wrong_type")),
        (summarize(max_attempts=5.0), ("/max_attempts", "wrong_type")),
        (summarize(max_attempts=None), ("/max_attempts", "wrong_type")),
        (summarize(deadline_seconds=0), ("/deadline_seconds", "out_of_range")),
        (summarize(deadline_seconds=604_801), ("/deadline_seconds", "out_of_range")),
        (summarize(deadline_seconds="60"), ("/deadline_seconds", "wrong_type")),
        (summarize(metadata=[]), ("/metadata", "wrong_type")),
        (summarize(metadata={f"k{n}": "" for n in range(17)}), ("/metadata", "too_long")),
        (summarize(metadata={"k" * 65: ""}), ("/metadata/" + "k" * 65, "too_long")),
        (summarize(metadata={"k": "v" * 513}), ("/metadata/k", "too_long")),
        (summarize(metadata={"k": 42}), ("/metadata/k", "wrong_type")),
        (summarize(metadata={"k": "\ud800"}), ("/metadata/k", "bad_value")),
        (summarize(metadata={"\x00": "v"}), ("/metadata", "bad_value")),
        (summarize(not_before="2026-12-01T00:00:00Z"), ("/not_before", "not_supported")),
        (summarize(priority="normal"), ("/priority", "not_supported")),
        (summarize(callback_url=None), ("/callback_url", "not_supported")),
        (summarize(max_cost_usd="0.10"), ("/max_cost_usd", "not_supported")),
        (summarize(webhook="x"), ("/webhook", "unknown_member")),
        (summarize(**{"w" * 101: "x"}), ("", "unknown_member")),
    ],
)
def test_each_limit_has_its_fault(document: object, fault: tuple[str, str]) -> None:
    assert faults_of(document) == [fault]


@pytest.mark.parametrize(
    "document",
    [
        SOUND,
        summarize(input={"text": "a" * (512 * KIB)}),
        summarize(input={"ref": SMALL.ref}),
        summarize(params={"max_words": 10, "style": "bullets"}),
        summarize(params={"max_words": 1000}),
        summarize(run_key="r" * 200, on_conflict="return"),
        summarize(run_key="受" * 200, on_conflict="reject"),
        summarize(run_key=None),
        summarize(max_attempts=1, deadline_seconds=1),
        summarize(max_attempts=20, deadline_seconds=604_800),
        summarize(metadata={"k" * 64 if n == 0 else f"k{n}": "v" * 512 for n in range(16)}),
        summarize(metadata={"": ""}),
        embed({"texts": ["a"]}),
        embed({"texts": ["a"] * 2048}),
        embed({"ref": SMALL.ref}),
        report(*[SMALL.ref] * 50),
    ],
)
def test_what_is_just_within_the_limits_is_sound(document: dict[str, Any]) -> None:
    assert faults_of(document) == []
    to_submission(document, around(), SENDER)


def test_an_unknown_kind_hides_no_other_fault() -> None:
    document = {"kind": "nope", "input": {"text": " "}, "max_attempts": 0, "priority": "high"}

    assert sorted(faults_of(document)) == [
        ("/input/text", "empty"),
        ("/kind", "unknown_kind"),
        ("/max_attempts", "out_of_range"),
        ("/priority", "not_supported"),
    ]


def test_the_faults_of_texts_are_all_found() -> None:
    assert sorted(faults_of(embed({"texts": ["", 5, "\x00"], "more": 1}))) == [
        ("/input/more", "unknown_member"),
        ("/input/texts/0", "empty"),
        ("/input/texts/1", "wrong_type"),
        ("/input/texts/2", "bad_value"),
    ]


def test_no_detail_repeats_what_was_sent_as_content() -> None:
    secret = "the secret prompt"
    document = {
        "kind": secret,
        "input": {"text": secret, "texts": [secret]},
        "run_key": secret * 20,
        "on_conflict": secret,
        "metadata": {"k": secret * 40},
    }

    details = [fault.detail for fault in submission_faults(document, around())]

    assert details
    assert secret not in " ".join(details)


def test_a_sound_document_becomes_a_submission_with_the_deployments_defaults() -> None:
    surroundings = around(default_max_attempts=7, default_deadline=timedelta(hours=1))

    submission = to_submission(SOUND, surroundings, SENDER)

    assert submission.kind == "summarize"
    assert submission.engine is Engine.QUEUE
    assert (submission.form, submission.content) == (InputForm.TEXT, "Some words.")
    assert (submission.refs, submission.input_bytes) == ((), 11)
    assert (submission.params, submission.metadata, submission.run_key) == ({}, {}, None)
    assert (submission.max_attempts, submission.deadline) == (7, timedelta(hours=1))
    assert submission.document == SOUND
    assert (submission.tenant_id, submission.traceparent) == ("t_alpha", "00-1-2-00")


def test_what_is_given_beats_the_defaults() -> None:
    document = summarize(
        params={"max_words": 50}, run_key="nightly", max_attempts=2, deadline_seconds=90,
        metadata={"ticket": "42"},
    )  # fmt: skip
    sender = Sender(tenant_id="t_alpha", idempotency_key="k-1", traceparent="")

    submission = to_submission(document, around(), sender)

    assert submission.params == {"max_words": 50}
    assert (submission.run_key, submission.max_attempts) == ("nightly", 2)
    assert submission.deadline == timedelta(seconds=90)
    assert submission.metadata == {"ticket": "42"}
    assert submission.idempotency_key == "k-1"


def test_an_inputs_size_is_counted_in_bytes_of_utf8() -> None:
    one = to_submission(summarize(input={"text": "受付"}), around(), SENDER)
    some = to_submission(embed({"texts": ["受", "a"]}), around(), SENDER)
    named = to_submission(report(SMALL.ref, SMALL.ref), around(), SENDER)

    assert (one.input_bytes, some.input_bytes, named.input_bytes) == (6, 4, 20)
    assert (some.content, named.content) == (["受", "a"], None)
    assert named.refs == (SMALL.ref, SMALL.ref)


def test_the_kind_picks_the_engine_by_form_and_size() -> None:
    def by_size(form: InputForm, size: int) -> Engine:
        return Engine.WORKFLOW if (form, size) == (InputForm.TEXT, 11) else Engine.QUEUE

    plain = a_kind("summarize", InputForm.TEXT)
    kind = type(plain)(
        name=plain.name, params=plain.params, forms=plain.forms,
        max_input_bytes=plain.max_input_bytes, engine=by_size, run=plain.run,
    )  # fmt: skip
    surroundings = Surroundings(kinds={"summarize": kind}, uploads={}, settings=Settings())

    assert to_submission(SOUND, surroundings, SENDER).engine is Engine.WORKFLOW


@pytest.mark.parametrize(
    ("document", "refs"),
    [
        (SOUND, ()),
        ([], ()),
        ({}, ()),
        ({"input": []}, ()),
        ({"input": {"ref": SMALL.ref}}, (SMALL.ref,)),
        ({"input": {"ref": "in_x", "refs": [1, None, "job_x"]}}, ()),
        ({"input": {"refs": "in_x"}}, ()),
        ({"input": {"refs": [LARGE.ref, SMALL.ref, LARGE.ref]}}, (LARGE.ref, SMALL.ref)),
    ],
)
def test_only_refs_that_could_exist_are_looked_up_each_once(
    document: object, refs: tuple[str, ...]
) -> None:
    assert refs_in(document) == refs


def test_a_flood_of_refs_is_not_looked_up_whole() -> None:
    document = {"input": {"refs": [an_id("in", number) for number in range(1000)]}}

    assert len(refs_in(document)) == 50


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=10,
)
_INPUTS = st.fixed_dictionaries(
    {}, optional={name: _JSON | st.text() for name in ("text", "texts", "ref", "refs", "no")}
)
_DOCUMENTS = st.fixed_dictionaries(
    {},
    optional={
        "kind": st.sampled_from([*KINDS, "nope"]) | _JSON,
        "input": _INPUTS | _JSON,
        "params": st.dictionaries(st.sampled_from(["max_words", "style", "x"]), _JSON) | _JSON,
        "run_key": _JSON,
        "on_conflict": st.sampled_from(["reject", "return"]) | _JSON,
        "max_attempts": st.integers(-1, 25) | _JSON,
        "deadline_seconds": _JSON,
        "metadata": st.dictionaries(st.text(max_size=70), st.text(max_size=5)) | _JSON,
        "priority": _JSON,
    },
)


@PATIENT
@given(document=_DOCUMENTS | _JSON)
def test_any_document_is_either_refused_with_pointers_that_resolve_or_taken(document: Any) -> None:
    faults = list(submission_faults(document, around()))

    for fault in faults:
        assert_resolves(fault, document)
    refs_in(document)
    if not faults:
        to_submission(document, around(), SENDER)
