"""``Accept``: who gets which form of what can be had in several."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uketsuke.http.accept import choose

JSON, FLOATS = "application/json", "application/octet-stream"


@pytest.mark.parametrize(
    ("accept", "chosen"),
    [
        # Nothing wanted in particular: the usual form.
        (None, JSON),
        ("", JSON),
        ("*/*", JSON),
        ("application/*", JSON),
        ("application/json, application/octet-stream", JSON),
        ("application/octet-stream, application/json", JSON),
        ("text/html, application/xhtml+xml, */*;q=0.8", JSON),
        # One of them by name.
        ("application/json", JSON),
        ("application/octet-stream", FLOATS),
        ("Application/Octet-Stream", FLOATS),
        ("text/csv, application/octet-stream", FLOATS),
        (" \t application/octet-stream \t ", FLOATS),
        (",, application/octet-stream ,", FLOATS),
        # Weights.
        ("application/json;q=0.5, application/octet-stream;q=0.6", FLOATS),
        ("application/json;q=0.5, application/octet-stream;q=0.50", JSON),
        ("application/json; Q=0.1 , application/octet-stream ; q = 1.000", FLOATS),
        ("application/json;q=0.001, text/html", JSON),
        # The closest range decides, wherever it stands.
        ("application/json;q=0, */*", FLOATS),
        ("*/*, application/json;q=0", FLOATS),
        ("application/*;q=0.3, application/octet-stream;q=0.2", JSON),
        ("application/octet-stream, */*;q=0.1", FLOATS),
        ("application/*;q=0, */*", None),
        # Of the same range said twice, the kinder.
        ("application/json;q=0.1, application/json;q=0.9, application/octet-stream;q=0.5", JSON),
        # Parameters and what is quoted in them.
        ("application/json;charset=utf-8", JSON),
        ('text/x;a="b, application/json;q=1", application/octet-stream', FLOATS),
        ('application/octet-stream;a="x;q=0"', FLOATS),
        ('application/octet-stream;a="x\\";q=0"', FLOATS),
        # Nothing that is here.
        ("text/csv", None),
        ("application/jsonlines", None),
        ("application/json;q=0", None),
        ("*/*;q=0", None),
        # What cannot be read says nothing; what can be read beside it still counts.
        ("json", JSON),
        ("*/json", JSON),
        ("application/octet-stream;q=2", JSON),
        ("application/octet-stream;q=0.1234", JSON),
        ("application/octet-stream;q=high, application/json;q=0.1", JSON),
        ("garbage in here, application/octet-stream", FLOATS),
        ('"', JSON),
    ],
)
def test_the_form_that_is_wanted_most_is_chosen(accept: str | None, chosen: str | None) -> None:
    assert choose(accept, (JSON, FLOATS)) == chosen


@given(accept=st.text(alphabet='aj/*;,q=01."\\ \t', max_size=60))
def test_no_header_breaks_the_choice(accept: str) -> None:
    assert choose(accept, ("a/j", "j/a")) in ("a/j", "j/a", None)


@pytest.mark.parametrize(
    "piece", ['"', '"\\', "; ", ";  ", ", ", "a/b,", 'a/b;q="', "a/b; q=0.5 ;"]
)
def test_a_long_header_is_read_in_one_pass(piece: str) -> None:
    """One that took steps by the square of its length would not come back within the test."""
    assert choose(piece * 50_000, (JSON, FLOATS)) in (JSON, None)
