"""A world a test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.unit.services.world import World


@pytest.fixture
def world() -> Iterator[World]:
    world = World()
    yield world
    world.close()
