"""A group of dead letters as the API shows it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final
from urllib.parse import urlencode

from uketsuke.domain.letter_group import LetterGroup
from uketsuke.http.answer import rfc3339

_PASSED_ON: Final = ("status", "tenant")


def show_group(group: LetterGroup, *, filters: Mapping[str, str]) -> dict[str, object]:
    """Return the group's document; ``filters`` are those that its letters are found by."""
    query = {name: filters[name] for name in _PASSED_ON if name in filters}
    letters = urlencode({**query, "fingerprint": group.fingerprint})
    return {
        "fingerprint": group.fingerprint,
        "kind": group.kind,
        "class": group.error_class,
        "code": group.code,
        "model": group.model,
        "count": group.count,
        "tenants": group.tenants,
        "first_failed_at": rfc3339(group.first_failed_at),
        "last_failed_at": rfc3339(group.last_failed_at),
        "verdict": group.verdict,
        "links": {"letters": f"/v1/dead-letters?{letters}"},
    }
