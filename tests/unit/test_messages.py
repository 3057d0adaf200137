"""What the queue carries: read totally, written without content."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.values import a_job
from uketsuke.domain.job import InputForm, InputPlace
from uketsuke.services.messages import Message, Newer, Undecodable, message_for, read_message

JOB = a_job(
    input=InputPlace(form=InputForm.REF, bytes=9, refs=("in_00000000000000000000000000",)),
    metadata={"ticket": "canary"},
    params={"language": "canary"},
    traceparent="00-" + "a" * 32 + "-" + "b" * 16 + "-01",
)


def test_a_message_has_five_members_and_the_trace_and_nothing_of_the_content() -> None:
    body = message_for(JOB)

    assert body.keys() == {"v", "job", "tenant", "kind", "input", "traceparent"}
    assert "canary" not in json.dumps(body)
    assert len(json.dumps(body)) < 1000


def test_a_message_is_read_as_it_was_written() -> None:
    assert read_message(message_for(JOB)) == Message(
        key=JOB.key, kind=JOB.kind, traceparent=JOB.traceparent
    )


def test_a_later_version_is_told_apart_from_garbage() -> None:
    assert read_message({**message_for(JOB), "v": 2}) == Newer(version=2)
    assert read_message({"v": 7}) == Newer(version=7)


@pytest.mark.parametrize(
    "change",
    [
        {"v": None},
        {"v": True},
        {"v": 0},
        {"v": "1"},
        {"job": "job_short"},
        {"job": 7},
        {"tenant": ""},
        {"tenant": "x" * 65},
        {"kind": None},
    ],
)
def test_a_message_that_is_not_ours_is_undecodable(change: dict[str, object]) -> None:
    assert read_message({**message_for(JOB), **change}) == Undecodable()


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text() | st.binary(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_nothing_that_a_queue_may_carry_raises(body: object) -> None:
    assert isinstance(read_message(body), Message | Newer | Undecodable)
