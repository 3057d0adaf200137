"""The embeddings route gives OpenAI's shapes, e5's two modes, and vectors that find things."""

from __future__ import annotations

import base64
import math
import struct
from typing import Any

import httpx
import pytest

Vector = list[float]


def embed(http: httpx.Client, texts: str | list[str], **members: Any) -> list[Any]:
    request = {"model": "multilingual-e5-small", "input": texts, **members}
    response = http.post("/v1/embeddings", json=request)
    assert response.status_code == 200, response.text
    items = response.json()["data"]
    assert [item["index"] for item in items] == list(range(len(items)))
    return [item["embedding"] for item in items]


def cosine(one: Vector, other: Vector) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))


def test_a_text_becomes_384_numbers_of_length_one(http: httpx.Client) -> None:
    [vector] = embed(http, "A text.")

    assert len(vector) == 384
    assert math.isclose(cosine(vector, vector), 1, abs_tol=1e-3)


def test_each_text_of_a_list_has_its_own_vector_in_its_own_place(http: httpx.Client) -> None:
    texts = [f"The text with the number {n} in it." for n in range(40)]  # several slices

    vectors = embed(http, texts)

    assert len(vectors) == 40
    for place in (0, 15, 16, 39):
        [alone] = embed(http, texts[place])
        assert cosine(alone, vectors[place]) > 0.999


def test_base64_holds_the_same_numbers(http: httpx.Client) -> None:
    [numbers] = embed(http, "A text.")
    [packed] = embed(http, "A text.", encoding_format="base64")

    assert list(struct.unpack("<384f", base64.b64decode(packed))) == numbers


def test_documents_are_the_default_and_questions_can_be_had_in_two_ways(
    http: httpx.Client,
) -> None:
    document = embed(http, "How do I get a refund?")

    by_member = embed(http, "How do I get a refund?", input_type="query")
    by_name = embed(http, "How do I get a refund?", model="multilingual-e5-small-query")

    assert by_member == by_name != document
    assert embed(http, "How do I get a refund?", input_type="document") == document


@pytest.mark.parametrize(
    ("question", "place"),
    [("When does the library open?", 0), ("図書館は何時に開きますか。", 1), ("返金の方法", 2)],
)
def test_a_question_finds_its_document(http: httpx.Client, question: str, place: int) -> None:
    documents = embed(
        http,
        [
            "The library opens at nine in the morning.",
            "図書館は午前九時に開館します。",
            "返金を希望する方は、窓口に領収書をお持ちください。",
            "The bus to the airport leaves twice an hour.",
        ],
    )

    [asked] = embed(http, question, input_type="query")

    scores = [cosine(asked, document) for document in documents]
    assert scores.index(max(scores)) == place


def test_a_nul_does_not_hide_what_follows_it(http: httpx.Client) -> None:
    cut, whole = embed(http, ["The library\0 opens at nine.", "The library"])

    assert cosine(cut, whole) < 0.99


@pytest.mark.parametrize(
    ("change", "status", "code"),
    [
        ({"model": "text-embedding-3-small"}, 404, "model_not_found"),
        ({"input": ""}, 400, "invalid_value"),
        ({"input": ["a", ""]}, 400, "invalid_value"),
        ({"input": []}, 400, "invalid_value"),
        ({"input": [[1, 2]]}, 400, "invalid_value"),
        ({"input": ["a"] * 2_049}, 400, "invalid_value"),
        ({"input": "a" * 40_000}, 400, "context_length_exceeded"),
        ({"dimensions": 256}, 400, "invalid_value"),
        ({"encoding_format": "int8"}, 400, "invalid_value"),
    ],
)
def test_what_cannot_be_embedded_is_refused(
    http: httpx.Client, change: dict[str, Any], status: int, code: str
) -> None:
    request = {"model": "multilingual-e5-small", "input": "A text."} | change

    response = http.post("/v1/embeddings", json=request)

    assert response.status_code == status
    assert response.json()["error"]["code"] == code


def test_a_lone_surrogate_is_refused(http: httpx.Client) -> None:
    body = b'{"model": "multilingual-e5-small", "input": ["\\ud800"]}'

    response = http.post("/v1/embeddings", content=body)

    assert response.status_code == 400
    assert response.json()["error"]["code"] == "invalid_json"
