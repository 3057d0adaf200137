"""Submitting and following jobs as any HTTP client would."""

from __future__ import annotations

from typing import Any

import httpx

from tests.support.running import until

TEXT = "The reception desk takes each request once. It answers at once. Nothing is lost. " * 8


def submit(api: httpx.Client, **document: Any) -> dict[str, Any]:
    """Submit a job, by default a summary of ``TEXT``, and return it as the 202 shows it."""
    answer = api.post("/v1/jobs", json={"kind": "summarize", "input": {"text": TEXT}, **document})
    assert answer.status_code == 202, answer.text
    job: dict[str, Any] = answer.json()
    assert answer.headers["location"] == f"/v1/jobs/{job['id']}"
    assert int(answer.headers["retry-after"]) >= 1
    return job


def ended(api: httpx.Client, job: dict[str, Any], *, within: float = 60) -> dict[str, Any]:
    """Follow a job by its id to its end."""

    def look() -> dict[str, Any] | None:
        now: dict[str, Any] = api.get(f"/v1/jobs/{job['id']}").json()
        return now if now["terminal"] else None

    found = until(look, within=within)
    assert found
    return found
