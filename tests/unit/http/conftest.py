"""A deployment of fakes with a key for each sort of caller."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.unit.http.factories import KINDS, OTHER_TENANT, TENANT
from tests.unit.http.office import Office
from tests.unit.http.world import PEPPER, World
from tests.unit.services.world import World as RealWorld


@pytest.fixture
def world() -> World:
    return World(kinds=KINDS)


@pytest.fixture
def tenant_key(world: World) -> str:
    return world.add_key(1, tenant_id=TENANT, scopes="jobs:read jobs:write")


@pytest.fixture
def other_tenant_key(world: World) -> str:
    return world.add_key(2, tenant_id=OTHER_TENANT, scopes="jobs:read jobs:write")


@pytest.fixture
def operator_key(world: World) -> str:
    return world.add_key(3, tenant_id=None, scopes="operate")


@pytest.fixture
def admin_key(world: World) -> str:
    return world.add_key(4, tenant_id=None, scopes="admin")


@pytest.fixture
def office() -> Iterator[Office]:
    """A deployment over the real store, for what fakes cannot play."""
    world = RealWorld(key_hash_secret=PEPPER)
    yield Office(world)
    world.close()
