"""A long text is cut as a ``str`` is, and takes little more memory than its bytes."""

from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uketsuke.domain.long_text import LongText, is_blank
from uketsuke.domain.split import cut_text

# Long enough for several stretches, in characters of one byte to four.
stretched = st.builds(
    lambda parts, times: "".join(parts) * times,
    st.lists(st.sampled_from(["a", "é", "漢字。", "😀", " ", "\n"]), min_size=1, max_size=9),
    st.integers(1, 20_000),
)
ends = st.none() | st.integers(-200_000, 200_000)


@given(text=stretched, start=ends, stop=ends)
def test_it_is_cut_as_a_str_is(text: str, start: int | None, stop: int | None) -> None:
    long = LongText(text.encode())

    assert len(long) == len(text)
    assert long[start:stop] == text[start:stop]
    assert is_blank(long) == (not text.strip())


@pytest.mark.parametrize("content", [b"\xff", b"a\xe3\x81" + b"a" * 40_000, b"\x80" * 40_000])
def test_what_is_not_utf_8_is_none(content: bytes) -> None:
    with pytest.raises(UnicodeDecodeError):
        LongText(content)


def test_a_byte_order_mark_is_no_part_of_it() -> None:
    assert LongText(b"\xef\xbb\xbfa")[:] == "a"
    assert is_blank(LongText(b"\xef\xbb\xbf"))


def test_an_emoji_does_not_make_it_four_times_as_large() -> None:
    content = ("Ships come in at nine. " * 200 + "😀\n").encode() * 500  # 2.3 MB

    tracemalloc.start()
    try:
        text = LongText(content)
        pieces = sum(len(text[start:end]) for start, end in cut_text(text, size=6_000))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert pieces > 2_000_000
    assert peak < 1_000_000
