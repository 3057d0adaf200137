"""A tenant of the test's own on whichever stack its module uses."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.runs import Desk
from tests.support.running import QUICK, Stack, running

# A lease for those who hurt it, and Workers AI for one kind, whose model has a price.
_OTHER = {
    "LEASE_SECONDS": "8",
    "RENEW_EVERY_SECONDS": "4",
    "PRICES": '{"workers_ai/@cf/baai/bge-m3": {"input_per_million": "9", "as_of": "2026-11-01"}}',
    "KIND_MODELS": '{"embed": {"embed": "workers_ai/@cf/baai/bge-m3"}}',
}


@pytest.fixture(scope="session")
def other_stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """A second stack, for modules that need other settings than all; it costs as much again."""
    with running(Path(tmp_path_factory.mktemp("other")), {**QUICK, **_OTHER}) as other:
        yield other


@pytest.fixture
def desk(stack: Stack) -> Iterator[Desk]:
    with Desk.open(stack) as opened:
        yield opened
