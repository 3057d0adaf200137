"""Telling whether two submissions under one idempotency key are the same request."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping


def fingerprint(document: Mapping[str, object], *, secret: bytes) -> dict[str, str]:
    """Return a keyed hash of each top-level member of a request, as it was sent.

    Per member, so that a mismatch can be answered with a pointer to what differs. Keyed,
    so that a stolen table does not let anyone test guesses at its contents.
    """
    return {
        member: hmac.new(secret, _canonical(member, value), hashlib.sha256).hexdigest()[:32]
        for member, value in document.items()
    }


def first_difference(before: Mapping[str, str], now: Mapping[str, str]) -> str | None:
    """Return the JSON Pointer of the first top-level member that differs, or None."""
    for member in sorted(before.keys() | now.keys()):
        if before.get(member) != now.get(member):
            return "/" + member.replace("~", "~0").replace("/", "~1")
    return None


def _canonical(member: str, value: object) -> bytes:
    # The member's name is hashed too, so that equal values of two members do not look alike.
    text = json.dumps([member, value], sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return text.encode()
