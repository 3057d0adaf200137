"""What a key is told of itself: whose it is and what it opens, for nothing but its own check."""

from __future__ import annotations

from tests.unit.http.factories import TENANT
from tests.unit.http.world import World, assert_problem


def test_a_tenants_key_is_told_its_tenant_and_its_scopes(world: World, tenant_key: str) -> None:
    answer = world.send("GET", "/v1/key", key=tenant_key)

    assert answer.status == 200
    assert answer.document == {
        "key_id": "000000000001",
        "tenant_id": TENANT,
        "scopes": ["jobs:read", "jobs:write"],
    }
    assert answer.headers["cache-control"] == "private, no-cache"
    assert answer.headers["vary"] == "Authorization"


def test_a_key_of_no_tenant_is_told_so(world: World, operator_key: str, admin_key: str) -> None:
    told = [world.send("GET", "/v1/key", key=key).document for key in (operator_key, admin_key)]

    assert [(each["tenant_id"], each["scopes"]) for each in told] == [
        (None, ["operate"]),
        (None, ["admin"]),
    ]


def test_one_scope_is_enough_and_no_other_is_told(world: World) -> None:
    key = world.add_key(5, tenant_id=TENANT, scopes="jobs:write operate")

    answer = world.send("GET", "/v1/key", key=key)

    assert answer.document["scopes"] == ["jobs:write"]


def test_nothing_is_asked_of_the_database_but_the_key(world: World, tenant_key: str) -> None:
    world.send("GET", "/v1/key", key=tenant_key)
    world.send("GET", "/v1/key", key=tenant_key)

    assert world.keys.asked == ["000000000001"]


def test_a_key_that_nobody_knows_is_told_nothing(world: World, tenant_key: str) -> None:
    answer = world.send("GET", "/v1/key", key=tenant_key[:-1] + "x")

    assert_problem(answer, 401, "unauthenticated")


def test_the_same_again_is_not_sent_again(world: World, tenant_key: str) -> None:
    first = world.send("GET", "/v1/key", key=tenant_key)

    again = world.send(
        "GET", "/v1/key", key=tenant_key, headers={"if-none-match": first.headers["etag"]}
    )

    assert (again.status, again.body) == (304, b"")
