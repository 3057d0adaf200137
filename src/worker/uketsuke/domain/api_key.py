"""API keys: their form, what they allow, and how they are kept."""

from __future__ import annotations

import hashlib
import hmac
import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

_FORM: Final = re.compile(r"uk_([a-z0-9]{12})_([A-Za-z0-9]{32,64})")


class Scope(StrEnum):
    """What a key may do. The first two belong to a tenant, the others to none."""

    READ = "jobs:read"
    WRITE = "jobs:write"
    OPERATE = "operate"
    ADMIN = "admin"


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who asks: a tenant's key, or an operator's (``tenant_id`` None)."""

    key_id: str
    tenant_id: str | None
    scopes: frozenset[str]


def parse_key(text: str) -> tuple[str, str] | None:
    """Split ``uk_<key id>_<secret>``; None when it has another form."""
    found = _FORM.fullmatch(text)
    return (found[1], found[2]) if found else None


def hash_secret(secret: str, *, pepper: bytes) -> str:
    """Return what is kept of a key's secret: hex HMAC-SHA256 under the deployment's pepper.

    A key's secret is 190 random bits, so a slow password hash would buy nothing.
    """
    return hmac.new(pepper, secret.encode(), hashlib.sha256).hexdigest()


def same_hash(kept: str, secret: str, *, pepper: bytes) -> bool:
    """Compare in constant time."""
    return hmac.compare_digest(kept, hash_secret(secret, pepper=pepper))


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredKey:
    """A key as its row says. Its secret cannot be had back from the hash."""

    key_id: str
    tenant_id: str | None
    scopes: frozenset[str]
    secret_hash: str
    revoked: bool
