"""What may be put into a request, checked before it leaves."""

from __future__ import annotations

import ipaddress
import json
import re
import uuid
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlencode

import httpx

_PRINTABLE = re.compile(r"[\x20-\x7e]{1,200}")


class Unsendable(ValueError):
    """No request can carry what was given; the message says why."""


def new_idempotency_key() -> str:
    return str(uuid.uuid4())


def new_request_id() -> str:
    """Return a name for all tries of one call, by which its trace in the audit is known."""
    return f"cl_{uuid.uuid4().hex}"


def checked_url(base_url: str) -> httpx.URL:
    try:
        url = httpx.URL(base_url.strip().rstrip("/"))
    except httpx.InvalidURL as error:
        raise Unsendable(f"{base_url!r} is not a URL: {error}") from None
    if url.scheme not in {"http", "https"} or not url.host:
        raise Unsendable(f"{base_url!r} is not a URL like https://uketsuke.example.com")
    return url


def is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def bearer(key: str) -> str:
    return f"Bearer {_printable(key, what='the key')}"


def quoted(idempotency_key: str) -> str:
    """Return a Structured Field string, so that any printable key arrives as it is."""
    key = _printable(idempotency_key, what="an idempotency key")
    return '"{}"'.format(key.replace("\\", "\\\\").replace('"', '\\"'))


def job_path(job_id: str) -> str:
    return _path_in("/v1/jobs", job_id, what="a job's id")


def schedule_path(name: str) -> str:
    return _path_in("/v1/schedules", name, what="a schedule's name")


def letter_path(letter_id: str) -> str:
    return _path_in("/v1/dead-letters", letter_id, what="a dead letter's id")


def redrive_path(run_id: str) -> str:
    return _path_in("/v1/redrives", run_id, what="a bulk redrive's id")


def _path_in(collection: str, name: str, *, what: str) -> str:
    # An empty name would be the path of the list, "." and ".." of something else yet.
    if name in {"", ".", ".."}:
        raise Unsendable(f"{name!r} is not {what}")
    return f"{collection}/{quote(name, safe='')}"


def with_query(path: str, **query: str | None) -> str:
    """Return ``path`` with those parameters that have a value."""
    given = {name: value for name, value in query.items() if value is not None}
    return f"{path}?{urlencode(given)}" if given else path


def encoded(body: Mapping[str, Any]) -> bytes:
    """Return ``body`` as JSON, which has no NaN and no infinities."""
    try:
        return json.dumps(body, ensure_ascii=False, allow_nan=False).encode()
    except UnicodeEncodeError:
        # A lone surrogate has no UTF-8. Escaped, it arrives and the server says where it is.
        return json.dumps(body, allow_nan=False).encode()
    except (TypeError, ValueError) as error:
        raise Unsendable(f"this has no JSON: {error}") from None


def _printable(value: str, *, what: str) -> str:
    """Return ``value`` if a header can carry it: a stray newline would end the header."""
    if not _PRINTABLE.fullmatch(value):
        raise Unsendable(f"{what} must be 1 to 200 printable ASCII characters")
    return value
