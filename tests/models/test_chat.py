"""The chat route gives honest extractive summaries: the text's own sentences, within the bounds."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.models.sample import ENGLISH, JAPANESE, summary_request


def complete(http: httpx.Client, request: dict[str, Any]) -> dict[str, Any]:
    response = http.post("/v1/chat/completions", json=request)
    assert response.status_code == 200, response.text
    completion: dict[str, Any] = response.json()
    return completion


def summary(http: httpx.Client, request: dict[str, Any]) -> str:
    content: str = complete(http, request)["choices"][0]["message"]["content"]
    return content


def test_an_english_summary_is_made_of_the_texts_own_sentences_in_their_order(
    http: httpx.Client,
) -> None:
    written = summary(http, summary_request(ENGLISH))

    sentences = [f"{sentence.rstrip('.')}." for sentence in written.split(". ")]
    places = [ENGLISH.index(sentence) for sentence in sentences]
    assert places == sorted(places)
    assert 10 < len(written.split()) <= 40


def test_a_japanese_text_gets_a_japanese_summary_made_of_its_own_sentences(
    http: httpx.Client,
) -> None:
    written = summary(
        http, summary_request(JAPANESE, instruction="100文字以内で要約してください。")
    )

    sentences = [f"{sentence}。" for sentence in written.replace("。」", "」").split("。")[:-1]]
    assert sentences
    assert all(sentence in JAPANESE.replace("。」", "」") for sentence in sentences)
    assert len(written) <= 100


def test_a_summary_leaves_out_what_the_text_is_not_about(http: httpx.Client) -> None:
    assert "Lunch" not in summary(http, summary_request(ENGLISH))
    assert "昼食" not in summary(http, summary_request(JAPANESE))


def test_the_same_prompt_has_the_same_summary_under_another_id(http: httpx.Client) -> None:
    first = complete(http, summary_request(ENGLISH))
    second = complete(http, summary_request(ENGLISH))

    assert first["choices"] == second["choices"]
    assert first["usage"] == second["usage"]
    assert first["id"] != second["id"]


@pytest.mark.parametrize("words", [5, 12, 25, 60])
def test_no_summary_is_longer_than_the_words_asked_for(http: httpx.Client, words: int) -> None:
    request = summary_request(ENGLISH, instruction=f"Summarize in at most {words} words.")

    assert 0 < len(summary(http, request).split()) <= words


def test_bullets_are_given_when_asked_for(http: httpx.Client) -> None:
    request = summary_request(ENGLISH, instruction="Summarize as bullets in at most 45 words.")

    lines = summary(http, request).splitlines()

    assert len(lines) > 1
    assert all(line.startswith("- ") and line[2:] in ENGLISH for line in lines)


def test_an_instruction_may_open_the_only_message(http: httpx.Client) -> None:
    request = summary_request("")
    request["messages"] = [
        {
            "role": "user",
            "content": f"Summarize this in one sentence, at most 20 words:\n\n{ENGLISH}",
        }
    ]

    written = summary(http, request)

    assert written in ENGLISH
    assert len(written.split()) <= 20


def test_max_tokens_that_leave_no_room_for_a_sentence_end_it_with_length(
    http: httpx.Client,
) -> None:
    completion = complete(http, summary_request(ENGLISH, max_tokens=4))

    choice = completion["choices"][0]
    assert choice["finish_reason"] == "length"
    assert choice["message"]["content"].endswith("…")
    assert completion["usage"]["completion_tokens"] <= 4


def test_usage_counts_four_characters_or_one_japanese_one_as_a_token(http: httpx.Client) -> None:
    request = summary_request("一二三です。", instruction="at most 9 words")  # 6 wide; 15 others

    usage = complete(http, request)["usage"]

    assert usage == {"prompt_tokens": 6 + 4, "completion_tokens": 6, "total_tokens": 16}


def test_a_text_of_100_kilobytes_is_summarized_from_all_its_parts(http: httpx.Client) -> None:
    paragraphs = [f"{ENGLISH} This was paragraph number {n} of the report." for n in range(170)]
    text = "\n\n".join(paragraphs)
    assert len(text) > 100_000

    written = summary(http, summary_request(text, instruction="At most 100 words."))

    assert 20 < len(written.split()) <= 100


@pytest.mark.parametrize(
    ("change", "status", "code"),
    [
        ({"model": "gpt-5"}, 404, "model_not_found"),
        ({"stream": True}, 400, "unsupported_parameter"),
        ({"n": 2}, 400, "unsupported_parameter"),
        ({"tools": []}, 400, "unsupported_parameter"),
        ({"response_format": {"type": "json_object"}}, 400, "unsupported_parameter"),
        ({"messages": []}, 400, "invalid_value"),
        ({"messages": "text"}, 400, "invalid_value"),
        ({"messages": [{"role": "user", "content": " \n"}]}, 400, "invalid_value"),
        (
            {"messages": [{"role": "user", "content": "a " * 600_000}]},
            400,
            "context_length_exceeded",
        ),
    ],
)
def test_what_cannot_be_done_is_refused_in_openais_error_shape(
    http: httpx.Client, change: dict[str, Any], status: int, code: str
) -> None:
    response = http.post("/v1/chat/completions", json=summary_request(ENGLISH) | change)

    assert response.status_code == status
    assert response.json()["error"].keys() == {"message", "type", "code"}
    assert response.json()["error"]["code"] == code


@pytest.mark.parametrize(
    "body", [b"", b"{", b"\xff", b'{"tools": ' + b"[" * 100_000, b'{"model": "\\ud800"}']
)
def test_a_body_that_is_no_json_is_refused(http: httpx.Client, body: bytes) -> None:
    response = http.post("/v1/chat/completions", content=body)

    assert response.status_code == 400
    assert response.json()["error"]["code"] == "invalid_json"
