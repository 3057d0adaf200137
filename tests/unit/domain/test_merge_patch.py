"""Merge patches, held against RFC 7396: its table of examples, and what its rules imply."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uketsuke.domain.merge_patch import decides, merged

LEAVES = st.none() | st.booleans() | st.integers() | st.text(max_size=3)
NAMES = st.sampled_from(["a", "b", "c", "~", "/"])
JSON = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=12,
)
PATCHES = st.dictionaries(NAMES, JSON, max_size=4)


# Appendix A of the RFC: what there was, the patch, what there is.
@pytest.mark.parametrize(
    ("target", "patch", "result"),
    [
        ({"a": "b"}, {"a": "c"}, {"a": "c"}),
        ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
        ({"a": "b"}, {"a": None}, {}),
        ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
        ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
        ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
        ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
        ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
        (["a", "b"], ["c", "d"], ["c", "d"]),
        ({"a": "b"}, ["c"], ["c"]),
        ({"a": "foo"}, None, None),
        ({"a": "foo"}, "bar", "bar"),
        ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
        ([1, 2], {"a": "b", "c": None}, {"a": "b"}),
        ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
    ],
)
def test_the_rfcs_own_examples_hold(target: Any, patch: Any, result: Any) -> None:
    assert merged(target, patch) == result


@given(target=JSON, patch=JSON)
def test_neither_the_target_nor_the_patch_is_changed(target: Any, patch: Any) -> None:
    before = copy.deepcopy((target, patch))

    merged(target, patch)

    assert (target, patch) == before


@given(target=JSON, patch=JSON)
def test_a_patch_twice_is_a_patch_once(target: Any, patch: Any) -> None:
    once = merged(target, patch)

    assert merged(once, patch) == once


@given(target=JSON, patch=PATCHES)
def test_each_member_is_merged_by_itself_and_the_others_stay(target: Any, patch: Any) -> None:
    result = merged(target, patch)

    assert isinstance(result, dict)
    kept = target if isinstance(target, dict) else {}
    for name in {*kept, *patch}:
        if name not in patch:
            assert result[name] == kept[name]
        elif patch[name] is None:
            assert name not in result
        else:
            assert result[name] == merged(kept.get(name), patch[name])


@given(target=JSON)
def test_an_empty_patch_changes_no_object(target: Any) -> None:
    assert merged(target, {}) == (target if isinstance(target, dict) else {})


def places(value: Any, way: tuple[str, ...] = ()) -> Any:
    yield way
    items: Any = value.items() if isinstance(value, dict) else ()
    if isinstance(value, list):
        items = ((str(number), item) for number, item in enumerate(value))
    for name, item in items:
        yield from places(item, (*way, name))


def at(value: Any, way: tuple[str, ...]) -> Any:
    for name in way:
        if isinstance(value, dict):
            value = value.get(name, "absent")
        elif isinstance(value, list) and name.isdigit() and int(name) < len(value):
            value = value[int(name)]
        else:
            return "absent"
    return value


@given(target=JSON, patch=PATCHES)
def test_where_a_patch_decides_nothing_all_is_as_before(target: Any, patch: Any) -> None:
    if not isinstance(target, dict):
        target = {"a": target}
    result = merged(target, patch)

    for way in places(result):
        if not decides(patch, way):
            assert at(result, way) == at(target, way)


@given(patch=PATCHES)
def test_a_patch_decides_all_places_that_it_names(patch: Any) -> None:
    assert all(decides(patch, way) for way in places(patch))


@pytest.mark.parametrize(
    ("patch", "place", "decided"),
    [
        ({"input": {"text": "x"}}, ["input", "text"], True),
        ({"input": {"text": "x"}}, ["input"], True),
        ({"input": {"texts": ["x"]}}, ["input", "texts", "0"], True),
        ({"input": {"text": None}}, ["input", "text"], True),
        ({"input": None}, ["input", "text"], True),
        ({"params": {"a": 1}}, ["params", "b"], False),
        ({"params": {"a": 1}}, ["input"], False),
        ({}, ["input"], False),
    ],
)
def test_a_patch_decides_what_it_names_and_all_below(
    patch: Any, place: list[str], decided: bool
) -> None:
    assert decides(patch, place) is decided
