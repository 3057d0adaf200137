"""Answers of the API, changed on their way to the page: what no test could bring about in time."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from playwright.sync_api import Route

from tests.console.visitor import Visitor

Document = dict[str, Any]


def told(visitor: Visitor, path: str, *, key: str = "operator_key") -> Document:
    """What the API answers now."""
    with visitor.stack.api(key) as api:
        document: Document = api.get(path).raise_for_status().json()
    return document


def answer(visitor: Visitor, path: str, document: Document) -> None:
    """Let the page be answered ``document`` at ``path`` from here on."""
    _replace(visitor, path, lambda route: route.fulfill(json=document))


def answer_alerts(visitor: Visitor, items: list[Document], *, at: str | None = None) -> None:
    """Let the page be told of these alerts from here on, as of now if nothing else is said."""
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")
    answer(visitor, "/v1/alerts", {"at": at or now, "items": items, "next": None})


def refuse(visitor: Visitor, path: str) -> None:
    """Let the page be answered 503 at ``path`` from here on."""
    problem = {"code": "unavailable", "detail": "The database is away."}
    _replace(visitor, path, lambda route: route.fulfill(status=503, json=problem))


def _replace(visitor: Visitor, path: str, handler: Callable[[Route], None]) -> None:
    visitor.page.unroute(f"**{path}")
    visitor.page.route(f"**{path}", handler)
