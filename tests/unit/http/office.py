"""An operator's office: the whole HTTP layer over the real store, in virtual time."""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tests.unit.http.fakes import BytesBody, FakeKeys
from tests.unit.http.world import PEPPER, Answer
from tests.unit.services.letters import REFUSED, buried
from tests.unit.services.world import World
from uketsuke.domain.api_key import StoredKey, hash_secret
from uketsuke.domain.dead_letter import DeadLetter
from uketsuke.domain.job import Job
from uketsuke.http.app import App, respond
from uketsuke.http.message import Request, read_query
from uketsuke.kinds.kind import Kind
from uketsuke.kinds.registry import KINDS

# What operators never see.
SECRET = "the secret of the tenant"
Main = Callable[[], Coroutine[Any, Any, None]]


@dataclass
class Office:
    """One deployment; ``acme`` is the tenant whose jobs have failed there."""

    world: World
    kinds: Mapping[str, Kind] = field(default_factory=lambda: KINDS)

    def __post_init__(self) -> None:
        keys = FakeKeys()
        self.ports = replace(self.world.ports, keys=keys)
        for name, tenant, scopes in (
            ("operator0000", None, "operate"),
            ("admin0000000", None, "admin"),
            ("acme00000000", "acme", "jobs:read jobs:write"),
            ("other0000000", "other", "jobs:read jobs:write"),
        ):
            keys.keys[name] = StoredKey(
                key_id=name,
                tenant_id=tenant,
                scopes=frozenset(scopes.split()),
                secret_hash=hash_secret("0" * 32, pepper=PEPPER),
                revoked=False,
            )

    async def send(
        self,
        method: str,
        target: str,
        document: object = None,
        *,
        who: str = "operator",
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        key = f"uk_{who.ljust(12, '0')}_{'0' * 32}"
        sent = {"authorization": f"Bearer {key}", "content-type": "application/json"}
        path, _, query = target.partition("?")
        request = Request(
            method=method,
            path=path,
            query=read_query(query),
            headers={**sent, **(headers or {})},
            body=BytesBody(b"" if document is None else json.dumps(document).encode()),
        )
        response = await respond(request, app=App(kinds=self.kinds), ports=self.ports)
        assert isinstance(response.body, bytes)
        return Answer(
            status=response.status,
            headers=dict(response.headers),
            body=response.body,
            raw=response,
        )

    async def redrive(self, letter: Any, **document: Any) -> Answer:
        path = f"/v1/dead-letters/{letter.id}/redrive"
        return await self.send("POST", path, {"reason": "because", **document})

    async def discard(self, letter: Any, **document: Any) -> Answer:
        path = f"/v1/dead-letters/{letter.id}/discard"
        return await self.send("POST", path, {"reason": "because", **document})


def run(office: Office, main: Main) -> None:
    office.world.run(main())


async def secret(office: Office, **changes: Any) -> DeadLetter:
    given = {"content": SECRET, "metadata": {"order": SECRET}, "error": REFUSED, **changes}
    return await buried(office.world, **given)


async def job(office: Office, job_id: str) -> Job:
    found = await office.world.ports.jobs.find(job_id, tenant_id="acme")
    assert found
    return found


async def letter_now(office: Office, letter: DeadLetter) -> DeadLetter:
    found = await office.world.ports.dead_letters.find(letter.id)
    assert found
    return found
