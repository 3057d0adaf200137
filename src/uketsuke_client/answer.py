"""From a good answer to what it holds, or ``UnexpectedAnswer``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import httpx

from uketsuke_client.decode import JsonObject
from uketsuke_client.error import UnexpectedAnswer
from uketsuke_client.job import Accepted, Job, job_members

_Read = TypeVar("_Read")


def object_in(response: httpx.Response) -> dict[str, Any]:
    try:
        raw = response.json()
    except ValueError:
        raw = None
    if not isinstance(raw, dict):
        raise UnexpectedAnswer(
            f"{response.url} answered {response.status_code}, but not with a JSON object; "
            "is this the URL of a Uketsuke server?"
        )
    return raw


def read_as(reader: Callable[[JsonObject], _Read], response: httpx.Response) -> _Read:
    try:
        return reader(object_in(response))
    except ValueError as error:
        raise UnexpectedAnswer(f"{response.url}: {error}") from None


def job_in(response: httpx.Response) -> Job:
    return read_as(Job.from_json, response)


def accepted_in(response: httpx.Response, *, key: str) -> Accepted:
    def accepted(raw: JsonObject) -> Accepted:
        return Accepted(
            **job_members(raw),
            idempotency_key=key,
            replayed=response.headers.get("idempotency-replayed") == "true",
            location=response.headers.get("location"),
            request_id=response.headers.get("x-request-id"),
        )

    return read_as(accepted, response)


def items_in(page: JsonObject, *, path: str, reader: Callable[[JsonObject], _Read]) -> list[_Read]:
    items = page.get("items")
    if not isinstance(items, list):
        raise UnexpectedAnswer(f"{path} answered without items")
    try:
        return [reader(item) for item in items if isinstance(item, dict)]
    except ValueError as error:
        raise UnexpectedAnswer(f"{path}: {error}") from None


def next_in(page: JsonObject, *, path: str) -> str | None:
    """Return the path of the next page. Another server would be sent the key."""
    following = page.get("next")
    if following is None:
        return None
    if not isinstance(following, str) or not following.startswith("/v1/") or following == path:
        raise UnexpectedAnswer(f"{path} leads on to what is no page of it")
    return following
