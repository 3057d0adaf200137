"""Vectors as bytes: what was packed comes back, float by float, from what is kept and from JSON."""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uketsuke.domain.vectors import (
    HEAD_LIMIT,
    JSON_CLOSING,
    Vectors,
    json_opening,
    json_rows,
    keep,
    pack,
    read_head,
    unpack,
)

FLOATS = st.floats(width=32, allow_nan=False, allow_infinity=False)
ROWS = st.integers(1, 5).flatmap(
    lambda size: st.lists(st.lists(FLOATS, min_size=size, max_size=size), min_size=1, max_size=9)
)


def bits(numbers: Sequence[float]) -> bytes:
    return struct.pack(f"<{len(numbers)}f", *numbers)


def unsigned(row: Sequence[float]) -> bytes:
    """Zero has no sign in many readers of JSON."""
    return bits([number + 0.0 for number in row])


def as_json(parts: Sequence[Vectors], *, model: str = "m") -> bytes:
    kept = keep(parts, model=model)
    head = read_head(kept)
    rows = b"".join(json_rows(kept[head.start :], dimensions=head.dimensions))
    return json_opening(head) + rows + JSON_CLOSING


@given(rows=ROWS)
def test_a_row_is_packed_as_little_endian_floats_of_32_bits(rows: list[list[float]]) -> None:
    packed = pack(rows)

    assert packed.packed == b"".join(map(bits, rows))
    assert (packed.count, packed.dimensions) == (len(rows), len(rows[0]))
    assert bits(unpack(packed.packed)) == packed.packed


@given(rows=ROWS, cut=st.integers(1, 9), model=st.text(max_size=20))
def test_parts_are_kept_behind_one_another_after_a_head_that_describes_them(
    rows: list[list[float]], cut: int, model: str
) -> None:
    parts = [pack(rows[at : at + cut]) for at in range(0, len(rows), cut)]

    kept = keep(parts, model=model)

    head = read_head(kept[:HEAD_LIMIT])
    assert (head.model, head.count, head.dimensions) == (model, len(rows), len(rows[0]))
    assert kept[head.start :] == b"".join(map(bits, rows))
    assert head.start + head.floats_bytes == len(kept)
    assert head.start % 4 == 0


@given(rows=ROWS)
def test_json_gives_every_float_back_exactly(rows: list[list[float]]) -> None:
    told = json.loads(as_json([pack(rows)]))

    assert (told["model"], told["dimensions"]) == ("m", len(rows[0]))
    assert [unsigned(row) for row in told["vectors"]] == [unsigned(row) for row in rows]


def test_json_gives_floats_of_every_size_back_exactly() -> None:
    patterns = (struct.pack("<I", n) for n in range(1, 2**32, 9_999_991))
    numbers = [struct.unpack("<f", pattern)[0] for pattern in patterns]
    row = [number for number in numbers if math.isfinite(number)]

    (back,) = json.loads(as_json([pack([row])]))["vectors"]

    assert bits(back) == bits(row)


@pytest.mark.parametrize("dimensions", [1, 3, 8_191, 8_192, 8_193, 20_000])
def test_json_comes_in_pieces_of_whole_rows(dimensions: int) -> None:
    packed = pack([[0.5] * dimensions for _ in range(3)])

    pieces = list(json_rows(packed.packed, dimensions=dimensions))

    assert all(piece.endswith(b"]") for piece in pieces)
    assert max(map(len, pieces)) <= max(32_768, 4 * dimensions) * 1.5
    assert json.loads(b"[" + b"".join(pieces) + b"]") == [[0.5] * dimensions] * 3


@pytest.mark.parametrize(
    "rows",
    [
        [],
        [[]],
        [[1.0], []],
        [[1.0], [1.0, 2.0]],
        [[math.nan]],
        [[math.inf]],
        [[1e39]],  # finite, but not in 32 bits
        [["1"]],
        ["abc"],
        [[None]],
        [[10**400]],
    ],
)
def test_what_is_no_row_of_finite_numbers_is_refused(rows: list[list[float]]) -> None:
    with pytest.raises(ValueError, match=r"vector|nothing"):
        pack(rows)


@given(model=st.text(min_size=200, max_size=3000))
def test_every_head_fits_the_first_read(model: str) -> None:
    head = read_head(keep([pack([[1.0]])], model=model)[:HEAD_LIMIT])

    assert head.model == model[:256]


@pytest.mark.parametrize("content", [b"", b"UKV1", b'{"model": "m"}', b"UKV1\xff\0\0\0{}"])
def test_what_is_not_kept_vectors_is_said(content: bytes) -> None:
    with pytest.raises(ValueError, match="no kept vectors"):
        read_head(content)
