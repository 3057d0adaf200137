"""Bodies as JSON: what is not exactly one sound document is refused, and nothing crashes."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.unit.http.fakes import BytesBody
from uketsuke.domain.nesting import MOST_DEPTH
from uketsuke.http.json_body import parse, read_json, read_nothing
from uketsuke.http.message import Request
from uketsuke.http.problem import Refused

JSON = {"content-type": "application/json"}


def code_of(raw: bytes) -> str:
    with pytest.raises(Refused) as refused:
        parse(raw)
    return refused.value.problem.code


def a_request(content: bytes = b"{}", **headers: str) -> Request:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Request(method="POST", path="/", headers=named, body=BytesBody(content))


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"   ", id="blank"),
        pytest.param(b"{", id="not closed"),
        pytest.param(b'{"a": 1,}', id="trailing comma"),
        pytest.param(b"{'a': 1}", id="single quotes"),
        pytest.param(b'{"a": 1} {}', id="two documents"),
        pytest.param(b'{"a": 1, "a": 1}', id="a name twice"),
        pytest.param(b'{"b": [{"a": 1, "\\u0061": 2}]}', id="a name twice, once escaped"),
        pytest.param(b'{"a": NaN}', id="NaN"),
        pytest.param(b'{"a": -Infinity}', id="infinity"),
        pytest.param(b'{"a": 1e999}', id="a number beyond floats"),
        pytest.param(b'{"a": ' + b"9" * 5000 + b"}", id="an integer of 5000 digits"),
        pytest.param(b'{"a": 01}', id="leading zero"),
        pytest.param(b'{"a": "\x00"}', id="a raw NUL"),
        pytest.param(b'{"a": "\n"}', id="a raw newline"),
        pytest.param(b'{"a": "\xff"}', id="not UTF-8"),
        pytest.param(b'{"a": "\xed\xa0\x80"}', id="a surrogate in UTF-8"),
        pytest.param('{"a": 1}'.encode("utf-16"), id="UTF-16"),
        pytest.param(b"[" * 10_000 + b"]" * 10_000, id="10,000 arrays deep"),
        pytest.param(b'{"a":' * 10_000 + b"1" + b"}" * 10_000, id="10,000 objects deep"),
        pytest.param(b"[" * 1_000_000, id="a million openings"),
        pytest.param(b'"\\"' + b"[" * 1_000 + b"]" * 1_000, id="deep behind an open string"),
    ],
)
def test_what_is_not_one_strict_json_document_is_invalid_json(raw: bytes) -> None:
    assert code_of(raw) == "invalid_json"


def test_the_depth_limit_is_exact() -> None:
    deepest = b"[" * MOST_DEPTH + b"]" * MOST_DEPTH

    assert json.dumps(parse(deepest)).encode() == deepest
    assert code_of(b"[" + deepest + b"]") == "invalid_json"


def test_a_wide_document_is_not_taken_for_a_deep_one() -> None:
    wide: list[object] = [[{}] for _ in range(1000)]

    assert parse(json.dumps(wide).encode()) == wide


def test_brackets_in_strings_do_not_count_as_depth() -> None:
    text = {"a": "[" * 1000, "b\\": '"' + "{" * 1000, "c": ["\\\\", "[" * 100]}

    assert parse(json.dumps(text).encode()) == text


def test_a_byte_order_mark_is_no_problem() -> None:
    assert parse(b'\xef\xbb\xbf{"a": 1}') == {"a": 1}


def test_the_detail_says_where_to_look_and_repeats_nothing_of_the_body() -> None:
    with pytest.raises(Refused) as refused:
        parse(b'{"a": "secret prompt" "b"}')

    assert "line 1, column 23" in refused.value.problem.detail
    assert "secret" not in refused.value.problem.detail


_JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=30,
)  # fmt: skip


@given(value=_JSON_VALUES, ascii_only=st.booleans())
def test_every_json_value_survives_the_way_in(value: object, ascii_only: bool) -> None:
    raw = json.dumps(value, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
    try:
        raw.decode()
    except UnicodeDecodeError:
        assert code_of(raw) == "invalid_json"
    else:
        assert parse(raw) == value


@given(raw=st.binary() | st.text(alphabet='[]{}":,\\ 1au0').map(str.encode))
@example(raw=b'\\"' * 500 + b"[" * 100)
def test_parsing_is_total(raw: bytes) -> None:
    with suppress(Refused):
        parse(raw)


@pytest.mark.parametrize(
    "content_type",
    [
        "application/json",
        "Application/JSON",
        "application/json; charset=utf-8",
        'application/json;charset="UTF-8"',
    ],
)
def test_json_is_taken_under_its_type(content_type: str) -> None:
    request = a_request(content_type=content_type)

    assert asyncio.run(read_json(request, limit=100)) == {}


@pytest.mark.parametrize(
    "headers",
    [
        pytest.param({}, id="none"),
        pytest.param({"content_type": "text/plain"}, id="text"),
        pytest.param({"content_type": "application/jsonp"}, id="nearly"),
        pytest.param({"content_type": "application/json; charset=latin-1"}, id="latin-1"),
        pytest.param(
            {"content_type": "application/json", "content_encoding": "gzip"}, id="compressed"
        ),
    ],
)
def test_other_types_are_refused(headers: dict[str, str]) -> None:
    with pytest.raises(Refused) as refused:
        asyncio.run(read_json(a_request(b"{}", **headers), limit=100))

    assert refused.value.problem.code == "unsupported_media_type"


def test_a_body_of_just_the_limit_is_read() -> None:
    request = a_request(b'{"a":"bb"}', **{"content-type": "application/json"})

    assert asyncio.run(read_json(request, limit=10)) == {"a": "bb"}


def test_a_body_beyond_the_limit_is_too_large() -> None:
    request = a_request(b'{"a":"bbb"}', **{"content-type": "application/json"})

    with pytest.raises(Refused) as refused:
        asyncio.run(read_json(request, limit=10))

    assert refused.value.problem.code == "too_large"


@pytest.mark.parametrize("length", ["11", "9" * 5000])
def test_a_body_that_says_it_is_too_large_is_not_read(length: str) -> None:
    body = BytesBody(b"{}")
    headers = {"content-type": "application/json", "content-length": length}
    request = Request(method="POST", path="/", headers=headers, body=body)

    with pytest.raises(Refused) as refused:
        asyncio.run(read_json(request, limit=10))

    assert refused.value.problem.code == "too_large"
    assert not body.taken


@pytest.mark.parametrize("content", [b"", b" \n", b"{}", b" { } "])
def test_where_no_body_is_wanted_an_empty_one_will_do(content: bytes) -> None:
    asyncio.run(read_nothing(a_request(content), limit=100))


@pytest.mark.parametrize("content", [b'{"reason": "x"}', b"[]", b"null", b"reason=x"])
def test_where_no_body_is_wanted_one_that_says_something_is_refused(content: bytes) -> None:
    with pytest.raises(Refused) as refused:
        asyncio.run(read_nothing(a_request(content), limit=100))

    assert refused.value.problem.code == "invalid_json"
