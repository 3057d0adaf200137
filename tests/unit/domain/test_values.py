"""Ids, fingerprints and keys."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uketsuke.domain.api_key import hash_secret, parse_key, same_hash
from uketsuke.domain.idempotency import fingerprint, first_difference
from uketsuke.domain.ids import JOB_ID, RANDOM_BYTES, time_sorted_id

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)
documents = st.dictionaries(st.text(), values, max_size=5)
entropies = st.binary(min_size=RANDOM_BYTES, max_size=RANDOM_BYTES)


@given(earlier=st.integers(0, 2**48 - 1), later=st.integers(0, 2**48 - 1), a=entropies, b=entropies)
def test_ids_sort_by_their_time(earlier: int, later: int, a: bytes, b: bytes) -> None:
    ids = [time_sorted_id("job", now_ms=ms, entropy=e) for ms, e in ((earlier, a), (later, b))]

    assert all(JOB_ID.fullmatch(id_) for id_ in ids)
    assert earlier == later or (ids[0] < ids[1]) == (earlier < later)


def test_an_id_takes_all_its_randomness() -> None:
    with pytest.raises(ValueError, match="10 random bytes"):
        time_sorted_id("job", now_ms=0, entropy=b"few")


@given(document=documents)
def test_the_order_of_members_is_no_difference(document: dict[str, object]) -> None:
    again = dict(reversed(list(document.items())))

    difference = first_difference(
        fingerprint(document, secret=b"s"), fingerprint(again, secret=b"s")
    )

    assert difference is None


@given(document=documents, other=documents)
def test_what_differs_is_pointed_at(document: dict[str, object], other: dict[str, object]) -> None:
    difference = first_difference(
        fingerprint(document, secret=b"s"), fingerprint(other, secret=b"s")
    )

    same = json.dumps(document, sort_keys=True) == json.dumps(other, sort_keys=True)
    assert (difference is None) == same


def test_a_pointer_escapes_the_members_name() -> None:
    before, now = fingerprint({"a/b~c": 1}, secret=b"s"), fingerprint({}, secret=b"s")

    assert first_difference(before, now) == "/a~1b~0c"


def test_a_fingerprint_cannot_be_guessed_without_the_secret() -> None:
    assert fingerprint({"a": 1}, secret=b"one") != fingerprint({"a": 1}, secret=b"two")


def test_a_key_is_parsed_and_compared_by_its_hash() -> None:
    parsed = parse_key("uk_abcdefghijkl_" + "S" * 32)
    assert parsed is not None

    kept = hash_secret(parsed[1], pepper=b"pepper")

    assert parsed[0] == "abcdefghijkl"
    assert same_hash(kept, "S" * 32, pepper=b"pepper")
    assert not same_hash(kept, "T" * 32, pepper=b"pepper")
    assert not same_hash(kept, "S" * 32, pepper=b"salt")


@pytest.mark.parametrize("text", ["", "uk_", "uk_short_x", "UK_abcdefghijkl_" + "S" * 32, "x" * 99])
def test_what_is_no_key_is_nothing(text: str) -> None:
    assert parse_key(text) is None
