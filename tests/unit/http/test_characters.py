"""NUL and lone surrogates: refused wherever a string can stand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uketsuke.http.characters import bad_characters

BAD = ["\x00", "a\x00", "\ud800", "x\udfffy"]


def pointers(value: object) -> list[str]:
    faults = list(bad_characters(value))
    assert {fault.code for fault in faults} <= {"bad_value"}
    return [fault.pointer for fault in faults]


@pytest.mark.parametrize("bad", BAD)
def test_such_a_string_is_found_wherever_it_stands(bad: str) -> None:
    document = {"a": bad, "b": {"c/d": bad}, "e": ["", [bad]], "f": 1}

    assert pointers(document) == ["/a", "/b/c~1d", "/e/1/0"]


@pytest.mark.parametrize("bad", BAD)
def test_in_a_name_it_is_found_and_the_pointer_stays_at_the_object(bad: str) -> None:
    assert pointers({"a": {bad: 1}, bad: 2}) == ["", "/a"]


def test_below_a_name_that_cannot_be_told_the_pointer_stays_above_it() -> None:
    assert pointers({"a": {"\x1f": [{"\x00": 1}], "b" * 101: ["\x00"]}}) == ["/a", "/a"]


@pytest.mark.parametrize(
    "sound", ["", "\\u0000", "\\ud800", "受付 🙂", "\x01\x7f\ufffe\uffff", "\U0001f600"]
)
def test_every_other_character_is_let_through(sound: str) -> None:
    assert pointers({sound: [sound]}) == []


@given(text=st.text())
def test_what_is_let_through_can_be_kept_as_utf8_without_being_cut(text: str) -> None:
    if not pointers(text):
        assert b"\x00" not in text.encode()
