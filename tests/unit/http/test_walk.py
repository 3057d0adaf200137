"""The walker: it finds every fault at once, points at each, and never raises."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.http.documents import assert_resolves
from uketsuke.http.pointer import ROOT
from uketsuke.http.walk import find_faults

_Short = Annotated[str, msgspec.Meta(min_length=2, max_length=4)]


class Inner(msgspec.Struct):
    name: str


class Shape(msgspec.Struct):
    whole: Annotated[int, msgspec.Meta(ge=1, le=3)] = 1
    between: Annotated[float, msgspec.Meta(gt=0, lt=1)] = 0.5
    even: Annotated[int, msgspec.Meta(multiple_of=2)] = 2
    text: _Short = "ab"
    code: Annotated[str, msgspec.Meta(pattern="^[a-z]+$", description="a code")] = "a"
    price: Annotated[str, msgspec.Meta(pattern=r"[0-9]\$")] = "5$"
    flag: bool = False
    maybe: _Short | None = None
    word: Literal["red", "blue", 1] = "red"
    either: int | str = 1
    pairs: Annotated[dict[_Short, str], msgspec.Meta(min_length=1, max_length=2)] | None = None
    items: Annotated[list[int], msgspec.Meta(min_length=1, max_length=3)] | None = None
    inner: Inner = msgspec.field(default_factory=lambda: Inner(""))
    loose: Any = None
    renamed: int = msgspec.field(default=1, name="re-named")


class Pair(msgspec.Struct):
    low: int
    high: int

    def __post_init__(self) -> None:
        if self.low > self.high:
            raise ValueError(f"{self.low} is secret")


def faults_of(value: object, struct: type[msgspec.Struct] = Shape) -> list[tuple[str, str]]:
    return [(fault.pointer, fault.code) for fault in find_faults(value, struct)]


@pytest.mark.parametrize(
    ("given_value", "fault"),
    [
        ({"whole": 0}, ("/whole", "out_of_range")),
        ({"whole": 4}, ("/whole", "out_of_range")),
        ({"whole": 10**400}, ("/whole", "out_of_range")),
        ({"whole": True}, ("/whole", "wrong_type")),  # a bool is an int to Python, not to JSON
        ({"whole": 3.0}, ("/whole", "wrong_type")),
        ({"whole": "1"}, ("/whole", "wrong_type")),
        ({"whole": None}, ("/whole", "wrong_type")),
        ({"between": 0}, ("/between", "out_of_range")),
        ({"between": 1.0}, ("/between", "out_of_range")),
        ({"between": 10**400}, ("/between", "out_of_range")),
        ({"between": True}, ("/between", "wrong_type")),
        ({"even": 3}, ("", "bad_value")),  # no rule of ours: msgspec has the last word
        ({"text": ""}, ("/text", "empty")),
        ({"text": "a"}, ("/text", "bad_value")),
        ({"text": "abcde"}, ("/text", "too_long")),
        ({"text": 5}, ("/text", "wrong_type")),
        ({"code": "A"}, ("/code", "bad_value")),
        ({"code": "a\n"}, ("/code", "bad_value")),
        ({"price": "5 EUR"}, ("/price", "bad_value")),
        ({"flag": 1}, ("/flag", "wrong_type")),
        ({"flag": "true"}, ("/flag", "wrong_type")),
        ({"maybe": 1}, ("/maybe", "wrong_type")),
        ({"maybe": "abcde"}, ("/maybe", "too_long")),
        ({"word": "green"}, ("/word", "bad_value")),
        ({"word": 2}, ("/word", "bad_value")),
        ({"word": True}, ("/word", "wrong_type")),
        ({"word": None}, ("/word", "wrong_type")),
        ({"either": 1.5}, ("/either", "wrong_type")),
        ({"pairs": {}}, ("/pairs", "empty")),
        ({"pairs": {"ab": "", "cd": "", "ef": ""}}, ("/pairs", "too_long")),
        ({"pairs": {"abcde": ""}}, ("/pairs/abcde", "too_long")),
        ({"pairs": {"k" * 101: ""}}, ("/pairs", "too_long")),
        ({"pairs": {"ab": 1}}, ("/pairs/ab", "wrong_type")),
        ({"pairs": {"a/~b": "", "x": ""}}, ("/pairs/x", "bad_value")),
        ({"pairs": {"a/~": 1}}, ("/pairs/a~1~0", "wrong_type")),
        ({"pairs": []}, ("/pairs", "wrong_type")),
        ({"items": []}, ("/items", "empty")),
        ({"items": [1, 2, 3, 4]}, ("/items", "too_long")),
        ({"items": [1, "2", 3]}, ("/items/1", "wrong_type")),
        ({"items": [1, 2, 3, "beyond"]}, ("/items", "too_long")),
        ({"items": {"0": 1}}, ("/items", "wrong_type")),
        ({"inner": {}}, ("/inner/name", "missing")),
        ({"inner": {"name": "", "no": 1}}, ("/inner/no", "unknown_member")),
        ({"inner": []}, ("/inner", "wrong_type")),
        ({"renamed": 1}, ("/renamed", "unknown_member")),
        ({"re-named": "1"}, ("/re-named", "wrong_type")),
        ({"x\x00y": 1}, ("", "unknown_member")),
        ([], ("", "wrong_type")),
        (None, ("", "wrong_type")),
    ],
)
def test_a_fault_is_named_and_pointed_at(given_value: object, fault: tuple[str, str]) -> None:
    assert faults_of(given_value) == [fault]


@pytest.mark.parametrize(
    "sound",
    [
        {},
        {"whole": 1, "between": 0.5, "even": 4, "text": "abcd", "flag": True, "maybe": None},
        {"maybe": "ab", "word": 1, "either": "x", "pairs": {"ab": "x"}, "items": [1, 2, 3]},
        {"inner": {"name": ""}, "loose": {"any": ["thing", None]}, "re-named": -5},
        {"between": 0.999, "either": -1, "word": "blue"},
    ],
)
def test_what_is_within_its_limits_has_no_fault(sound: object) -> None:
    assert faults_of(sound) == []


def test_all_faults_are_found_at_once_in_the_order_of_the_document() -> None:
    wrong = {"no": 1, "whole": 9, "items": ["a", 2, "c"], "inner": {"odd": 1}}

    assert faults_of(wrong) == [
        ("/no", "unknown_member"),
        ("/whole", "out_of_range"),
        ("/items/0", "wrong_type"),
        ("/items/2", "wrong_type"),
        ("/inner/odd", "unknown_member"),
        ("/inner/name", "missing"),
    ]


def test_a_struct_can_have_the_last_word_without_its_text_being_shown() -> None:
    (fault,) = find_faults({"low": 2, "high": 1}, Pair, pointer=ROOT.child("params"))

    assert (fault.pointer, fault.code) == ("/params", "bad_value")
    assert "secret" not in fault.detail


def test_limits_are_told_so_that_they_can_be_kept() -> None:
    (fault,) = find_faults({"whole": 9}, Shape)

    assert "at least 1 and at most 3" in fault.detail


_ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)
_NEARLY = st.fixed_dictionaries({}, optional=dict.fromkeys(
    ("whole", "between", "text", "code", "maybe", "word", "pairs", "items", "inner", "loose"),
    _ANY_JSON,
))  # fmt: skip


@given(value=_ANY_JSON | _NEARLY)
def test_the_walk_never_raises_and_every_pointer_resolves(value: object) -> None:
    for fault in find_faults(value, Shape):
        assert_resolves(fault, value)


@given(value=_NEARLY)
def test_what_the_walk_lets_through_msgspec_converts(value: dict[str, object]) -> None:
    if not list(find_faults(value, Shape)):
        msgspec.convert(value, Shape)
