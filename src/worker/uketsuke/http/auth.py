"""Who asks: from the ``Authorization`` header to a caller.

A wrong secret, an unknown key and a revoked one get the same answer after the same work.
"""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Final, NamedTuple

from uketsuke.domain.api_key import Caller, Scope, StoredKey, parse_key, same_hash
from uketsuke.http.message import Request
from uketsuke.http.problem import Refused, refuse
from uketsuke.services.ports import Ports

_BEARER: Final = re.compile(r"bearer +(\S+)", re.IGNORECASE)
# A new key must not stay unknown for long because somebody tried it too early.
_LONGEST_UNKNOWN: Final = timedelta(seconds=5)
# Compared with when there is no such key: as long as a real hash, and no secret's.
_NO_HASH: Final = "0" * 64

# A row that mixes the two kinds of scopes gets only those that fit its owner.
_OF_A_TENANT: Final = frozenset({Scope.READ, Scope.WRITE})
_OF_NOBODY: Final = frozenset({Scope.OPERATE, Scope.ADMIN})

# The caller of open routes. Its tenant is empty and not None, which would be an operator's.
NOBODY: Final = Caller(key_id="", tenant_id="", scopes=frozenset())


class _Remembered(NamedTuple):
    until: float
    key: StoredKey | None


class KeyCache:
    """What an isolate remembers of keys, found and not, for a short while.

    It may outlive requests: it holds values only, nothing that one request could wait for on
    another's behalf (the platform forbids that). Unknown ids have their own room, so that a
    flood of guesses evicts no real key.
    """

    def __init__(self, *, capacity: int = 1000) -> None:
        self._capacity = capacity
        self._found: dict[str, _Remembered] = {}
        self._unknown: dict[str, _Remembered] = {}

    async def find(self, key_id: str, *, ports: Ports) -> StoredKey | None:
        """Return the key, as it was at most ``settings.key_cache`` ago."""
        now = ports.clock.monotonic()
        for room in (self._found, self._unknown):
            remembered = room.get(key_id)
            if remembered and remembered.until > now:
                return remembered.key
        key = await ports.keys.find(key_id)
        self._remember(key_id, key, now=now, keep=ports.settings.key_cache)
        return key

    def _remember(self, key_id: str, key: StoredKey | None, *, now: float, keep: timedelta) -> None:
        self._found.pop(key_id, None)
        self._unknown.pop(key_id, None)
        room = self._unknown if key is None else self._found
        if len(room) >= self._capacity:
            del room[next(iter(room))]  # the oldest: a dict keeps the order of insertion
        keep = min(keep, _LONGEST_UNKNOWN) if key is None else keep
        room[key_id] = _Remembered(until=now + keep.total_seconds(), key=key)


async def authenticate(request: Request, *, known: KeyCache, ports: Ports) -> Caller:
    """Return who asks. Raises ``Refused`` with 401 for anybody that we do not know."""
    sent = _BEARER.fullmatch(request.headers.get("authorization", "").strip())
    parsed = parse_key(sent[1]) if sent else None
    if parsed is None:
        raise _unauthenticated()
    key_id, secret = parsed
    stored = await known.find(key_id, ports=ports)
    kept = stored.secret_hash if stored else _NO_HASH
    genuine = same_hash(kept, secret, pepper=ports.settings.key_hash_secret)
    if not genuine or stored is None or stored.revoked:
        raise _unauthenticated()
    return _caller(stored)


def _caller(stored: StoredKey) -> Caller:
    possible = _OF_NOBODY if stored.tenant_id is None else _OF_A_TENANT
    return Caller(key_id=stored.key_id, tenant_id=stored.tenant_id, scopes=stored.scopes & possible)


def _unauthenticated() -> Refused:
    return refuse("unauthenticated", headers=(("www-authenticate", "Bearer"),))
