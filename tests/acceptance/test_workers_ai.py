"""Jobs whose model is one of Workers AI, through the runtime's binding to its stand-in."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.jobs import ended, submit
from tests.support.running import Stack

MODEL = "@cf/baai/bge-m3"


@pytest.fixture(scope="module")
def stack(other_stack: Stack) -> Stack:
    return other_stack


def embed(stack: Stack) -> tuple[dict[str, Any], list[tuple[str, str | None]]]:
    """Embed two texts; return the job as it ended, and each attempt's outcome and code."""
    with stack.api(stack.tenant()) as api:
        job = ended(api, submit(api, kind="embed", input={"texts": ["a cat", "a rate"]}))
    sql = "SELECT outcome, error_code FROM attempts WHERE job_id = ?1 ORDER BY number"
    return job, [(row["outcome"], row["error_code"]) for row in stack.d1(sql, job["id"])]


def test_a_job_is_done_by_a_model_of_workers_ai_after_a_failure_of_its(stack: Stack) -> None:
    stack.order(count=1, route="embeddings", status=500)

    job, attempts = embed(stack)

    assert attempts == [("failed", "provider_unavailable"), ("succeeded", None)]
    assert job["state"] == "succeeded"
    assert (job["usage"]["provider"], job["usage"]["model"]) == ("workers_ai", MODEL)


def test_an_error_of_workers_ai_ends_a_job_in_our_words(stack: Stack) -> None:
    stack.order(count=1, route="embeddings", status=413)

    job, attempts = embed(stack)

    assert attempts == [("failed", "input_too_large")]
    assert (job["state"], job["error"]["class"]) == ("failed", "too_large")
