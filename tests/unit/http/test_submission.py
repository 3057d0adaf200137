"""Submissions: what a sound one becomes, which uploads are looked up, and that any is judged."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.http.documents import (
    LARGE,
    SENDER,
    SMALL,
    SOUND,
    around,
    assert_resolves,
    embed,
    report,
    summarize,
)
from tests.unit.http.factories import KINDS, a_kind, an_id
from uketsuke.domain.job import InputForm
from uketsuke.domain.lifecycle import Engine
from uketsuke.http.asked_work import Surroundings, refs_in
from uketsuke.http.submission import (
    Sender,
    submission_faults,
    to_submission,
)
from uketsuke.settings import Settings


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
        max_input_bytes=plain.max_input_bytes, engine=by_size, calls=plain.calls, run=plain.run,
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


@given(document=_DOCUMENTS | _JSON)
def test_any_document_is_either_refused_with_pointers_that_resolve_or_taken(document: Any) -> None:
    faults = list(submission_faults(document, around()))

    for fault in faults:
        assert_resolves(fault, document)
    refs_in(document)
    if not faults:
        to_submission(document, around(), SENDER)
