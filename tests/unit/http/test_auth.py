"""Authentication: who is let in, that all others look alike, and what the isolate remembers."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from tests.unit.http.factories import TENANT
from tests.unit.http.fakes import BytesBody
from tests.unit.http.world import World
from uketsuke.domain.api_key import Caller
from uketsuke.http.auth import KeyCache, authenticate
from uketsuke.http.message import Request
from uketsuke.http.problem import Refused
from uketsuke.services.ports import Unavailable


def let_in(world: World, authorization: str | None, known: KeyCache | None = None) -> Caller:
    headers = {} if authorization is None else {"authorization": authorization}
    request = Request(method="GET", path="/", headers=headers, body=BytesBody(b""))
    known = known or KeyCache()
    return asyncio.run(authenticate(request, known=known, ports=world.ports))


def refusal(world: World, authorization: str | None) -> Refused:
    with pytest.raises(Refused) as refused:
        let_in(world, authorization)
    return refused.value


@pytest.mark.parametrize("scheme", ["Bearer ", "bearer ", "BEARER  "])
def test_a_genuine_key_is_let_in_however_the_scheme_is_written(
    world: World, tenant_key: str, scheme: str
) -> None:
    caller = let_in(world, scheme + tenant_key)

    assert caller.tenant_id == TENANT
    assert caller.scopes == {"jobs:read", "jobs:write"}


def test_all_others_get_one_and_the_same_answer(world: World, tenant_key: str) -> None:
    revoked = world.add_key(9, tenant_id=TENANT, scopes="jobs:read", revoked=True)
    wrong_secret = tenant_key[:-1] + "x"
    unknown_id = tenant_key.replace("uk_0", "uk_9")
    refused = [
        refusal(world, sent)
        for sent in (
            None,
            "",
            "Bearer",
            "Bearer ",
            f"Basic {tenant_key}",
            tenant_key,
            f"Bearer {tenant_key} {tenant_key}",
            f"Bearer {tenant_key}, Bearer {tenant_key}",
            f"Bearer x{tenant_key}",
            "Bearer uk_short_key",
            f"Bearer {wrong_secret}",
            f"Bearer {unknown_id}",
            f"Bearer {revoked}",
        )
    ]

    assert {one.problem.code for one in refused} == {"unauthenticated"}
    assert {one.problem.headers for one in refused} == {(("www-authenticate", "Bearer"),)}
    assert len({one.problem.detail for one in refused}) == 1


def test_a_key_that_cannot_be_one_costs_no_look_at_the_store(world: World) -> None:
    refusal(world, "Bearer nonsense")

    assert world.keys.asked == []


def test_a_row_that_mixes_scopes_gives_only_those_that_fit_its_owner(world: World) -> None:
    mixed = "jobs:read jobs:write operate admin other"
    tenants = let_in(world, f"Bearer {world.add_key(5, tenant_id=TENANT, scopes=mixed)}")
    nobodys = let_in(world, f"Bearer {world.add_key(6, tenant_id=None, scopes=mixed)}")

    assert tenants.scopes == {"jobs:read", "jobs:write"}
    assert nobodys.scopes == {"operate", "admin"}


def test_a_key_is_looked_up_once_within_its_time(world: World, tenant_key: str) -> None:
    known = KeyCache()
    for seconds in (0, 10, 29.9):
        world.clock.seconds = seconds
        let_in(world, f"Bearer {tenant_key}", known)

    assert len(world.keys.asked) == 1


def test_a_revoked_key_is_refused_when_its_time_is_over(world: World, tenant_key: str) -> None:
    known = KeyCache()
    let_in(world, f"Bearer {tenant_key}", known)
    (key_id,) = world.keys.keys
    world.keys.keys[key_id] = replace(world.keys.keys[key_id], revoked=True)
    world.clock.seconds = world.settings.key_cache.total_seconds()

    with pytest.raises(Refused):
        let_in(world, f"Bearer {tenant_key}", known)


def test_a_new_key_works_within_seconds_of_being_tried_too_early(
    world: World, tenant_key: str
) -> None:
    known = KeyCache()
    (stored,) = world.keys.keys.values()
    world.keys.keys.clear()
    for _ in range(2):
        with pytest.raises(Refused):
            let_in(world, f"Bearer {tenant_key}", known)
    assert len(world.keys.asked) == 1

    world.keys.keys[stored.key_id] = stored
    world.clock.seconds = 5

    assert let_in(world, f"Bearer {tenant_key}", known).tenant_id == TENANT


def test_a_flood_of_guesses_evicts_no_real_key(world: World, tenant_key: str) -> None:
    known = KeyCache(capacity=3)
    let_in(world, f"Bearer {tenant_key}", known)
    for guess in range(10):
        with pytest.raises(Refused):
            let_in(world, f"Bearer uk_{guess:012x}_{'s' * 32}", known)
    asked = len(world.keys.asked)

    let_in(world, f"Bearer {tenant_key}", known)

    assert len(world.keys.asked) == asked


def test_the_oldest_makes_room_when_the_cache_is_full(world: World) -> None:
    known = KeyCache(capacity=2)
    keys = [world.add_key(number, tenant_id=TENANT, scopes="jobs:read") for number in range(3)]
    for key in keys:
        let_in(world, f"Bearer {key}", known)
    for key in keys[1:]:
        let_in(world, f"Bearer {key}", known)
    assert len(world.keys.asked) == 3

    let_in(world, f"Bearer {keys[0]}", known)

    assert len(world.keys.asked) == 4


def test_a_store_that_does_not_answer_lets_nobody_in_and_is_not_remembered(
    world: World, tenant_key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = KeyCache()

    async def away(_key_id: str) -> None:
        raise Unavailable

    with monkeypatch.context() as patched:
        patched.setattr(world.keys, "find", away)
        with pytest.raises(Unavailable):
            let_in(world, f"Bearer {tenant_key}", known)

    assert let_in(world, f"Bearer {tenant_key}", known).tenant_id == TENANT
