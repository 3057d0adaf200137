"""Texts and requests for the tests."""

from __future__ import annotations

from typing import Any, Final

ENGLISH: Final = (
    "The reception accepts a request for AI work at once and answers with an identifier. "
    "The client keeps the identifier and asks for the state of the job whenever it likes. "
    "Dr. Mori measured that accepting a job takes 3.5 milliseconds on average. "
    "Workers take jobs from the queue under a lease that lasts sixty seconds. "
    "When a lease ends before its work does, another worker takes the job over. "
    "A late result is refused because the token of its lease no longer matches. "
    "Lunch is served in the canteen at noon. "
    "Every job that fails for good becomes a dead letter, which a person looks at."
)

# Takes an engine next to no time.
SHORT: Final = "The reception accepts work at once."

JAPANESE: Final = (
    "受付は、AIへの仕事を受け取るとすぐに番号を返す仕組みである。"
    "利用者はその番号を使って、いつでも仕事の状態を確かめることができる。"
    "担当者は「期限は六十秒です。」と書かれた権利を持って仕事を始める。"
    "期限が切れた仕事は、別の担当者が引き継ぐことになっている。"
    "遅れて届いた結果は、権利の印が一致しないため受け付けられない。"
    "食堂の昼食は正午に始まる。"
    "最後まで失敗した仕事は不達の記録となり、人が確かめて再び投入する。"
)


def summary_request(
    text: str, *, instruction: str = "Summarize the text in at most 40 words.", **members: Any
) -> dict[str, Any]:
    return {
        "model": "extractive-e5",
        "messages": [
            {"role": "system", "content": instruction},
            {"role": "user", "content": text},
        ],
        **members,
    }
