"""What the simulator's tests share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.simulation.world import SharedDatabase
from tests.unit.services.world import World


@pytest.fixture(scope="session")
def shared() -> Iterator[SharedDatabase]:
    """The one database, which each history empties."""
    shared = SharedDatabase()
    yield shared
    shared.close()


@pytest.fixture
def world() -> Iterator[World]:
    """A small deployment for a single case."""
    world = World()
    yield world
    world.close()
