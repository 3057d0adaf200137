"""Reading members that may be absent, null or new: what a client of a growing API must do."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, TypeAlias

JsonObject: TypeAlias = Mapping[str, Any]


def text(raw: JsonObject, name: str) -> str | None:
    value = raw.get(name)
    return value if isinstance(value, str) else None


def whole(raw: JsonObject, name: str) -> int | None:
    value = raw.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def nested(raw: JsonObject, name: str) -> JsonObject | None:
    value = raw.get(name)
    return value if isinstance(value, dict) else None


def objects(raw: JsonObject, name: str) -> list[JsonObject]:
    """Return the objects of a list; what else is in it is of a later server."""
    value = raw.get(name)
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def pairs(raw: JsonObject, name: str) -> dict[str, str]:
    return {k: v for k, v in (nested(raw, name) or {}).items() if isinstance(v, str)}


def counts(raw: JsonObject, name: str) -> dict[str, int]:
    within = nested(raw, name) or {}
    return {each: n for each in within if (n := whole(within, each)) is not None}


def moment(raw: JsonObject, name: str) -> datetime | None:
    """Return an RFC 3339 time, aware, or None if there is none that can be read."""
    value = text(raw, name)
    if value is None:
        return None
    try:
        parsed = datetime.fromisoformat(value)
    except ValueError:
        return None
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)
