"""Entity tags: when the caller has the same already."""

from __future__ import annotations

import pytest

from uketsuke.http.answer import tagged_answer

DOCUMENT = {"id": "job_1", "state": "running"}


def tag_of(document: object) -> str:
    return dict(tagged_answer(document, asked={}).headers)["etag"]


def test_the_tag_is_strong_and_the_contents() -> None:
    assert tag_of(DOCUMENT) == tag_of(dict(DOCUMENT))
    assert tag_of(DOCUMENT) != tag_of({**DOCUMENT, "state": "failed"})
    assert tag_of(DOCUMENT).startswith('"')


@pytest.mark.parametrize("form", ["{}", "W/{}", '"other", {}', '"a" , W/{},"b"', "*", " * "])
def test_who_has_the_same_gets_304_without_a_body(form: str) -> None:
    asked = {"if-none-match": form.format(tag_of(DOCUMENT))}

    answer = tagged_answer(DOCUMENT, asked=asked, headers=(("vary", "Authorization"),))

    assert (answer.status, answer.body) == (304, b"")
    assert answer.headers == (("vary", "Authorization"), ("etag", tag_of(DOCUMENT)))


@pytest.mark.parametrize("form", ["", '"other"', 'W/"other"', "{bare}", '"*"', "garbage", '"'])
def test_who_has_another_gets_the_document(form: str) -> None:
    asked = {"if-none-match": form.format(bare=tag_of(DOCUMENT).strip('"'))}

    assert tagged_answer(DOCUMENT, asked=asked).status == 200
