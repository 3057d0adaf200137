"""What is kept of a foreign message: never its content, never much, always the same."""

from __future__ import annotations

import hashlib
import json
import math
from typing import Any, Final

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from uketsuke.domain.redact import SHAPE_LENGTH, digest_of, shape_of

_JOB: Final = "job_" + "0" * 26
_INPUT: Final = "in_" + "z" * 26
_NAMES: Final = ["v", "job", "tenant", "kind", "input", "traceparent"]

_names = st.sampled_from(_NAMES) | st.text(max_size=20)
_leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.text()


def _bodies(leaves: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.recursive(
        leaves,
        lambda inner: st.lists(inner) | st.dictionaries(_names, inner),
        max_leaves=20,
    )


def _shape(body: object) -> Any:
    return json.loads(shape_of(body))


@given(_bodies(_leaves | st.just(_JOB) | st.just(_INPUT)))
def test_a_shape_is_short_ascii_and_the_same_each_time(body: object) -> None:
    shape = shape_of(body)

    assert len(shape) <= SHAPE_LENGTH
    assert shape.isascii()
    assert shape == shape_of(body)
    json.loads(shape)


# All that a shape can say of itself: a secret that has a piece of it would be found for nothing.
_OUR_WORDS: Final = " ".join([*_NAMES, "null boolean number string( object( list( others first"])


_secrets = st.text(st.characters(exclude_characters='{}[]()",:'), min_size=4, max_size=80)


@given(secret=_secrets, data=st.data())
def test_no_piece_of_a_secret_is_in_the_shape_wherever_it_was(
    secret: str, data: st.DataObject
) -> None:
    pieces = {secret[at : at + 4] for at in range(len(secret) - 3)}
    assume(
        not any(piece in _OUR_WORDS or (piece.isascii() and piece.isdigit()) for piece in pieces)
    )
    hiding = st.just(secret) | st.just({secret: secret}) | st.just(f"{_JOB}{secret}")
    body = data.draw(_bodies(hiding | st.integers(max_value=9)))

    shape = shape_of(body)

    assert not any(piece in shape for piece in pieces)
    assert not any(json.dumps(piece)[1:-1] in shape for piece in pieces)


@given(st.integers(min_value=1000) | st.integers(max_value=-1) | st.floats())
def test_of_a_number_that_is_no_version_only_its_type_is_kept(number: float) -> None:
    assert _shape({"v": number, "kind": number, "other": number}) == {
        "v": "number",
        "kind": "number",
        "others": 1,
    }


def test_a_shape_names_our_members_and_counts_the_others() -> None:
    body = {
        "v": 2,
        "job": _JOB,
        "tenant": "acme",
        "kind": None,
        "input": _INPUT,
        "traceparent": True,
        "secret": "x",
        "more": {},
    }

    assert _shape(body) == {
        "v": 2,
        "job": _JOB,
        "tenant": "string(4)",
        "kind": "null",
        "input": _INPUT,
        "traceparent": "boolean",
        "others": 2,
    }


@pytest.mark.parametrize(
    ("body", "shape"),
    [
        (None, "null"),
        (True, "boolean"),
        (7, "number"),
        (math.nan, "number"),
        ("", "string(0)"),
        ("\ud800", "string(1)"),
        (_JOB + "\n", "string(31)"),
        ({}, {}),
        ({"v": True}, {"v": "boolean"}),
        ({"v": 1.0}, {"v": "number"}),
        ([], {"list": 0, "first": []}),
        (list("abcde"), {"list": 5, "first": ["string(1)"] * 3}),
        ({"job": {"job": {"job": {"job": 1}}}}, {"job": {"job": {"job": "object(1)"}}}),
        (b"bytes", "other"),
    ],
)
def test_a_shape_tells_types_and_lengths(body: object, shape: object) -> None:
    assert _shape(body) == shape


def test_what_would_be_too_long_is_shown_with_fewer_levels() -> None:
    wide: object = _JOB
    for _ in range(3):
        wide = dict.fromkeys(_NAMES, wide)

    assert _shape(wide) == dict.fromkeys(_NAMES, dict.fromkeys(_NAMES, "object(6)"))


def _deep(levels: int) -> object:
    body: object = "x"
    for level in range(levels):
        body = [body] if level % 2 else {"job": body}
    return body


@pytest.mark.parametrize(
    "body",
    [_deep(10_000), {"v": 10**5000}, [math.nan, -math.inf], {"\udfff": "\ud800"}, {1: 2, None: 3}],
    ids=["deep", "huge", "no numbers", "surrogates", "names that are no texts"],
)
def test_whatever_a_body_holds_it_has_a_shape_and_a_digest(body: object) -> None:
    assert len(shape_of(body)) <= SHAPE_LENGTH
    assert len(digest_of(body)) == 64
    assert digest_of(body) == digest_of(body)


@given(_bodies(_leaves))
def test_the_digest_is_that_of_the_canonical_json(body: object) -> None:
    text = json.dumps(body, sort_keys=True, separators=(",", ":"))

    assert digest_of(body) == hashlib.sha256(text.encode()).hexdigest()


def test_bodies_that_differ_anywhere_have_digests_of_their_own() -> None:
    bodies = [1, True, "1", 1.5, None, [], {}, [1], ["1"], [[1]], [1, 1], {"a": 1}, {"a": "1"}]
    bodies += [_deep(9_999), _deep(10_000), 10**5000, 10**5000 + 1, "\ud800", "\ud801"]

    assert len({digest_of(body) for body in bodies}) == len(bodies)
