"""What the simulator's tests share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from tests.simulation.history import play
from tests.simulation.world import SharedDatabase
from tests.unit.services.world import World


@pytest.fixture(scope="session")
def shared() -> Iterator[SharedDatabase]:
    """The one database, which each history empties."""
    shared = SharedDatabase()
    yield shared
    shared.close()


@dataclass
class Played:
    """Histories by their seed, each played once: what was seen in it, and its story if it broke."""

    shared: SharedDatabase
    _known: dict[int, tuple[Counter[str], str]] = field(default_factory=dict)

    def seen(self, seed: int) -> Counter[str]:
        return self._get(seed)[0]

    def story(self, seed: int) -> str:
        """Return what went wrong; empty if nothing did."""
        return self._get(seed)[1]

    def _get(self, seed: int) -> tuple[Counter[str], str]:
        if seed not in self._known:
            history = play(seed, shared=self.shared)
            self._known[seed] = (history.seen, history.report() if history.broken else "")
        return self._known[seed]


@pytest.fixture(scope="session")
def played(shared: SharedDatabase) -> Played:
    return Played(shared)


@pytest.fixture
def world() -> Iterator[World]:
    """A small deployment for a single case."""
    world = World()
    yield world
    world.close()
