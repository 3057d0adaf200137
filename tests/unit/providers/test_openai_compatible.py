"""Answers of OpenAI-compatible servers, read and classified."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.unit.services.world import MemoryBlobs
from uketsuke.domain.failure import AttemptFailed, ErrorClass
from uketsuke.domain.vectors import pack
from uketsuke.providers.openai_compatible import OpenAICompatible
from uketsuke.providers.port import CallContext
from uketsuke.services.ports import HttpAnswer, StreamedBody, TooLarge, Unavailable

pytestmark = pytest.mark.anyio

NOW = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)
CONTEXT = CallContext(
    idempotency_key="job_1.piece-1.0", timeout=timedelta(seconds=9), traceparent="00-trace"
)

AUDIO = b"RIFF....WAVE"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class StillClock:
    def now(self) -> datetime:
        return NOW

    def monotonic(self) -> float:
        return 0.0


@dataclass
class ScriptedHttp:
    """``services.ports.HttpClient`` that answers, or fails, as the test says."""

    answer: HttpAnswer | Exception
    calls: list[tuple[str, Mapping[str, str], Any, timedelta]] = field(default_factory=list)

    async def post(
        self, url: str, *, headers: Mapping[str, str], body: bytes, timeout: timedelta
    ) -> HttpAnswer:
        self.calls.append((url, headers, json.loads(body), timeout))
        return self._answered()

    async def post_stream(
        self, url: str, *, headers: Mapping[str, str], body: StreamedBody, timeout: timedelta
    ) -> HttpAnswer:
        self.calls.append((url, headers, body, timeout))
        return self._answered()

    def _answered(self) -> HttpAnswer:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def answering(
    document: object, *, status: int = 200, headers: Mapping[str, str] | None = None
) -> ScriptedHttp:
    body = document if isinstance(document, bytes) else json.dumps(document).encode()
    return ScriptedHttp(HttpAnswer(status=status, headers=headers or {}, body=body))


def provider(http: ScriptedHttp) -> OpenAICompatible:
    blobs = MemoryBlobs({"uploads/a": AUDIO})
    return OpenAICompatible(
        http=http, blobs=blobs, clock=StillClock(), base_url="http://ai/v1", api_key="k"
    )


async def chat(http: ScriptedHttp) -> Any:
    return await provider(http).chat(
        model="m", system="be brief", user="text", max_output_tokens=50, context=CONTEXT
    )


async def failure_of(http: ScriptedHttp) -> AttemptFailed:
    with pytest.raises(AttemptFailed) as failed:
        await chat(http)
    return failed.value


def completion(**changes: Any) -> dict[str, Any]:
    choice = {"finish_reason": "stop", "message": {"content": " A summary. "}, **changes}
    usage = {"prompt_tokens": 12, "completion_tokens": 3}
    return {"id": "c-1", "model": "m-2026", "choices": [choice], "usage": usage}


async def test_a_chat_call_carries_what_the_provider_needs_and_its_answer_is_read() -> None:
    http = answering(completion(), headers={"x-request-id": "r-9"})

    answer = await chat(http)

    ((url, headers, body, timeout),) = http.calls
    assert url == "http://ai/v1/chat/completions"
    assert headers["authorization"] == "Bearer k"
    assert headers["idempotency-key"] == headers["x-client-request-id"] == "job_1.piece-1.0"
    assert headers["traceparent"] == "00-trace"
    assert (body["model"], body["max_tokens"], body["stream"]) == ("m", 50, False)
    assert timeout == timedelta(seconds=9)
    assert (answer.value, answer.model, answer.request_id) == ("A summary.", "m-2026", "r-9")
    assert (answer.input_tokens, answer.output_tokens) == (12, 3)


async def test_who_pays_is_told_where_it_is_set_and_not_otherwise() -> None:
    http, plain = answering(completion()), answering(completion())

    await replace(provider(http), organization="org-1", project="proj-1").chat(
        model="m", system="s", user="u", max_output_tokens=50, context=CONTEXT
    )
    await chat(plain)

    ((_, headers, _, _),), ((_, without, _, _),) = http.calls, plain.calls
    assert headers["openai-organization"] == "org-1"
    assert headers["openai-project"] == "proj-1"
    assert without.keys() & {"openai-organization", "openai-project"} == set()


async def test_figures_that_the_provider_did_not_tell_are_unknown() -> None:
    document = {**completion(), "usage": {"prompt_tokens": True}, "model": ""}

    answer = await chat(answering(document))

    assert (answer.model, answer.input_tokens, answer.output_tokens) == (None, None, None)
    assert answer.request_id == "c-1"


@pytest.mark.parametrize("tokens", [10**9 + 1, 2**63, 10**30, -1, 1.5])
@pytest.mark.parametrize("name", ["\ud800", "m" * 300, "a\0b", 7])
async def test_figures_and_names_that_no_row_could_hold_count_as_not_told(
    tokens: object, name: object
) -> None:
    document = {**completion(), "usage": {"prompt_tokens": tokens}, "model": name, "id": name}

    answer = await chat(answering(document))

    assert (answer.input_tokens, answer.model, answer.request_id) == (None, None, None)


@pytest.mark.parametrize(
    ("status", "code", "error_class"),
    [
        (400, None, ErrorClass.INVALID_INPUT),
        (400, "context_length_exceeded", ErrorClass.TOO_LARGE),
        (400, "content_filter", ErrorClass.REFUSED),
        (401, None, ErrorClass.DENIED),
        (403, None, ErrorClass.DENIED),
        (404, "model_not_found", ErrorClass.NOT_FOUND),
        (404, None, ErrorClass.NOT_FOUND),
        (408, None, ErrorClass.TIMEOUT),
        (409, None, ErrorClass.UNAVAILABLE),
        (413, None, ErrorClass.TOO_LARGE),
        (418, None, ErrorClass.INVALID_INPUT),
        (422, None, ErrorClass.INVALID_INPUT),
        (429, None, ErrorClass.THROTTLED),
        (429, "insufficient_quota", ErrorClass.QUOTA),
        (500, None, ErrorClass.UNAVAILABLE),
        (502, None, ErrorClass.UNAVAILABLE),
        (503, None, ErrorClass.UNAVAILABLE),
        (504, None, ErrorClass.TIMEOUT),
        (529, None, ErrorClass.THROTTLED),
        (302, None, ErrorClass.UNAVAILABLE),
    ],
)
async def test_a_refusal_is_classified_by_its_code_and_status(
    status: int, code: str | None, error_class: ErrorClass
) -> None:
    failed = await failure_of(answering({"error": {"code": code}}, status=status))

    assert failed.failure.error_class is error_class


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b'{"error": "text"}', b"\xff"])
async def test_a_refusal_without_a_readable_body_is_classified_by_its_status(body: bytes) -> None:
    assert (await failure_of(answering(body, status=429))).failure.error_class is (
        ErrorClass.THROTTLED
    )


async def test_retry_after_comes_along() -> None:
    http = answering({}, status=429, headers={"retry-after": "17"})

    assert (await failure_of(http)).failure.retry_after == timedelta(seconds=17)


@pytest.mark.parametrize(
    "document",
    [
        b"",
        b"not json",
        b'{"choices": [{"message": {"con',
        b"[" * 100_000,
        [],
        {},
        {"choices": []},
        {"choices": [None]},
        {"choices": "x"},
        completion(message={"content": None}),
        completion(message={"content": "  "}),
        completion(finish_reason="length"),
        b'{"choices": [{"message": {"content": "half a \\ud800 character"}}]}',
    ],
)
async def test_an_answer_that_cannot_be_used_may_be_better_next_time(document: object) -> None:
    failed = await failure_of(answering(document))

    assert failed.failure.error_class is ErrorClass.UNAVAILABLE
    assert failed.failure.code == "provider_answer_unusable"


async def test_a_nul_is_left_out_of_a_text() -> None:
    answer = await chat(answering(completion(message={"content": "a\0b"})))

    assert answer.value == "ab"


@pytest.mark.parametrize(
    "changes",
    [{"finish_reason": "content_filter"}, {"message": {"content": None, "refusal": "No."}}],
)
async def test_a_refusal_by_policy_is_final(changes: dict[str, Any]) -> None:
    failed = await failure_of(answering(completion(**changes)))

    assert failed.failure.error_class is ErrorClass.REFUSED


async def test_a_timeout_a_lost_connection_and_too_large_an_answer_are_told_apart() -> None:
    slow = await failure_of(ScriptedHttp(TimeoutError()))
    gone = await failure_of(ScriptedHttp(Unavailable()))
    large = await failure_of(ScriptedHttp(TooLarge()))

    assert slow.failure.error_class is ErrorClass.TIMEOUT
    assert large.failure.code == "provider_answer_unusable"
    assert gone.failure.error_class is ErrorClass.UNAVAILABLE
    # Told apart from a provider's own 503: the next try must carry the same key.
    assert gone.failure.code == "provider_connection_lost"


async def embed(document: object, texts: list[str]) -> Any:
    http = answering(document)
    answer = await provider(http).embed(model="e", texts=texts, context=CONTEXT)
    return answer.value


async def test_vectors_come_back_in_the_order_of_the_texts() -> None:
    data = [{"index": 1, "embedding": [2, 2.5]}, {"index": 0, "embedding": [1, 1.5]}]

    assert await embed({"data": data}, ["a", "b"]) == pack([[1.0, 1.5], [2.0, 2.5]])


@pytest.mark.parametrize(
    "data",
    [
        [],
        [{"index": 0, "embedding": [1]}],
        [{"index": 0, "embedding": [1]}, {"index": 0, "embedding": [1]}],
        [{"index": 0, "embedding": [1]}, {"index": 1, "embedding": [1, 2]}],
        [{"index": 0, "embedding": []}, {"index": 1, "embedding": []}],
        [{"index": 0, "embedding": [float("nan")]}, {"index": 1, "embedding": [1]}],
        [{"index": 0, "embedding": ["x"]}, {"index": 1, "embedding": [1]}],
        [{"index": 0, "embedding": "x"}, {"index": 1, "embedding": [1]}],
        [{"index": 0, "embedding": 1}, {"index": 1, "embedding": [1]}],
        [{"index": 0, "embedding": [1e39]}, {"index": 1, "embedding": [1]}],
        [{"index": n, "embedding": [0] * 16_385} for n in range(2)],
        [{"embedding": [1]}, {"embedding": [1]}],
        None,
    ],
)
async def test_vectors_that_do_not_fit_the_texts_are_refused(data: object) -> None:
    with pytest.raises(AttemptFailed) as failed:
        await embed({"data": data}, ["a", "b"])

    assert failed.value.failure.code == "provider_answer_unusable"
