"""A tenant of the test's own on whichever stack its module uses."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.acceptance.runs import Desk
from tests.support.running import Stack


@pytest.fixture
def desk(stack: Stack) -> Iterator[Desk]:
    with Desk.open(stack) as opened:
        yield opened
