"""From an answer that is a refusal to what it says."""

from __future__ import annotations

from collections.abc import Iterable

import httpx

from uketsuke_client import decode
from uketsuke_client.decode import JsonObject
from uketsuke_client.error import Fault, Problem

NOT_OURS = "unexpected_answer"
"""The code of a refusal that is no problem document: a proxy's, or another server's."""


def problem_in(response: httpx.Response, *, wait: float | None) -> Problem:
    """Return what a refusal says; total, because proxies refuse in HTML."""
    raw = _document(response)
    title = decode.text(raw, "title") or response.reason_phrase or "refused"
    return Problem(
        status=response.status_code,
        code=decode.text(raw, "code") or NOT_OURS,
        title=title,
        detail=decode.text(raw, "detail") or title,
        errors=tuple(_faults(raw.get("errors"))),
        request_id=response.headers.get("x-request-id"),
        retry_after=wait,
        job_id=decode.text(raw, "id"),
        raw=raw,
    )


def _document(response: httpx.Response) -> JsonObject:
    if "json" not in response.headers.get("content-type", ""):
        return {}
    try:
        raw = response.json()
    except ValueError:
        return {}
    return raw if isinstance(raw, dict) else {}


def _faults(raw: object) -> Iterable[Fault]:
    for entry in raw if isinstance(raw, list) else []:
        if isinstance(entry, dict):
            yield Fault(
                pointer=decode.text(entry, "pointer") or "",
                code=decode.text(entry, "code") or "",
                detail=decode.text(entry, "detail") or "",
            )
