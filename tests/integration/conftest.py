"""What the tests of the consumer's verdicts start from."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.integration.verdicts import Desk
from tests.support.running import Stack


@pytest.fixture
def desk(stack: Stack) -> Iterator[Desk]:
    desk = Desk(stack)
    yield desk
    desk.close()
