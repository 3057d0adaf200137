"""The Idempotency-Key header, quoted and bare."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uketsuke.http.idempotency_key import read_key

PRINTABLE = "".join(map(chr, range(0x20, 0x7F)))


def quoted(key: str) -> str:
    return '"' + key.replace("\\", "\\\\").replace('"', '\\"') + '"'


def test_without_the_header_there_is_no_key() -> None:
    assert read_key({}) == (None, ())


@pytest.mark.parametrize(
    ("sent", "key"),
    [
        ('"k-1"', "k-1"),
        ("k-1", "k-1"),
        ("  k-1 ", "k-1"),
        ('"a b"', "a b"),
        (r'"a\"b\\c"', r'a"b\c'),
        ("8e03978e-40d5-43dd-bc93-6894a57f9324", "8e03978e-40d5-43dd-bc93-6894a57f9324"),
        ("aGk+/w==", "aGk+/w=="),
        ("k" * 200, "k" * 200),
        (quoted("\\" * 200), "\\" * 200),
    ],
)
def test_both_forms_give_the_key(sent: str, key: str) -> None:
    assert read_key({"idempotency-key": sent}) == (key, ())


@pytest.mark.parametrize(
    ("sent", "code"),
    [
        ("", "empty"),
        ('""', "empty"),
        ("k" * 201, "too_long"),
        (quoted('"' * 201), "too_long"),
        ("a b", "bad_value"),
        ("a, a", "bad_value"),  # the header twice, as the runtime joins them
        ('"a", "a"', "bad_value"),
        ('"a', "bad_value"),
        ('a"', "bad_value"),
        (r'"a\b"', "bad_value"),
        ('"a\\"', "bad_value"),
        ('"a";p=1', "bad_value"),
        ("キー", "bad_value"),
        ('"\x7f"', "bad_value"),
        ('"a\tb"', "bad_value"),
    ],
)
def test_anything_else_is_refused_and_the_header_is_named(sent: str, code: str) -> None:
    key, (fault,) = read_key({"idempotency-key": sent})

    assert key is None
    assert (fault.pointer, fault.code) == ("", code)
    assert "Idempotency-Key" in fault.detail


@given(key=st.text(alphabet=PRINTABLE, min_size=1, max_size=200))
def test_any_printable_key_survives_quoting(key: str) -> None:
    assert read_key({"idempotency-key": quoted(key)}) == (key, ())


@given(sent=st.text())
def test_reading_is_total(sent: str) -> None:
    key, faults = read_key({"idempotency-key": sent})

    assert (key is None) == bool(faults)
