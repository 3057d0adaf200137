"""The keys of a local stack: minted once a state folder, stored hashed in its database."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
import string
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

TENANT_SCOPES = "jobs:read jobs:write"
OPERATOR_SCOPES = "operate"
ADMIN_SCOPES = "admin operate"

_KEY_ID = string.ascii_lowercase + string.digits
_SECRET = string.ascii_letters + string.digits

Statement = Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Keys:
    """The tenants ``demo`` and ``other`` have one each; the last two belong to no tenant."""

    tenant_key: str
    other_tenant_key: str
    operator_key: str
    admin_key: str
    hash_secret: str
    model_key: str


def load_or_mint(state: Path) -> Keys:
    """The keys of this state folder, from ``keys.json`` (readable by its owner only)."""
    state.mkdir(parents=True, exist_ok=True)
    path = state / "keys.json"
    if not path.exists():
        _write_private(path, json.dumps(asdict(_mint_all()), indent=2))
    return Keys(**json.loads(path.read_text()))


def mint_key() -> str:
    """A new key, ``uk_<key id>_<secret>``."""
    return f"uk_{_draw(_KEY_ID, 12)}_{_draw(_SECRET, 32)}"


def seed(keys: Keys) -> list[Statement]:
    """Statements that make the keys known; harmless when they already are."""
    return [
        *tenant_statements("demo", keys.tenant_key, hash_secret=keys.hash_secret),
        *tenant_statements("other", keys.other_tenant_key, hash_secret=keys.hash_secret),
        _key(keys.operator_key, None, OPERATOR_SCOPES, hash_secret=keys.hash_secret),
        _key(keys.admin_key, None, ADMIN_SCOPES, hash_secret=keys.hash_secret),
    ]


def tenant_statements(tenant: str, key: str, *, hash_secret: str) -> list[Statement]:
    """Statements that add a tenant and its one key."""
    sql = "INSERT INTO tenants (id, created_at) VALUES (?1, ?2) ON CONFLICT DO NOTHING"
    return [
        {"sql": sql, "params": [tenant, _now()]},
        _key(key, tenant, TENANT_SCOPES, hash_secret=hash_secret),
    ]


def _key(key: str, tenant: str | None, scopes: str, *, hash_secret: str) -> Statement:
    _, key_id, secret = key.split("_")
    digest = hmac.new(hash_secret.encode(), secret.encode(), hashlib.sha256).hexdigest()
    sql = (
        "INSERT INTO api_keys (id, tenant_id, scopes, secret_hash, created_at) "
        "VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO NOTHING"
    )
    return {"sql": sql, "params": [key_id, tenant, scopes, digest, _now()]}


def _mint_all() -> Keys:
    return Keys(
        tenant_key=mint_key(),
        other_tenant_key=mint_key(),
        operator_key=mint_key(),
        admin_key=mint_key(),
        hash_secret=secrets.token_hex(32),
        model_key=secrets.token_hex(16),
    )


def _write_private(path: Path, text: str) -> None:
    """Write whole or not at all, and never readable by others."""
    scratch = path.with_suffix(".new")
    with os.fdopen(os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(text)
    scratch.replace(path)


def _draw(alphabet: str, length: int) -> str:
    return "".join(secrets.choice(alphabet) for _ in range(length))


def _now() -> int:
    return int(time.time() * 1000)
